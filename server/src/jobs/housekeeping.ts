import { setTimeout as delay } from 'node:timers/promises'
import { chainWaiting } from '../audit/queries.ts'
import type { DatabaseAddress } from '../database/connections/connection.ts'
import { openDatabase } from '../database/database.ts'
import { deleteOldIdempotencyRecords } from '../database/idempotency-records.ts'
import { messageOf } from '../error-message.ts'
import { listTenants } from '../identity/tenants.ts'
import { newSearchTidier } from '../records/search.ts'
import { deleteOldExports } from '../transfer/export/export-jobs.ts'
import { deleteOldImages } from '../transfer/import/journal.ts'
import { deleteOldRuns } from '../transfer/import/runs.ts'
import { deleteOldEvents } from '../webhooks/history/queries.ts'

type HousekeepingOptions = { connection: DatabaseAddress; onError: (message: string) => void }

/** Housekeeping has its own connections, so that no request waits for it. */
const connections = { reading: 1, searching: 1, writing: 1 }
const stopTimeoutMilliseconds = 5_000

/** Starts periodic work. Any number of processes may do it at once. */
export const startHousekeeping = ({ connection, onError }: HousekeepingOptions) => {
  const database = openDatabase(connection, { connections })
  const stopping = new AbortController()
  const { signal } = stopping

  /** Reports the first of several failures in a row. */
  const every = async (milliseconds: number, failure: string, work: () => Promise<void>): Promise<void> => {
    for (let isFailing = false; !signal.aborted; ) {
      try {
        await work()
        isFailing = false
      } catch (error) {
        if (!isFailing) onError(`${failure}: ${messageOf(error)}`)
        isFailing = true
      }
      await delay(milliseconds, null, { signal }).catch(() => {})
    }
  }

  const chainAudit = async (): Promise<void> => {
    while (!signal.aborted && (await chainWaiting(database)));
  }

  const deleteExpired = async (): Promise<void> => {
    for (const { id } of await listTenants(database.query)) {
      if (signal.aborted) return
      const tenant = database.forTenant(id)
      await deleteOldIdempotencyRecords(tenant)
      await deleteOldImages(tenant)
      await deleteOldRuns(tenant)
      await deleteOldExports(tenant)
      await deleteOldEvents(tenant)
    }
  }

  const ended = Promise.all([
    every(1_000, 'the audit log could not be chained', chainAudit),
    every(1_000, 'what was written could not be put into the index of searches', newSearchTidier(database)),
    every(3_600_000, 'expired data could not be deleted', deleteExpired),
  ])
  return {
    stop: async (): Promise<void> => {
      stopping.abort()
      // A bulk delete may take long, and continues at the next start.
      await Promise.race([ended, delay(stopTimeoutMilliseconds, null, { ref: false })])
      await database.close()
    },
  }
}
