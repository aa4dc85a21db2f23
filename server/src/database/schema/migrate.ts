import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import {
  answered,
  clientOptions,
  end,
  newClient,
  type Query,
  refuseStandby,
  serviceRole,
  unpreparedOn,
} from '../connections/connection.ts'
import { findPooling, isPooled, poolerRemedy } from '../connections/pooler.ts'
import { defineFunctions, findSharding, interruptedRemedy } from '../shards/sharding.ts'
import { renewSearchTexts } from './search-texts.ts'

const directory = new URL('./migrations/', import.meta.url)
export const oldestServer = 15
/** Any number, the same in every process: whoever holds this lock migrates. */
const advisoryLock = 4_714_330_117
/** For the connection, and for the first answer over it. No caller waits, and a machine that starts much at once is slow. */
const timeoutMilliseconds = 5_000

export type Migrated = {
  applied: string[]
  version: number
  /** Under which to serve. */
  role: string | null
  isSharded: boolean
}

export type MigrateOptions = {
  /** Lets the service role log in with this password, so that no session of the service is a superuser's. */
  servicePassword?: string
  /** SQL that makes the functions by which records are written where the tables are sharded. */
  shardedFunctions?: () => string[]
  /** Gives a search text of an earlier program the form that this one searches for. */
  renewText?: (text: string) => string
  /** What a migration leaves to the program, by its name: it is done in the transaction of the migration. */
  fill?: Readonly<Record<string, (query: Query) => Promise<void>>>
}

/** Brings the database up to this program's schema, once, whoever else starts at the same time. */
export const migrate = async (connectionString: string, options: MigrateOptions = {}): Promise<Migrated> => {
  const client = newClient({
    ...clientOptions(connectionString),
    ...{ pipeline: false, connectionTimeoutMillis: timeoutMilliseconds },
  })
  await client.connect()
  try {
    await answered(client, refuseStandby(client), timeoutMilliseconds)
    await refusePooler(client, connectionString)
    await refuseOldServer(client)
    await client.query('select pg_advisory_lock($1)', [advisoryLock])
    await client.query(`create table if not exists migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default now())`)
    const files = await knownMigrations()
    const sharding = await findSharding(unpreparedOn(client))
    if (sharding === 'begun') throw new Error(interruptedRemedy)
    const isSharded = sharding === 'done'
    const applied = await applyMissing(client, files, { isSharded, fill: options.fill ?? {} })
    await client.query('insert into installation (cursor_key) values ($1) on conflict do nothing', [randomBytes(32)])
    if (isSharded) await defineFunctions(unpreparedOn(client), options.shardedFunctions?.() ?? [])
    // Where nothing has changed, nothing need be said to the servers of shards, of which one may be away.
    const role = isSharded && applied.length === 0 ? await roleToServe(client) : await serveUnder(client)
    if (options.renewText) await renewSearchTexts(client, options.renewText)
    if (role && options.servicePassword !== undefined) await allowLogin(client, role, options.servicePassword)
    return { applied, version: files.length, role, isSharded }
  } finally {
    await end(client)
  }
}

/** Their files, in their order. */
export const knownMigrations = async (): Promise<string[]> =>
  (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()

export type AppliedMigration = { version: number; name: string }

/** The migrations were rewritten once, before the first release, so a database has former ones or those of this program. */
export const hasFormerSchema = (applied: readonly AppliedMigration[], files: readonly string[]): boolean =>
  applied.some(({ version, name }) => version <= files.length && name !== files[version - 1])

export const formerSchemaRemedy =
  'export each tenant with that program (`masthead export`) and import the files with this one (`masthead import`) into a new ' +
  'database or data folder; users, tokens and the audit log are not carried over'

/** A lock and a session that others use as well do not go together. */
const refusePooler = async (client: pg.Client, connectionString: string): Promise<void> => {
  if (!(await isPooled(client)) || (await findPooling(connectionString)) !== 'transaction') return
  throw new Error(`a pooler gives each transaction another session; ${poolerRemedy}`)
}

const refuseOldServer = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
  const major = Math.trunc(Number(rows[0]?.server_version_num) / 10_000)
  if (major < oldestServer) throw new Error(`PostgreSQL ${major} is too old: Masthead needs ${oldestServer} or newer`)
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

const applyMissing = async (
  client: pg.Client,
  files: string[],
  { isSharded, fill }: { isSharded: boolean; fill: NonNullable<MigrateOptions['fill']> },
): Promise<string[]> => {
  const { rows } = await client.query<AppliedMigration>('select version, name from migrations order by version')
  if (hasFormerSchema(rows, files)) throw new Error(`an earlier Masthead made this database: ${formerSchemaRemedy}`)
  const current = rows.at(-1)?.version ?? 0
  if (current > files.length) {
    throw new Error(
      `the database has schema version ${current}, this program knows ${files.length}: run the newer program that made it`,
    )
  }
  const missing = files.slice(current)
  for (const [index, name] of missing.entries()) {
    const sql = await readFile(new URL(name, directory), 'utf8')
    await client.query('begin')
    try {
      await (isSharded ? runOnShards(client, sql) : client.query(sql))
      await fill[name]?.(unpreparedOn(client))
      await client.query('insert into migrations (version, name) values ($1, $2)', [current + index + 1, name])
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw new Error(`migration ${name} failed: ${error instanceof Error ? error.message : error}`, { cause: error })
    }
  }
  return missing
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
