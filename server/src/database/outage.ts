import { setTimeout as delay } from 'node:timers/promises'
import { isSilence, isWorthRepeating } from './unavailable.ts'

/** How long callers wait for a server that went away: a restart or a switch-over may pass unnoticed. */
const bridgedMilliseconds = 3_000
const shortestPauseMilliseconds = 25
const longestPauseMilliseconds = 400

/**
 * The time in which the server cannot be reached. Callers wait for its end only while it is young; once it lasts, they
 * are told at once, so that they do not pile up.
 */
export class Outage {
  #began: number | null = null
  #heard = performance.now()
  readonly #onSilence: ((reason: Error) => void)[] = []

  /** Told when nothing was heard for too long over one of the connections: those that were open then may lead nowhere too. */
  onSilence(act: (reason: Error) => void): void {
    this.#onSilence.push(act)
  }

  /** Told by the connections, of what ended one. */
  ended(reason: Error): void {
    if (isSilence(reason)) for (const act of this.#onSilence) act(reason)
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
        if (isSilence(error)) this.#began ??= Math.max(tried, this.#heard)
        const waited = performance.now() - Math.min(asked, this.#began ?? asked)
        if (!isWorthRepeating(error) || waited >= bridgedMilliseconds) throw error
      }
      // Not all at the same moment.
      await delay(pause * (0.5 + Math.random()))
    }
  }
}
