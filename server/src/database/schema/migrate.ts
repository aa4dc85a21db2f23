import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { messageOf } from '../../error-message.ts'
import { serviceRole } from '../connections/address.ts'
import { answered, clientOptions, end, newClient } from '../connections/connection.ts'
import { findPooling, isPooled, poolerRemedy } from '../connections/pooler.ts'
import { liftTimeLimits, refuseStandby, unpreparedOn } from '../connections/session.ts'
import { inTransaction, type Query } from '../connections/statement.ts'
import { defineFunctions, findSharding, interruptedRemedy } from '../shards/sharding.ts'
import { type Migration, readMigration } from './migration-files.ts'
import { isOlder } from './program-version.ts'
import { describeNodes, findRunningNodes } from './running-nodes.ts'
import { newest, refusalOf, type SchemaState, schemaState } from './schema-state.ts'
import { renewSearchTexts } from './search-texts.ts'

export const oldestServer = 15
/** Any number, the same in every process: whoever holds this lock migrates. */
const advisoryLock = 4_714_330_117
/** For the connection, and for the first answer over it. No caller waits, and a machine that starts much at once is slow. */
const timeoutMilliseconds = 5_000
/**
 * Every session that needs a table queues behind a migration that waits for it. So the migration gives up long before a request would, and before
 * PostgreSQL looks for a deadlock, which could end a request instead, and tries again a little later.
 */
const lockMilliseconds = 500
const pauseMilliseconds = 1_000
const longestWaitMilliseconds = 600_000
const endingMilliseconds = 3_000

export type Migrated = {
  applied: string[]
  /** Of the schema. It is higher than this program's where a newer one has migrated the database. */
  version: number
  /** Under which to serve. */
  role: string | null
  isSharded: boolean
}

type MigrateOptions = {
  /** Lets the service role log in with this password, so that no session of the service is a superuser's. */
  servicePassword?: string
  /** SQL that makes the functions by which records are written where the tables are sharded. */
  shardedFunctions?: () => string[]
  /** Gives a search text of an earlier program the form that this one searches for. */
  renewText?: (text: string) => string
  /** What a migration leaves to the program, by its name: it is done in the transaction of the migration. */
  fill?: Readonly<Record<string, (query: Query) => Promise<void>>>
  /** Is told what it waits for. */
  say?: (line: string) => void
  /** Ends the waiting. */
  stopping?: AbortSignal
}

/**
 * Brings the database up to this program's schema, once, also where several processes start at the same time. A database that a newer program has
 * migrated is left as it is, or refused where it admits only newer ones.
 */
export const migrate = async (connectionString: string, options: MigrateOptions = {}): Promise<Migrated> => {
  const client = newClient({
    ...clientOptions(connectionString),
    pipeline: false,
    connectionTimeoutMillis: timeoutMilliseconds,
  })
  await client.connect()
  try {
    await answered(client, refuseStandby(client), timeoutMilliseconds)
    await refusePooler(client, connectionString)
    await refuseOldServer(client)
    await liftTimeLimits(client)
    await client.query('select pg_advisory_lock($1)', [advisoryLock])
    await client.query(`create table if not exists migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default now())`)
    const state = await schemaState(unpreparedOn(client))
    const refusal = refusalOf(state)
    if (refusal) throw new Error(`${refusal.reason}: ${refusal.remedy}`)
    const sharding = await findSharding(unpreparedOn(client))
    if (sharding === 'begun') throw new Error(interruptedRemedy)
    const isSharded = sharding === 'done'
    const applied = await applyMissing(client, state, { ...options, isSharded })
    await client.query('insert into installation (cursor_key) values ($1) on conflict do nothing', [randomBytes(32)])
    const role = await prepareToServe(client, { ...options, isSharded, isAhead: state.standing === 'ahead', applied })
    if (role && options.servicePassword !== undefined) await allowLogin(client, role, options.servicePassword)
    return { applied, version: Math.max(state.version, state.known), role, isSharded }
  } finally {
    await end(client)
  }
}

/** A lock and a session that others use as well do not go together. */
const refusePooler = async (client: pg.Client, connectionString: string): Promise<void> => {
  if (!(await isPooled(client)) || (await findPooling(connectionString)) !== 'transaction') return
  throw new Error(`a pooler gives each transaction another session; ${poolerRemedy}`)
}

const refuseOldServer = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
  const major = Math.trunc(Number(rows[0]?.server_version_num) / 10_000)
  if (major < oldestServer) throw new Error(`PostgreSQL ${major} is too old: use PostgreSQL ${oldestServer} or newer`)
}

/** A statement, up to its semicolon: none that stands in a comment, a text, a name or the body of a function ends it. */
const statement = /(?:--.*|'[^']*'|"[^"]*"|(\$\w*\$)[\s\S]*?\1|\bbegin atomic\b[\s\S]*?\bend\b|[^;])+/g

export const statementsOf = (sql: string): string[] => [...sql.matchAll(statement)].map(([text]) => text)

/**
 * Citus sends the whole query to its workers for a change of a table, so a query has one statement there; and what is read after such a
 * change must come over the same connection.
 */
