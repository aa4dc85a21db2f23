import type { TenantQuery } from '../../database/tenant-query.ts'
import { Refusal } from '../../refusal.ts'

const lock = `hashtextextended('masthead import ' || $1::text, 0)`

/** Imports and undos of a tenant take turns. The lock ends with the connection. */
export const withImportLock = async <T>(query: TenantQuery, work: () => Promise<T>): Promise<T> => {
  const [row] = await query<{ taken: boolean }>({ text: `select pg_try_advisory_lock(${lock}) as taken` })
  if (row?.taken) return work()
  throw new Refusal('another import or undo of this tenant is running: wait until it has ended')
}

/** Reads the lock without taking it. */
export const isImportLocked = async (query: TenantQuery): Promise<boolean> => {
  const [row] = await query<{ taken: boolean }>({
    text: `
    select exists (
      select from pg_locks
      where locktype = 'advisory' and objsubid = 1 and granted
        and database = (select oid from pg_database where datname = current_database())
        and (classid::bigint << 32) + objid::bigint = ${lock}
    ) as taken`,
  })
  return row?.taken ?? false
}
