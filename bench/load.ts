import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** One request, and what must come back. */
export type Ask = {
  method?: 'GET' | 'POST' | 'PATCH'
  path: string
  token?: string
  headers?: Record<string, string>
  /** `########` becomes another number each time. */
  body?: object
  status?: number
}

export type Slice = { origin: string; connections: number; seconds: number; asks: Ask[] }

/** What a slice gave: answers a second, and how many milliseconds half and 99 % of them took at most. */
export type Measured = { rate: number; p50: number; p99: number }
export type Loaded = Measured & { seconds: number; count: number; busy: number }

export type LoadResult = Loaded | { error: string }

/** The process that sends requests. Its processor time is what the servers on the same machine do not get, so it is watched. */
export type Load = {
  measure: (slice: Slice) => Promise<Loaded>
  /** The largest share of a core that it used in any slice. */
  busiest: () => number
  stop: () => void
}

export const openLoad = (): Load => {
  const child = fork(fileURLToPath(new URL('./load-process.ts', import.meta.url)))
  const ended = once(child, 'exit').then(() => null)
  let busiest = 0
  return {
    measure: async (slice) => {
      child.send(slice)
      const answer = await Promise.race([once(child, 'message'), ended])
      if (!answer) throw new Error('the process that sends the load has ended')
      const [result] = answer as [LoadResult] // the only thing that it sends
      if ('error' in result) throw new Error(result.error)
      busiest = Math.max(busiest, result.busy)
      return result
    },
    busiest: () => busiest,
    stop: () => child.disconnect(),
  }
}
