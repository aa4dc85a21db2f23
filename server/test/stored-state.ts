import assert from 'node:assert/strict'
import type pg from 'pg'

/** Everything that is stored, but when a token was last used; without the rows of some tenants. */
export const storedState = async (
  owner: pg.Client,
  except: readonly string[] = [],
): Promise<[table: string, digest: string][]> => {
  const digests = (await tablesOf(owner)).map(
    ({ name, ofTenants }) => `select '${name}', md5(string_agg(row, '' order by row))
      from (select md5((to_jsonb(t) - 'last_used_at')::text) as row from ${name} t
        where ${ofTenants ? 'tenant_id is null or tenant_id <> all ($1::uuid[])' : '$1::uuid[] is not null'}) as rows`,
  )
  const statement = { text: `${digests.join(' union all ')} order by 1`, values: [except], rowMode: 'array' as const }
  return (await owner.query(statement)).rows as [string, string][] // as it selects them
}

/** By table: changes whenever a row of the tenant does. */
export type Traces = Readonly<Record<string, string>>

/**
 * Asks so little that it can be asked after every request: how many rows of the tenant there are, and which transaction
 * wrote the last of them.
 */
export const tracesIn = async (owner: pg.Client | pg.Pool): Promise<(tenantId: string) => Promise<Traces>> => {
  const counts = (await tablesOf(owner))
    // When a token was last used is noted whatever becomes of the request, and the audit log is chained later.
    .filter(({ name, ofTenants }) => ofTenants && !['access_tokens', 'audit_links', 'audit_waiting'].includes(name))
    .map(
      ({ name }) => `select '${name}' as name, count(*) || ' until ' || coalesce(max(xmin::text::bigint), 0) as trace
        from ${name} where tenant_id = $1`,
    )
  const text = counts.join(' union all ')
  return async (tenantId) => {
    const { rows } = await owner.query<{ name: string; trace: string }>({ name: 'traces', text, values: [tenantId] })
    return Object.fromEntries(rows.map(({ name, trace }) => [name, trace]))
  }
}

const tablesOf = async (owner: pg.Client | pg.Pool): Promise<{ name: string; ofTenants: boolean }[]> => {
  const { rows } = await owner.query<{ name: string; ofTenants: boolean }>(
    `select quote_ident(tablename) as name, exists (
        select from information_schema.columns
        where table_schema = 'public' and table_name = tablename and column_name = 'tenant_id') as "ofTenants"
      from pg_tables where schemaname = 'public' order by 1`,
  )
  assert.ok(rows.length > 10)
  return rows
}
