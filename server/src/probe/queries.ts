import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { chainWaiting } from '../audit/queries.ts'
import type { Query, Statement } from '../database/connections/statement.ts'
import type { Database, TenantDatabase } from '../database/database.ts'
import type { TenantQuery } from '../database/tenant-query.ts'
import {
  findTenantTables,
  readByTheirOwner,
  type TenantColumn,
  type TenantTable,
  withoutPolicy,
} from '../database/tenant-tables.ts'
import { Refusal } from '../refusal.ts'

/** Probes take turns, so that none removes the canaries of another. The lock ends with the connection. */
export const withProbeLock = async <T>(client: pg.Client, work: () => Promise<T>): Promise<T> => {
  const { rows } = await client.query<{ taken: boolean }>(
    `select pg_try_advisory_lock(hashtextextended('masthead probe', 0)) as taken`,
  )
  if (rows[0]?.taken) return work()
  throw new Refusal('another probe is running: wait until it has ended')
}

/** Deletes those of the users who belong to no tenant any more. */
export const deleteUsers = async (query: Query, ids: readonly string[]): Promise<void> => {
  await query({
    text: `delete from users where id = any ($1::uuid[]) and not exists (
      select from memberships where memberships.user_id = users.id)`,
    values: [ids],
  })
}

export const canaryFile = 'accounts.csv'

/** Stores an export as it is when it is done, with a text in its filters and its file. */
export const storeExport = async (query: TenantQuery, id: string, text: string): Promise<void> => {
  const content = Buffer.from(`accountId\n${text}\n`)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const file = { name: canaryFile, resource: 'accounts', records: 1, bytes: content.length, sha256 }
  await query({
    text: `insert into exports (tenant_id, id, state, resources, filters, format, gzip, spreadsheet, as_of, files)
      values ($1, $2, 'done', '["accounts"]', $3, 'csv', false, false, now(), $4)`,
    values: [id, JSON.stringify({ accounts: { status: text } }), JSON.stringify([file])],
  })
  await query({
    text: 'insert into export_chunks (tenant_id, export_id, file, number, content) values ($1, $2, $3, 0, $4)',
    values: [id, canaryFile, content],
  })
}

/**
 * Digests of the rows of the tenant, by table. Links of the audit log are left out, which are added later for old entries, and so are
 * entries of downloads: to look at the tenant's own exports adds some.
 */
export const digestRows = async (tenant: TenantDatabase): Promise<Map<string, string>> => {
  const digests = new Map<string, string>()
  await tenant.transaction(async (query) => {
    for (const { name, columns } of await findHeldTables(query.withoutTenant)) {
      if (name === 'audit_links') continue
      const readable = columns.filter(({ isReadable }) => isReadable).map((column) => column.name)
      const rows = await query<{ row: string }>({
        text: `select row (${readable.join(', ')})::text as row from ${name}
          where tenant_id = $1 ${name === 'audit_entries' ? `and action <> 'downloaded'` : ''} order by 1`,
      })
      digests.set(name, createHash('sha256').update(JSON.stringify(rows)).digest('hex'))
    }
  })
  return digests
}

const findHeldTables = async (query: Query): Promise<TenantTable[]> =>
  (await findTenantTables(query)).filter(({ name }) => !withoutPolicy.includes(name))

type TableFinding = { table: string; seen: string }
export type TableReport = { tables: string[]; leaks: TableFinding[]; notProbed: TableFinding[] }

/**
 * Queries every table of tenants as the service does, with one tenant set and for rows of another. One transaction does
 * it all and is rolled back, so that nobody else sees the rows that it adds where the other tenant has none.
 */
export const probeTables = async (database: Database, own: string, other: string): Promise<TableReport> => {
  const report: TableReport = { tables: [], leaks: [], notProbed: [] }
  const done = new Error('rolled back')
  await chainEntries(database, other)
  await database
    .forTenant(other)
    .transaction(async (asOther) => {
      const query = asOther.withoutTenant
      const tables = (await findHeldTables(query)).filter(
        ({ name, isOwned }) => !readByTheirOwner.includes(name) || !isOwned,
      )
      for (const table of tables) {
        const refused = await fill(query, table, other)
        if (refused) report.notProbed.push({ table: table.name, seen: `a row for it could not be made: ${refused}` })
      }
      for (const table of tables) {
        report.tables.push(table.name)
        for (const look of looks(table.name, own, other)) {
          await setTenant(query, look.tenant)
          const outcome = await attempt(query, look.statement)
          if (!look.isFine(outcome)) report.leaks.push({ table: table.name, seen: look.seen })
        }
      }
      throw done
    })
    .catch((error) => {
      if (error !== done) throw error
    })
  return report
}

