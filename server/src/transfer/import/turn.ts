import type pg from 'pg'
import type { Query } from '../../database/connection.ts'
import { Refusal } from '../../refusal.ts'

/** SQL: one number a tenant. */
const lock = `hashtextextended('masthead import ' || current_tenant()::text, 0)`

/** Imports and undos of a tenant take turns; the lock goes with the connection. */
export const whileAlone = async <T>(client: pg.Client, work: () => Promise<T>): Promise<T> => {
  const { rows } = await client.query<{ taken: boolean }>(`select pg_try_advisory_lock(${lock}) as taken`)
  if (rows[0]?.taken) return work()
  throw new Refusal('another import or undo of this tenant is under way: wait until it has ended')
}

/** Whether somebody is at it now; asking keeps nobody from beginning. */
export const isTaken = async (query: Query): Promise<boolean> => {
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
