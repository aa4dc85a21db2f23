import { setTimeout as delay } from 'node:timers/promises'
import { isWithoutResponse, isWorthRepeating } from './unavailable.ts'

/** How long callers wait for a server that went away: a restart or a switch-over may pass unnoticed. */
const bridgedMilliseconds = 3_000
const shortestPauseMilliseconds = 25
const longestPauseMilliseconds = 400
/** Of a server that is there something is heard more often, while anybody asks. */
const quietMilliseconds = 2_000

type OnNoResponse = (reason: Error, isEverywhere: boolean) => void

/**
 * The time in which the server cannot be reached. Callers wait for its end only while it is young; once it lasts, they
 * are told at once, so that they do not pile up.
 */
export class Outage {
  #began: number | null = null
  #heard = performance.now()
  readonly #onNoResponse: OnNoResponse

  /** Told when nothing was heard for too long over a shared connection, and whether over no other either: all may lead nowhere. */
  constructor(onNoResponse: OnNoResponse) {
    this.#onNoResponse = onNoResponse
  }

  /** Told by shared connections, of what ended one. */
  ended(reason: Error): void {
    if (!isWithoutResponse(reason)) return
    this.#onNoResponse(reason, performance.now() - this.#heard > quietMilliseconds)
  }

  /** Opens a connection, and keeps in mind since when that fails. */
  async note<T>(opening: Promise<T>): Promise<T> {
    const begun = performance.now()
    try {
      const opened = await opening
      this.#began = null
      return opened
    } catch (error) {
      this.#began ??= begun
      throw error
    }
  }

  /** Attempts again what did not come about, while that makes sense. */
  async bridge<T>(attempt: () => Promise<T>, asked = performance.now()): Promise<T> {
    for (let pause = shortestPauseMilliseconds; ; pause = Math.min(2 * pause, longestPauseMilliseconds)) {
      const tried = performance.now()
      try {
        const done = await attempt()
        this.#began = null
        this.#heard = performance.now()
        return done
      } catch (error) {
        // It is known late: who waited meanwhile need not wait as long again.
        if (isWithoutResponse(error)) this.#began ??= Math.max(tried, this.#heard)
        const waited = performance.now() - Math.min(asked, this.#began ?? asked)
        if (!isWorthRepeating(error) || waited >= bridgedMilliseconds) throw error
      }
      // Not all at the same moment.
      await delay(pause * (0.5 + Math.random()))
    }
  }
}
