import { setTimeout as delay } from 'node:timers/promises'
import { chainWaiting } from '../audit/queries.ts'
import type { DatabaseAddress } from '../database/connections/address.ts'
import { isConnectionLost } from '../database/connections/unavailable.ts'
import { openDatabase, type TenantDatabase } from '../database/database.ts'
import { deleteOldIdempotencyRecords } from '../database/idempotency-records.ts'
import { messageOf } from '../error-message.ts'
import { listTenants } from '../identity/people/tenants.ts'
import { newSearchTidier } from '../records/lists/search.ts'
import { deleteOldExports } from '../transfer/export/export-jobs.ts'
import { deleteOldImages } from '../transfer/import/journal.ts'
import { deleteOldRuns } from '../transfer/runs/runs.ts'
import { deleteOldEvents } from '../webhooks/history/queries.ts'

type HousekeepingOptions = { connection: DatabaseAddress; onError: (message: string) => void }

/** Housekeeping has its own connections, so that no request waits for it. */
const connections = { reading: 1, searching: 1, writing: 1 }
const stopTimeoutMilliseconds = 5_000

const deletions: ((tenant: TenantDatabase) => Promise<unknown>)[] = [
  deleteOldIdempotencyRecords,
  deleteOldImages,
  deleteOldRuns,
  deleteOldExports,
  deleteOldEvents,
]

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

  /** What fails for one tenant does not hold up the others. */
  const deleteExpired = async (): Promise<void> => {
    const failures: unknown[] = []
    for (const { id } of await listTenants(database.query)) {
      const tenant = database.forTenant(id)
      for (const deleteOld of deletions) {
        if (signal.aborted) return
        await deleteOld(tenant).catch((error) => {
          if (isConnectionLost(error)) throw error
          failures.push(error)
        })
      }
    }
    if (failures.length > 0) throw failures[0]
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
