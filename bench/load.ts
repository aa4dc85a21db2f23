import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Loaded, LoadResult, Slice } from './slice.ts'
import { hasWrk, measureByWrk } from './wrk.ts'

/** What sends requests. Its processor time is what the servers on the same machine do not get, so it is watched. */
export type Load = {
  by: string
  measure: (slice: Slice) => Promise<Loaded>
  /** Compares the status and length of every response, and waits for those in flight, however slow. */
  check: (slice: Slice) => Promise<Loaded>
  stop: () => void
}

export const openLoad = (): Load => {
  const child = fork(fileURLToPath(new URL('./load-process.ts', import.meta.url)))
  const ended = once(child, 'exit').then(() => null)
  const check = async (slice: Slice): Promise<Loaded> => {
    child.send(slice)
    const answer = await Promise.race([once(child, 'message'), ended])
    if (!answer) throw new Error('the process that sends the load has ended')
    const [result] = answer as [LoadResult] // the only thing that it sends
    if ('error' in result) throw new Error(result.error)
    return result
  }
  const by = hasWrk() ? { by: 'wrk', measure: measureByWrk } : { by: 'load-process.ts', measure: check }
  return { ...by, check, stop: () => child.disconnect() }
}