const runOnShards = async (client: pg.Client, sql: string): Promise<void> => {
  await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`)
  for (const text of statementsOf(sql)) await client.query(text)
}

type Applying = MigrateOptions & { isSharded: boolean }

const applyMissing = async (client: pg.Client, state: SchemaState, applying: Applying): Promise<string[]> => {
  const missing = await Promise.all(state.missing.map(readMigration))
  await refuseOlderNodes(client, missing)
  for (const [index, migration] of missing.entries())
    await apply(client, migration, state.version + index + 1, applying)
  return state.missing
}

/** A node that is older than what a migration admits would fail in the middle of its work, so it must have ended before. */
const refuseOlderNodes = async (client: pg.Client, missing: readonly Migration[]): Promise<void> => {
  const admits = newest(missing.flatMap((migration) => migration.admits ?? []))
  if (admits === null) return
  const findOlder = async () =>
    (await findRunningNodes(unpreparedOn(client))).filter(({ version }) => isOlder(version, admits))
  let older = await findOlder()
  // PostgreSQL takes a moment to notice that a process has ended.
  for (const deadline = performance.now() + endingMilliseconds; older.length > 0 && performance.now() < deadline; ) {
    await delay(pauseMilliseconds)
    older = await findOlder()
  }
  if (older.length === 0) return
  const names = missing.flatMap(({ name, admits }) => (admits === null ? [] : [name])).join(', ')
  throw new Error(
    `${names} would leave a database that admits Masthead ${admits} and newer, and older nodes use it: ${describeNodes(older)}; ` +
      `stop them, or bring them to ${admits} first`,
  )
}

const apply = async (client: pg.Client, migration: Migration, version: number, applying: Applying): Promise<void> => {
  const { say = () => {}, stopping } = applying
  let hasSaid = false
  for (const deadline = performance.now() + longestWaitMilliseconds; ; ) {
    try {
      return await applyOnce(client, migration, version, applying)
    } catch (error) {
      const isHindered = error instanceof pg.DatabaseError && ['55P03', '40P01'].includes(error.code ?? '')
      if (!isHindered || stopping?.aborted || performance.now() > deadline) {
        const remedy = isHindered ? '; end the transaction that keeps it locked, which pg_stat_activity shows' : ''
        throw new Error(`migration ${migration.name} failed: ${messageOf(error)}${remedy}`, { cause: error })
      }
      if (!hasSaid) say(`${migration.name} waits for transactions that use the same tables`)
      hasSaid = true
      await delay(pauseMilliseconds, undefined, stopping && { signal: stopping }).catch(() => {})
    }
  }
}

const applyOnce = (
  client: pg.Client,
  { name, sql, admits }: Migration,
  version: number,
  { isSharded, fill = {} }: Applying,
): Promise<void> =>
  inTransaction(unpreparedOn(client), async (query) => {
    await client.query(`set local lock_timeout = '${lockMilliseconds}ms'`)
    await (isSharded ? runOnShards(client, sql) : client.query(sql))
    await fill[name]?.(query)
    await client.query('insert into migrations (version, name) values ($1, $2)', [version, name])
    if (admits !== null) await client.query('update migrations set admits = $2 where version = $1', [version, admits])
  })

type Prepared = Pick<MigrateOptions, 'shardedFunctions' | 'renewText'> & {
  isSharded: boolean
  isAhead: boolean
  applied: readonly string[]
}

/** Functions, grants and search texts are those of the newest program: an older one that starts beside it leaves them alone. */
const prepareToServe = async (
  client: pg.Client,
  { isSharded, isAhead, applied, shardedFunctions, renewText }: Prepared,
): Promise<string | null> => {
  if (isAhead) return roleToServe(client)
  if (isSharded) await defineFunctions(unpreparedOn(client), shardedFunctions?.() ?? [])
  // Where nothing has changed, nothing need be said to the servers of shards, of which one may be away.
  const role = isSharded && applied.length === 0 ? await roleToServe(client) : await serveUnder(client)
  if (renewText) await renewSearchTexts(client, renewText)
  return role
}

/** A role that row-level security does not hold must not serve: a role that owns nothing does it instead. */
export const roleToServe = async (client: pg.Client): Promise<string | null> => {
  const role = await currentRole(client)
  return role?.rolsuper || role?.rolbypassrls ? serviceRole : null
}

type Role = { rolsuper: boolean; rolbypassrls: boolean }

const currentRole = async (client: pg.Client): Promise<Role | undefined> =>
  (await client.query<Role>('select rolsuper, rolbypassrls from pg_roles where rolname = current_user')).rows[0]

const serveUnder = async (client: pg.Client): Promise<string | null> => {
  const role = await roleToServe(client)
  if (role === null) return null
  await becomeMember(client, (await currentRole(client))?.rolsuper ?? false)
  await client.query(await readFile(new URL('./grants.sql', import.meta.url), 'utf8'))
  return role
}

export const serviceRoleRemedy = `have an administrator run: create role ${serviceRole} nologin; grant ${serviceRole} to <the role of DATABASE_URL>`

/** A superuser may take any role. Others need `createrole`, or an administrator who has made the role and granted it. */
const becomeMember = async (client: pg.Client, isSuperuser: boolean): Promise<void> => {
  const { rows } = await client.query<{ exists: boolean; member: boolean }>(
    `select count(*) > 0 as exists, coalesce(bool_or(pg_has_role(oid, 'member')), false) as member
      from pg_roles where rolname = '${serviceRole}'`,
  )
  const [found] = rows
  try {
    if (!found?.exists) {
      await client.query(`do $$ begin
        create role ${serviceRole} nologin;
      exception when duplicate_object or unique_violation then null; end $$`)
    }
    if (!isSuperuser && !found?.member) await client.query(`grant ${serviceRole} to current_user`)
  } catch (cause) {
    throw new Error(
      `this role passes by row-level security and cannot make another to serve under; ${serviceRoleRemedy}`,
      { cause },
    )
  }
}

const allowLogin = async (client: pg.Client, role: string, password: string): Promise<void> => {
  const { rows } = await client.query<{ rolcanlogin: boolean }>('select rolcanlogin from pg_roles where rolname = $1', [
    role,
  ])
  if (rows[0]?.rolcanlogin) return
  await client.query(`alter role ${role} login password ${pg.escapeLiteral(password)}`)
}
