import assert from 'node:assert/strict'
import type pg from 'pg'

/** By table: changes whenever a row does that was looked at. */
export type Traces = Readonly<Record<string, string>>

/** What a request began goes on after it. */
const inBackground: readonly string[] = ['exports', 'export_chunks']

/** Everything that is stored, but when a token was last used and how far exports are; without the rows of some tenants. */
export const storedStateIn = async (owner: pg.Client): Promise<(except?: readonly string[]) => Promise<Traces>> => {
  const tables = (await tablesOf(owner)).filter(({ name }) => !inBackground.includes(name))
  const digests = tables.map(
    ({ name, tenant }) => `select '${name}' as name, md5(string_agg(row, '' order by row)) as trace
      from (select md5((to_jsonb(t) - 'last_used_at')::text) as row from ${name} t
        where ${tenant ? `${tenant} is null or ${tenant} <> all ($1::uuid[])` : '$1::uuid[] is not null'}) as rows`,
  )
  const state = underSnapshot(owner, 'stored state', digests)
  return (except = []) => state(except)
}

/**
 * Asks so little that it can be asked after every request: how many rows of the tenant there are, and which transaction
 * wrote the last of them.
 */
export const tracesIn = async (owner: pg.Pool): Promise<(tenantId: string) => Promise<Traces>> => {
  const counts = (await tablesOf(owner))
    // When a token was last used is noted whatever becomes of the request, and the audit log is chained later.
    .filter(
      ({ name, tenant }) =>
        tenant && !['access_tokens', 'audit_links', 'audit_waiting', ...inBackground].includes(name),
    )
    .map(
      // To read a transaction as a number by its text costs twice as much as its age. The age of the first one grows with it.
      ({ name, tenant }) => `select '${name}' as name,
          count(*) || ' until ' || coalesce(age('3'::xid) - min(age(xmin)), 0) as trace
        from ${name} where ${tenant} = $1`,
    )
  return underSnapshot(owner, 'traces', counts)
}

/** Looks again only under another snapshot: under the same one PostgreSQL would say the same of this value. */
const underSnapshot = (owner: pg.Client | pg.Pool, name: string, selects: readonly string[]) => {
  const text = `select pg_current_snapshot()::text as snapshot,
    case when pg_current_snapshot()::text is distinct from $2::text
      then (select json_object_agg(name, trace) from (${selects.join(' union all ')}) as found) end as traces`
  const last = new Map<string, { snapshot: string; traces: Traces }>()
  return async (value: string | readonly string[]): Promise<Traces> => {
    const known = last.get(String(value))
    const statement = { name, text, values: [value, known?.snapshot] }
    const { rows } = await owner.query<{ snapshot: string; traces: Traces | null }>(statement)
    const { snapshot, traces } = rows[0] ?? assert.fail('there is always a row')
    const current = { snapshot, traces: traces ?? known?.traces ?? assert.fail('nothing is known of a new snapshot') }
    last.set(String(value), current)
    return current.traces
  }
}

type StoredTable = { name: string /** The column that names the tenant of a row. */; tenant: string | null }

const tablesOf = async (owner: pg.Client | pg.Pool): Promise<StoredTable[]> => {
  const { rows } = await owner.query<StoredTable>(
    `select quote_ident(tablename) as name, (
        select column_name from information_schema.columns
        where table_schema = 'public' and table_name = tablename and column_name in ('tenant_id', 'tenant')) as tenant
      from pg_tables where schemaname = 'public' order by 1`,
  )
  assert.ok(rows.length > 10)
  return rows
}
