import pg from 'pg'
import type { DatabaseAddress } from './address.ts'
import { answered, breakOff, openingMilliseconds } from './connection.ts'
import { prepared, type Query, type Statement, textOf } from './statement.ts'
import { Unavailable } from './unavailable.ts'

/**
 * How long a statement may take before the server ends it, and how long an answer may before we end the connection: the
 * second speaks when the server, or the way to it, is gone without a word.
 */
export type Timeouts = { statementSeconds: number; responseMilliseconds: number }

/** For what callers wait for, so that they hear soon of a server that hangs. */
export const short: Timeouts = { statementSeconds: 4, responseMilliseconds: 5_000 }
/** For searches, and for work that nobody waits for. */
export const long: Timeouts = { statementSeconds: 10, responseMilliseconds: 12_000 }

/** A search that takes longer than most; then somebody asks whether the server is there. */
export const doubtMilliseconds = 1_000

/** Nothing is written where a session is for reading. */
type Purpose = 'reading' | 'writing'

/**
 * Statements are shaped so that one plan is right for every tenant, so planning them again would only cost time; and
 * they are short, so compiling or parallel workers would too. The plan of a write is kept while tables grow, so it must not
 * read the whole of one that is small now.
 */
const sessionSettings = (
  { statementSeconds }: Timeouts,
  purpose: Purpose,
  { role, isSharded }: Pick<DatabaseAddress, 'role' | 'isSharded'>,
) => ({
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  statement_timeout: `${statementSeconds}s`,
  lock_timeout: '3s',
  idle_in_transaction_session_timeout: '5s',
  ...(purpose === 'reading' ? { default_transaction_read_only: 'on' } : { enable_seqscan: 'off' }),
  ...(isSharded && shardedSettings),
  ...(role !== null && { role }),
})

/**
 * The servers of shards are to know what is set by `set local` in a transaction: the tenant. Citus itself says when a plan needs the
 * values. What a statement writes by calling a function would be lost, so it is refused.
 */
const shardedSettings = {
  plan_cache_mode: 'auto',
  'citus.propagate_set_commands': 'local',
  'citus.allow_nested_distributed_execution': 'off',
}

const setAll = (settings: [name: string, value: string][], isLocal: boolean): string =>
  settings.map(([name, value]) => `set_config('${name}', ${pg.escapeLiteral(value)}, ${isLocal})`).join(', ')

/** How statements are sent over a connection. */
export type Session = Timeouts & {
  /**
   * A statement that each transaction begins with, because it gets a session of the pooler's that others use too. It takes
   * the tenant as `$1` and answers no row. Nothing else of such a session is set, and its statements have no names.
   */
  beginning?: string
  /** Its server is a standby, and is asked only for what it can answer as the primary would. */
  isReplica?: boolean
  /** Its server asks others, which know the tenant only inside a transaction that begins and ends by statements. */
  isSharded?: boolean
}

/** It fails on a standby, where a transaction cannot be made one that writes. */
const pooledBeginning = (timeouts: Timeouts, purpose: Purpose, address: DatabaseAddress): string => {
  const settings: [string, string][] = [['transaction_read_only', 'off']]
  if (purpose === 'reading') settings.push(['transaction_read_only', 'on'])
  settings.push(...Object.entries(sessionSettings(timeouts, purpose, address)))
  // Of a row that is compared with null, PostgreSQL would evaluate no more than the first.
  return `select where concat(${setAll(settings, true)}, set_config('masthead.tenant', $1, true)) is null`
}

export const sessionFor = (address: DatabaseAddress, timeouts: Timeouts, purpose: Purpose): Session => ({
  ...timeouts,
  ...(address.isSharded && { isSharded: true }),
  ...(address.directConnectionString !== undefined && { beginning: pooledBeginning(timeouts, purpose, address) }),
})

/** Behind a proxy that does not know yet who is the primary, a connection may lead anywhere. */
export const refuseStandby = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
  if (rows[0]?.transaction_read_only === 'off') return
  throw new Unavailable('25006', 'this server takes no writes: it is a standby, or was set to read only')
}

/** A select that sets the tenant until the transaction ends, and answers no row. */
export const beginAsTenant = {
  name: 'masthead-begin',
  text: `select where set_config('masthead.tenant', $1, true) is null`,
}

/** The same on a replica, which answers a row where it lacks something: `$2` are versions of lists, `$3` is their source. */
export const beginAsOf = {
  name: 'masthead-begin-as-of',
  text: `select where set_config('masthead.tenant', $1, true) is null or not is_replica_with($1::uuid, $2::json, $3)`,
}

/** No tenant has this id. */
export const noTenant = '00000000-0000-0000-0000-000000000000'

/** In one round trip. */
export const prepareSession = async (
  client: pg.ClientBase,
  address: DatabaseAddress,
  session: Session,
  purpose: Purpose,
): Promise<void> => {
  const asked: Promise<unknown>[] = [
    session.isReplica ? client.query({ ...beginAsOf, values: [noTenant, '{}', ''] }) : refuseStandby(client),
  ]
  if (session.beginning === undefined) {
    const settings = Object.entries(sessionSettings(session, purpose, address))
    asked.push(client.query(`select ${setAll(settings, false)}`), client.query({ ...beginAsTenant, values: [''] }))
  }
  try {
    await answered(client, Promise.all(asked), openingMilliseconds)
  } catch (error) {
    breakOff(client, error instanceof Error ? error : new Error(String(error)))
    throw error
  }
}

/**
 * Each statement is planned when it is sent, with the statistics of the moment. The plan is generic, so a tenant that is
 * newer than the statistics is not taken for an empty one.
 */
const bulkSettings = `
  set plan_cache_mode = force_generic_plan; set jit = off; set work_mem = '64MB'; set temp_buffers = '64MB'; set maintenance_work_mem = '64MB'; set lock_timeout = '30s'; set default_statistics_target = 10`

/** Lifts limits that were set for the database or the role; which there are depends on the version. */
export const liftTimeLimits = async (client: pg.ClientBase): Promise<void> => {
  await client.query(`
    select set_config(name, '0', false) from pg_settings where name in (
      'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'lock_timeout')`)
}

export const prepareBulkSession = async (
  client: pg.ClientBase,
  role: string | null,
  isSharded = false,
): Promise<void> => {
  await liftTimeLimits(client)
  await client.query(bulkSettings)
  if (isSharded) await client.query(`select ${setAll(Object.entries(shardedSettings), false)}`)
  // The locks of a command that was killed go within a second. Not every system can tell.
  await client.query(`set client_connection_check_interval = '1s'`).catch(() => {})
  if (role) await client.query(`set role ${pg.escapeIdentifier(role)}`)
}

/** Inside a transaction, or over a connection without a pooler. */
export const queryOn =
  (client: pg.ClientBase, session: Session): Query =>
  async <R>(statement: Statement) => {
    const { name, ...unnamed } = prepared(statement, session)
    const sent = client.query(session.beginning === undefined && name !== '' ? { name, ...unnamed } : unnamed)
    // The caller names the row type of the statement it wrote.
    return (await answered(client, sent, session.responseMilliseconds)).rows as R[]
  }

/** For statements in bulk, which are few and may take long: planned each time, without a limit of time. */
export const unpreparedOn =
  (client: pg.ClientBase, isSharded = false): Query =>
  async <R>({ values, ...statement }: Statement) =>
    // The caller names the row type of the statement it wrote.
    (await client.query(textOf(statement, isSharded), values)).rows as R[]
