import { isUnavailable } from './unavailable.ts'

/** Does what several callers ask for in one transaction; each has an outcome of its own. */
export type GroupWork<I, O> = (items: I[]) => Promise<PromiseSettledResult<O>[]>

/** What came of an item, or the group that its caller is to see through. */
type Turn = { outcome: PromiseSettledResult<unknown> } | { group: Waiting[] }
type Waiting = { item: unknown; go: (turn: Turn) => void }

const mostInGroup = 50
/** Beyond that everybody takes part in the queue for connections, which refuses what it cannot do. */
const mostWaiting = 100

/**
 * Writes of one tenant wait for each other anyway, on the row that gives out positions. Those that wait in this process
 * go together when the one before them has ended. A group that fails as a whole is done one by one, so that nobody fails
 * for a neighbour.
 */
export class GroupedWrites {
  readonly #lines = new Map<string, Waiting[]>()

  /** Everybody who names the same line brings the same kind of item, and work that can do all of them. */
  async run<I, O>(line: string, item: I, work: GroupWork<I, O>): Promise<O> {
    const waiting = this.#lines.get(line)
    if (waiting && waiting.length >= mostWaiting) return doAlone(item, work)
    const turn = waiting ? await queueUp(waiting, item) : { group: [] }
    if (!waiting) this.#lines.set(line, [])
    if ('outcome' in turn) return unwrap(turn.outcome as PromiseSettledResult<O>) // of this caller's own item
    try {
      const items = [item, ...turn.group.map(({ item }) => item as I)] // those of one line are of one kind
      const [own, ...others] = await doTogether(items, work)
      turn.group.forEach(({ go }, index) => {
        go({ outcome: others[index] ?? { status: 'rejected', reason: new Error('a write of a group was left out') } })
      })
      if (!own) throw new Error('the first write of a group was left out')
      return unwrap(own)
    } finally {
      this.#startNext(line)
    }
  }

  waiting(): number {
    return this.#lines.values().reduce((sum, waiting) => sum + waiting.length, 0)
  }

  #startNext(line: string): void {
    const [first, ...group] = this.#lines.get(line)?.splice(0, mostInGroup) ?? []
    if (first) first.go({ group })
    else this.#lines.delete(line)
  }
}

/** For who has a transaction of its own to do it in. */
export const doAlone = async <I, O>(item: I, work: GroupWork<I, O>): Promise<O> => unwrap(await alone(item, work))

const queueUp = (waiting: Waiting[], item: unknown): Promise<Turn> =>
  new Promise((go) => {
    waiting.push({ item, go })
  })

const doTogether = async <I, O>(items: I[], work: GroupWork<I, O>): Promise<PromiseSettledResult<O>[]> => {
  try {
    return await work(items)
  } catch (reason) {
    // What may have been done must not be done again, and of a server that is away everybody shall hear soon.
    if (items.length === 1 || isUnavailable(reason)) return items.map(() => ({ status: 'rejected', reason }))
    return Promise.all(items.map((item) => alone(item, work)))
  }
}

const alone = async <I, O>(item: I, work: GroupWork<I, O>): Promise<PromiseSettledResult<O>> => {
  try {
    const [outcome] = await work([item])
    return outcome ?? { status: 'rejected', reason: new Error('a write was left out') }
  } catch (reason) {
    return { status: 'rejected', reason }
  }
}

const unwrap = <O>(outcome: PromiseSettledResult<O>): O => {
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}
