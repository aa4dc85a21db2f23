import type pg from 'pg'
import type { DatabaseAddress } from './connections/address.ts'
import { clientOptions, end, newClient } from './connections/connection.ts'
import { long, prepareBulkSession, refuseStandby, type Session, unpreparedOn } from './connections/session.ts'
import type { Query, Statement } from './connections/statement.ts'
import { begin } from './connections/tenant-statement.ts'
import { type TenantQuery, tenantQuery } from './tenant-query.ts'

export type BulkWork<T> = (client: pg.Client, query: TenantQuery) => Promise<T>

/** `admit` fails where the server is not one to work on. */
export const inBulk = async <T>(
  { connectionString, role, isSharded }: DatabaseAddress,
  tenantId: string,
  work: BulkWork<T>,
  admit: (client: pg.Client) => Promise<void> = refuseStandby,
): Promise<T> => {
  const client = newClient({ ...clientOptions(connectionString), pipeline: false })
  await client.connect()
  try {
    await prepareBulkSession(client, role, isSharded)
    await client.query(`select set_config('masthead.tenant', $1, false)`, [tenantId])
    await admit(client)
    return await work(client, tenantQuery(tenantId, isSharded ? onShards(client, tenantId) : unpreparedOn(client)))
  } finally {
    await end(client)
  }
}

/** Begins a transaction of one snapshot on a connection of `inBulk`, for what reads much by several statements. It ends with the connection. */
export const beginSnapshot = async (client: pg.Client, query: TenantQuery): Promise<void> => {
  await query.withoutTenant({ text: 'begin' })
  await client.query('set transaction isolation level repeatable read, read only')
}

const sharded: Session = { ...long, isSharded: true }

/** Statements in bulk of which each that is in no transaction gets one of its own, so that the servers of shards know the tenant. */
const onShards = (client: pg.Client, tenantId: string): Query => {
  const send = unpreparedOn(client, true)
  const beginBulk = () => begin(client, sharded, tenantId)
  let isInTransaction = false
  return async <R>(statement: Statement) => {
    if (statement.text === 'begin') {
      isInTransaction = true
      await beginBulk()
      return []
    }
    if (isInTransaction) {
      isInTransaction = statement.text !== 'commit' && statement.text !== 'rollback'
      return send<R>(statement)
    }
    await beginBulk()
    try {
      const rows = await send<R>(statement)
      await client.query('commit')
      return rows
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    }
  }
}
