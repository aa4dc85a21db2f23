import { setTimeout as delay } from 'node:timers/promises'
import { chainWaiting } from '../audit/queries.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { forgetOldAnswers } from '../database/idempotency-records.ts'
import { listTenants } from '../identity/tenants.ts'
import { deleteOldImages } from '../transfer/import/journal.ts'
import { deleteOldRuns } from '../transfer/import/runs.ts'

export type HousekeepingOptions = {
  connectionString: string
  role: string | null
  onError: (message: string) => void
}

/** Connections of its own: callers of the API never wait for them. */
const connections = { reading: 1, searching: 1, writing: 1 }

const longestStopMilliseconds = 5_000
const chainEveryMilliseconds = 1_000
const forgetEveryMilliseconds = 3_600_000

/** What is done again and again and nobody asks for. Any number of processes may do it at once. */
export class Housekeeping {
  readonly #database: Database
  readonly #onError: (message: string) => void
  readonly #stopping = new AbortController()
  readonly #ended: Promise<unknown>

  private constructor({ connectionString, role, onError }: HousekeepingOptions) {
    this.#database = openDatabase(connectionString, role, { connections })
    this.#onError = onError
    this.#ended = Promise.all([
      this.#every(chainEveryMilliseconds, 'the audit log could not be chained', () => this.#chain()),
      this.#every(forgetEveryMilliseconds, 'old values could not be forgotten', () => this.#forget()),
    ])
  }

  static start(options: HousekeepingOptions): Housekeeping {
    return new Housekeeping(options)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    // What is deleted in bulk may take long, and goes on at the next start.
    await Promise.race([this.#ended, delay(longestStopMilliseconds, null, { ref: false })])
    await this.#database.close()
  }

  /** Says once that it fails, not each time. */
  async #every(milliseconds: number, failure: string, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping
    for (let isFailing = false; !signal.aborted; ) {
      try {
        await work()
        isFailing = false
      } catch (error) {
        if (!isFailing) this.#onError(`${failure}: ${error instanceof Error ? error.message : error}`)
        isFailing = true
      }
      await delay(milliseconds, null, { signal }).catch(() => {})
    }
  }

  async #chain(): Promise<void> {
    while (!this.#stopping.signal.aborted && (await chainWaiting(this.#database)));
  }

  async #forget(): Promise<void> {
    for (const { id } of await listTenants(this.#database.query)) {
      if (this.#stopping.signal.aborted) return
      const tenant = this.#database.forTenant(id)
      await forgetOldAnswers(tenant)
      await deleteOldImages(tenant)
      await deleteOldRuns(tenant)
    }
  }
}
