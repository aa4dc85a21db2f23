import { setTimeout as delay } from 'node:timers/promises'
import { chainWaiting } from '../audit/queries.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { forgetOldAnswers } from '../database/idempotency-records.ts'
import { messageOf } from '../error-message.ts'
import { listTenants } from '../identity/tenants.ts'
import { forgetOldImages } from '../transfer/import/journal.ts'
import { forgetOldRuns } from '../transfer/import/runs.ts'

export type HousekeepingOptions = {
  connectionString: string
  role: string | null
  onError: (message: string) => void
}

/** Housekeeping has its own connections, so that no request waits for it. */
const connections = { reading: 1, searching: 1, writing: 1 }
const stopTimeoutMilliseconds = 5_000
const chainEveryMilliseconds = 1_000
const deleteEveryMilliseconds = 3_600_000

/** Periodic work. Any number of processes may do it at once. */
export class Housekeeping {
  readonly #database: Database
  readonly #onError: (message: string) => void
  readonly #stopping = new AbortController()
  readonly #ended: Promise<unknown>

  constructor({ connectionString, role, onError }: HousekeepingOptions) {
    this.#database = openDatabase(connectionString, role, { connections })
    this.#onError = onError
    this.#ended = Promise.all([
      this.#every(chainEveryMilliseconds, 'the audit log could not be chained', () => this.#chainAudit()),
      this.#every(deleteEveryMilliseconds, 'expired data could not be deleted', () => this.#deleteExpired()),
    ])
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    // A bulk delete may take long, and continues at the next start.
    await Promise.race([this.#ended, delay(stopTimeoutMilliseconds, null, { ref: false })])
    await this.#database.close()
  }

  /** Reports the first of several failures in a row. */
  async #every(milliseconds: number, failure: string, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping
    for (let isFailing = false; !signal.aborted; ) {
      try {
        await work()
        isFailing = false
      } catch (error) {
        if (!isFailing) this.#onError(`${failure}: ${messageOf(error)}`)
        isFailing = true
      }
      await delay(milliseconds, null, { signal }).catch(() => {})
    }
  }

  async #chainAudit(): Promise<void> {
    while (!this.#stopping.signal.aborted && (await chainWaiting(this.#database)));
  }

  async #deleteExpired(): Promise<void> {
    for (const { id } of await listTenants(this.#database.query)) {
      if (this.#stopping.signal.aborted) return
      const tenant = this.#database.forTenant(id)
      await forgetOldAnswers(tenant)
      await forgetOldImages(tenant)
      await forgetOldRuns(tenant)
    }
  }
}
