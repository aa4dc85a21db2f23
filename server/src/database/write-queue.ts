import { AsyncResource } from 'node:async_hooks'
import { isUnavailable } from './connections/unavailable.ts'
import { Busy } from './fair-queue.ts'

/** Does what several callers ask for in one transaction; each has an outcome of its own. */
export type BatchWork<I, O> = (items: I[]) => Promise<PromiseSettledResult<O>[]>

type Waiting = {
  item: unknown
  since: number
  /** The call that waits. A batch runs within the first of its calls, where a trace shows it. */
  call: AsyncResource
  settle: (outcome: PromiseSettledResult<unknown>) => void
}
type Line = { waiting: Waiting[]; isBusy: boolean }

const mostInBatch = 50
const mostWaiting = 200

/**
 * Writes that wait for each other anyway, on the row that gives out positions, go together: those that one turn of the event loop
 * brings, and those that come while a batch is in flight. A batch that fails as a whole is done in halves, so that no write fails
 * for a neighbour.
 */
export class WriteQueue {
  readonly #longestWaitMilliseconds: number
  readonly #lines = new Map<string, Line>()

  constructor(longestWaitMilliseconds: number) {
    this.#longestWaitMilliseconds = longestWaitMilliseconds
  }

  /** Everybody who names the same line brings the same kind of item, and work that can do all of them. */
  run<I, O>(name: string, item: I, work: BatchWork<I, O>): Promise<O> {
    const line = this.#lines.get(name) ?? this.#open(name, work)
    if (line.waiting.length >= mostWaiting) throw new Busy('too many calls of this tenant wait already')
    return new Promise<O>((resolve, reject) => {
      const settle = (outcome: PromiseSettledResult<unknown>) => {
        if (outcome.status === 'rejected') reject(outcome.reason)
        else resolve(outcome.value as O) // of this caller's own item
      }
      line.waiting.push({ item, since: performance.now(), call: new AsyncResource('write'), settle })
    })
  }

  waiting(): number {
    return this.#lines.values().reduce((sum, { waiting, isBusy }) => sum + (isBusy ? waiting.length : 0), 0)
  }

  #open<I, O>(name: string, work: BatchWork<I, O>): Line {
    const line: Line = { waiting: [], isBusy: false }
    this.#lines.set(name, line)
    setImmediate(() => this.#drain(name, line, work))
    return line
  }

  async #drain<I, O>(name: string, line: Line, work: BatchWork<I, O>): Promise<void> {
    line.isBusy = true
    while (line.waiting.length > 0) {
      const batch = line.waiting.splice(0, mostInBatch).filter((one) => !this.#isLate(one))
      const items = batch.map(({ item }) => item as I) // those of one line are of one kind
      const outcomes = (await batch[0]?.call.runInAsyncScope(() => doTogether(items, work))) ?? []
      // The next batch is sent first, so that the database does not wait while this one is answered.
      setImmediate(() => {
        batch.forEach(({ settle }, index) => {
          settle(outcomes[index] ?? { status: 'rejected', reason: new Error('a write was left out') })
        })
      })
    }
    this.#lines.delete(name)
  }

  /** When the batch before it was slow, or the server is away. No timer ends a wait, because batches end by themselves. */
  #isLate({ since, settle }: Waiting): boolean {
    if (performance.now() - since < this.#longestWaitMilliseconds) return false
    settle({ status: 'rejected', reason: new Busy('too many calls are in flight') })
    return true
  }
}

/** For who has a transaction of its own to do it in. */
export const doAlone = async <I, O>(item: I, work: BatchWork<I, O>): Promise<O> => {
  const [outcome] = await doTogether([item], work)
  if (outcome?.status === 'fulfilled') return outcome.value
  throw outcome?.reason ?? new Error('a write was left out')
}

/** The outcome of each; it does not fail. */
export const doTogether = async <I, O>(items: I[], work: BatchWork<I, O>): Promise<PromiseSettledResult<O>[]> => {
  try {
    return await work(items)
  } catch (reason) {
    // What may have been done must not be done again, and of a server that is away everybody hears soon.
    if (items.length === 1 || isUnavailable(reason)) return items.map(() => ({ status: 'rejected', reason }))
    const half = Math.ceil(items.length / 2)
    const first = await doTogether(items.slice(0, half), work)
    return [...first, ...(await doTogether(items.slice(half), work))]
  }
}
