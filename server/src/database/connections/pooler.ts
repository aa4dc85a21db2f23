import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { processToldTo } from '../pg-internals/undeclared.ts'
import { clientOptions, end, newClient, withClient } from './connection.ts'

/** Whether transactions of one connection share a session of PostgreSQL, or each may get another from a pooler. */
export type Pooling = 'none' | 'session' | 'transaction'

const waitMilliseconds = 1_000

const processOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid

export const isPooled = async (client: pg.Client): Promise<boolean> =>
  (await processOf(client)) !== processToldTo(client)

/** A pooler may have several processes that share nothing, so several clients are tried. */
const mostOthers = 8

const connect = async (connectionString: string): Promise<pg.Client> => {
  const client = newClient({ ...clientOptions(connectionString), pipeline: false })
  await client.connect()
  return client
}

/**
 * In transaction mode, another client that begins a transaction gets the session that the first one used last, so the first
 * one gets another, or waits for it.
 */
export const findPooling = async (connectionString: string): Promise<Pooling> => {
  const first = await connect(connectionString)
  const others: pg.Client[] = []
  try {
    if (!(await isPooled(first))) return 'none'
    const before = await processOf(first)
    while (others.length < mostOthers) {
      const other = await connect(connectionString)
      others.push(other)
      const begun = other.query('begin').then(() => processOf(other))
      const taken = await Promise.race([begun, delay(waitMilliseconds, null)])
      if (taken === before) return 'transaction'
      const after = await Promise.race([processOf(first), delay(waitMilliseconds, null)])
      if (after !== before) return 'transaction'
      // Where every client keeps its session, there may be none left for another.
      if (taken === null) return 'session'
    }
    return 'session'
  } finally {
    await Promise.allSettled([...others, first].map(end))
  }
}

export const poolerRemedy = 'set DATABASE_DIRECT_URL to the PostgreSQL server itself, beside DATABASE_URL'

const whereText = `select current_user::text as "user", extract(epoch from pg_postmaster_start_time())::text as started,
  (select oid::text from pg_database where datname = current_database()) as database`

/**
 * What was migrated over one address must hold for what is served over the other. Returns what keeps them from it, or null.
 */
export const findMismatch = async (
  connectionString: string,
  directConnectionString: string,
): Promise<string | null> => {
  const asked = [connectionString, directConnectionString].map((to) =>
    withClient(to, (client) => client.query<{ user: string; started: string; database: string }>(whereText)),
  )
  const [pooled, direct] = (await Promise.all(asked)).map(({ rows }) => rows[0])
  if (pooled?.started !== direct?.started || pooled?.database !== direct?.database)
    return 'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases'
  if (pooled?.user === direct?.user) return null
  return `DATABASE_URL logs in as ${pooled?.user}, and DATABASE_DIRECT_URL as ${direct?.user}`
}

export const mismatchRemedy = 'let both name the same database and the same role'
