import { Unavailable } from './connections/unavailable.ts'

/** How many of so many slots one tenant can take, so that the others go on. */
export const shareOf = (size: number): number => Math.max(1, Math.min(size - 1, Math.ceil(size * 0.6)))

/** So many reads keep a connection busy; more would only stand in the way of others. */
export const pipelined = 4
/** Reads are quick, so many may wait; those that go together count once. */
export const mostReads = 2_000

/** Too many wait already: the caller may come again. */
export class Busy extends Unavailable {
  constructor(message: string) {
    // PostgreSQL's own word for it, too_many_connections.
    super('53300', message)
  }
}

type Waiting = { go: () => void; refuse: (reason: Error) => void }
type Owner = { running: number; waiting: Waiting[] }

/**
 * At most `size` at once and `share` for one owner, who wait in turns: nobody's many keep out somebody else's one. Nobody
 * waits for longer than `longestWaitMilliseconds`.
 */
export class FairQueue {
  readonly #size: number
  readonly #share: number
  readonly #longestWaitMilliseconds: number
  readonly #mostWaiting: number
  readonly #owners = new Map<string, Owner>()
  #running = 0

  constructor(size: number, share: number, longestWaitMilliseconds: number, mostWaiting = 100) {
    this.#size = size
    this.#share = share
    this.#longestWaitMilliseconds = longestWaitMilliseconds
    this.#mostWaiting = mostWaiting
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const owner = this.#owners.get(name) ?? { running: 0, waiting: [] }
    this.#owners.set(name, owner)
    if (this.#running >= this.#size || owner.running >= this.#share) await this.#wait(name, owner)
    else this.#start(owner)
    try {
      return await work()
    } finally {
      this.#running--
      owner.running--
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

  #start(owner: Owner): void {
    this.#running++
    owner.running++
  }

  #wait(name: string, owner: Owner): Promise<void> {
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
    const waiting = { go, refuse }
    const tooLong = setTimeout(() => refuse(new Busy('too many calls are in flight')), this.#longestWaitMilliseconds)
    owner.waiting.push(waiting)
    return promise
  }

  #startNext(): void {
    for (const owner of this.#owners.values()) {
      if (this.#running >= this.#size) return
      if (owner.running >= this.#share) continue
      const next = owner.waiting.shift()
      if (!next) continue
      this.#start(owner)
      next.go()
    }
  }
}