/** By a statement, of which the servers of shards learn too. */
const setTenant = (query: Query, tenantId: string) =>
  query({ text: `set local masthead.tenant = ${pg.escapeLiteral(tenantId)}` })

/** Only its function adds links to the audit log, so the entry that tells of the tenant's beginning gets one. */
const chainEntries = async (database: Database, tenantId: string): Promise<void> => {
  const text = 'select 1 from audit_waiting where tenant_id = $1 limit 1'
  while ((await database.forTenant(tenantId).read({ text })).length > 0) {
    await chainWaiting(database)
    // Another process may just do it.
    await delay(20)
  }
}

type Outcome = { rows: number } | { refused: string; message: string }
type Look = { tenant: string; statement: Statement; isFine: (outcome: Outcome) => boolean; seen: string }

const policyViolation = '42501'
const isRefused = (outcome: Outcome): boolean => 'refused' in outcome && outcome.refused === policyViolation
const isWithoutEffect = (outcome: Outcome): boolean => isRefused(outcome) || ('rows' in outcome && outcome.rows === 0)
/** Where tables are sharded, no row can be moved to another tenant, whoever asks. */
const notSupported = '0A000'
const staysWhereItIs = (outcome: Outcome): boolean =>
  isWithoutEffect(outcome) || ('refused' in outcome && outcome.refused === notSupported)
const showsNothing = (outcome: Outcome): boolean => 'refused' in outcome || outcome.rows === 0

const looks = (table: string, own: string, other: string): Look[] => {
  const look = (seen: string, isFine: Look['isFine'], text: string, values = [other], tenant = own): Look => {
    return { tenant, seen, isFine, statement: { text, values } }
  }
  const change = `update ${table} set tenant_id = tenant_id where tenant_id = $1 returning tenant_id`
  const deletion = `delete from ${table} where tenant_id = $1 returning tenant_id`
  const move = `update ${table} set tenant_id = $1 where tenant_id = $2 returning tenant_id`
  return [
    look('shows rows of another tenant', isWithoutEffect, `select tenant_id from ${table} where tenant_id = $1`),
    look('lets rows of another tenant be changed', isWithoutEffect, change),
    look('lets rows of another tenant be deleted', isWithoutEffect, deletion),
    look('takes a row that names another tenant', isRefused, `insert into ${table} (tenant_id) values ($1)`),
    look('lets a row be moved to another tenant', staysWhereItIs, move, [other, own]),
    look('shows rows when no tenant is set', showsNothing, `select tenant_id from ${table}`, [], ''),
  ]
}

const attempt = async (query: Query, statement: Statement): Promise<Outcome> => {
  await query({ text: 'savepoint attempt' })
  try {
    return { rows: (await query(statement)).length }
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    return { refused: error.code ?? '', message: error.message }
  } finally {
    await query({ text: 'rollback to savepoint attempt' })
  }
}

/** Adds a row that could be seen. Returns why it cannot where the tenant has no other row either. */
const fill = async (query: Query, { name, columns }: TenantTable, tenantId: string): Promise<string | null> => {
  const needed = columns.filter((column) => column.isNeeded && column.name !== 'tenant_id')
  const given = ['tenant_id', ...needed.map((column) => column.name)]
  const places = given.map((_, index) => `$${index + 1}`)
  await query({ text: 'savepoint fill' })
  try {
    const values = [tenantId, ...needed.map(sampleOf)]
    await query({ text: `insert into ${name} (${given.join(', ')}) values (${places.join(', ')})`, values })
    return null
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    await query({ text: 'rollback to savepoint fill' })
    const found = { text: `select tenant_id from ${name} where tenant_id = $1 limit 1`, values: [tenantId] }
    return (await query(found)).length > 0 ? null : error.message
  }
}

/** Each type has one value, so that references match. */
const samples: Readonly<Record<string, unknown>> = {
  uuid: '00000000-0000-7000-8000-000000000000',
  text: 'canary',
  smallint: 10,
  integer: 10,
  bigint: 10,
  numeric: 10,
  boolean: true,
  date: '2026-01-02',
  'timestamp with time zone': '2026-01-02T03:04:05.678Z',
  json: '{}',
  jsonb: '{}',
  bytea: Buffer.alloc(32),
  'text[]': [],
}
const sampleOf = ({ type }: TenantColumn): unknown => samples[type] ?? null
