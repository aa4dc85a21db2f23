import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { clientOptions, end, newClient } from './connection.ts'

/** Whether transactions of one connection share a session of PostgreSQL, or each may get another from a pooler. */
export type Pooling = 'none' | 'session' | 'transaction'

const waitMilliseconds = 1_000

/** PostgreSQL tells a client the process of its session. A pooler tells a number of its own. */
type Known = pg.Client & { processID: number | null }

const processOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid

export const isPooled = async (client: pg.Client): Promise<boolean> =>
  (await processOf(client)) !== (client as Known).processID // not among its types

/**
 * In transaction mode, a second client that begins a transaction gets the session that the first one used last, so the first
 * one gets another, or waits for it.
 */
export const findPooling = async (connectionString: string): Promise<Pooling> => {
  const newConnection = async () => {
    const client = newClient({ ...clientOptions(connectionString), pipeline: false })
    await client.connect()
    return client
  }
  const first = await newConnection()
  const second = await newConnection()
  try {
    if (!(await isPooled(first))) return 'none'
    const before = await processOf(first)
    const begun = second.query('begin; select 1').then(() => true)
    // Where a client keeps its session, there may be none left for a second one.
    if (!(await Promise.race([begun, delay(waitMilliseconds, false)]))) return 'session'
    const after = await Promise.race([processOf(first), delay(waitMilliseconds, null)])
    return after === before ? 'session' : 'transaction'
  } finally {
    await Promise.allSettled([end(second), end(first)])
  }
}

export const poolerRemedy = 'set DATABASE_DIRECT_URL to the PostgreSQL server itself, beside DATABASE_URL'
