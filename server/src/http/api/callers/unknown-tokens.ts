import { networkOf } from '../../../caller-address.ts'
import { type Budget, type Counters, type Window, windowMilliseconds } from '../../../counters/counters.ts'
import { EndedToken, type PresentedToken } from '../../../identity/principal.ts'
import { Problem } from '../../../problem.ts'

/** Lookups in flight for one network, and who waits to learn what became of them. */
type Lane = { running: number; waiting: (() => void)[] }

/** An address that has sent too many tokens that nobody holds. */
export class TooManyUnknownTokens extends Problem {
  constructor(quota: number, millisecondsLeft: number) {
    const seconds = Math.max(1, Math.ceil(millisecondsLeft / 1_000))
    const detail = `Your address has sent ${quota} unknown access tokens within a minute; go on in ${seconds} s.`
    super('too_many_requests', detail, { headers: { 'retry-after': String(seconds) } })
  }
}

/**
 * Bounds how many tokens that nobody holds an address may have looked up in a minute. Beyond that it is refused tokens
 * that are not known yet; those that any thread or node has known within the last minute go on, so that nobody behind the
 * same address is cut off who is at work.
 */
export class UnknownTokens {
  readonly #quota: number
  readonly #counters: Counters
  readonly #lanes = new Map<string, Lane>()

  constructor(quota: number, counters: Counters) {
    this.#quota = quota
    this.#counters = counters
  }

  /**
   * What `find` finds, which fails with `invalid_token` where nobody holds the token; one that has ended is no guess.
   * `isNew` tells that this thread does not know the token.
   */
  async lookUp<T>({ cacheKey }: PresentedToken, isNew: boolean, address: string, find: () => Promise<T>): Promise<T> {
    const known: Budget = { key: `known-token ${cacheKey}`, quota: 1 }
    const unknown: Budget = { key: `unknown-token ${networkOf(address)}`, quota: this.#quota }
    const isGuess = isNew && (await this.#counters.look('callers', known)).used === 0
    const lane = isGuess ? await this.#enter(unknown) : null
    try {
      const found = await find()
      void this.#counters.take({ from: 'callers', budgets: [known] })
      return found
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_token' && !(error instanceof EndedToken))
        await this.#counters.take({ from: 'strangers', budgets: [unknown] })
      throw error
    } finally {
      if (lane) this.#leave(unknown, lane)
    }
  }

  /**
   * Of tokens that come at once no more are looked up than may turn out to be unknown; the others wait for these, so that
   * none is refused only because many are new.
   */
  async #enter(unknown: Budget): Promise<Lane> {
    const lane = this.#lanes.get(unknown.key) ?? { running: 0, waiting: [] }
    this.#lanes.set(unknown.key, lane)
    for (;;) {
      const looked = this.#counters.look('strangers', unknown)
      // Where counts are in memory nothing happens between the look and what follows.
      const { used, millisecondsLeft }: Window = looked instanceof Promise ? await looked : looked
      if (used >= unknown.quota) {
        for (const wake of lane.waiting.splice(0)) wake()
        this.#tidy(unknown, lane)
        throw new TooManyUnknownTokens(unknown.quota, Math.min(millisecondsLeft, windowMilliseconds))
      }
      if (used + lane.running < unknown.quota) {
        lane.running++
        return lane
      }
      await new Promise<void>((resolve) => lane.waiting.push(resolve))
    }
  }

  #leave(unknown: Budget, lane: Lane): void {
    lane.running--
    lane.waiting.shift()?.()
    this.#tidy(unknown, lane)
  }

  #tidy({ key }: Budget, lane: Lane): void {
    if (lane.running === 0 && lane.waiting.length === 0 && this.#lanes.get(key) === lane) this.#lanes.delete(key)
  }
}
