import { Unavailable } from './connections/unavailable.ts'

/** How many of so many slots one tenant can take, so that the others go on. */
export const shareOf = (size: number): number => Math.max(1, Math.min(size - 1, Math.ceil(size * 0.6)))

/** So many reads keep a connection busy; more would only stand in the way of others. */
export const pipelined = 4
/** So many searches to which an index leads go over one connection, which any other search has for itself. */
export const quickSearches = 4
/** Reads are quick, so many may wait; those that go together count once. */
export const mostReads = 2_000

/** Too many wait already: the caller may come again. */
export class Busy extends Unavailable {
  constructor(message: string) {
    // PostgreSQL's own word for it, too_many_connections.
    super('53300', message)
  }
}

type Waiting = { weight: number; go: () => void; refuse: (reason: Error) => void }
type Owner = { running: number; waiting: Waiting[] }

/**
 * At most `size` at once and `share` for one owner, who wait in turns: nobody's many keep out somebody else's one. Nobody
 * waits for longer than `longestWaitMilliseconds`. What takes long may weigh more than one.
 */
export class FairQueue {
  readonly #size: number
  readonly #share: number
  readonly #longestWaitMilliseconds: number
  readonly #mostWaiting: number
  readonly #owners = new Map<string, Owner>()
  #running = 0
  /** The next in turn needs more room than there is, and nobody is let in before. */
  #isFull = false

  constructor(size: number, share: number, longestWaitMilliseconds: number, mostWaiting = 100) {
    this.#size = size
    this.#share = share
    this.#longestWaitMilliseconds = longestWaitMilliseconds
    this.#mostWaiting = mostWaiting
  }

  async run<T>(name: string, work: () => Promise<T>, weight = 1): Promise<T> {
    const owner = this.#owners.get(name) ?? { running: 0, waiting: [] }
    this.#owners.set(name, owner)
    if (this.#isFull || this.#running + weight > this.#size || owner.running + weight > this.#share)
      await this.#wait(name, owner, weight)
    else this.#start(owner, weight)
    try {
      return await work()
    } finally {
      this.#running -= weight
      owner.running -= weight
      this.#owners.delete(name)
      // To the end of the round.
      if (owner.running > 0 || owner.waiting.length > 0) this.#owners.set(name, owner)
      this.#startNext()
    }
  }

  waiting(): number {
    return this.#owners.values().reduce((sum, { waiting }) => sum + waiting.length, 0)
  }

  /** Nobody who waits now gets a turn. */
  refuseWaiting(reason: Error): void {
    for (const { refuse } of [...this.#owners.values()].flatMap(({ waiting }) => waiting)) refuse(reason)
  }

  #start(owner: Owner, weight: number): void {
    this.#running += weight
    owner.running += weight
  }

  #wait(name: string, owner: Owner, weight: number): Promise<void> {
    if (owner.waiting.length >= this.#mostWaiting) throw new Busy('too many calls of this tenant wait already')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const refuse = (reason: Error) => {
      clearTimeout(tooLong)
      owner.waiting.splice(owner.waiting.indexOf(waiting), 1)
      if (owner.running === 0 && owner.waiting.length === 0) this.#owners.delete(name)
      reject(reason)
    }
    const go = () => {
      clearTimeout(tooLong)
      resolve()
    }
    const waiting = { weight, go, refuse }
    const tooLong = setTimeout(() => {
      refuse(new Busy('too many calls are in flight'))
      // Others may have waited for the room that it needed.
      this.#startNext()
    }, this.#longestWaitMilliseconds)
    owner.waiting.push(waiting)
    return promise
  }

  /** Round after round: what ends may have weighed as much as several that wait. */
  #startNext(): void {
    while (this.#startRound());
  }

  /** Starts one of each owner as far as there is room, and returns whether there may be more. */
  #startRound(): boolean {
    let hasStarted = false
    this.#isFull = false
    for (const owner of this.#owners.values()) {
      const [next] = owner.waiting
      if (!next || owner.running + next.weight > this.#share) continue
      if (this.#running + next.weight > this.#size) {
        this.#isFull = true
        return false
      }
      owner.waiting.shift()
      this.#start(owner, next.weight)
      next.go()
      hasStarted = true
    }
    return hasStarted
  }
}
