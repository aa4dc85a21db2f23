import assert from 'node:assert/strict'
import { type Resource, resourceNames, resources } from '@masthead/contract'
import pg from 'pg'
import { bodyOf } from '../../src/records/writes/write-statement.ts'

type StoredRow = { position: number; class: number; body: string }

/**
 * Compares what is kept with what is there, for every tenant and resource: tallies with a recount of the bodies, search
 * texts and heads with the positions, versions with the heads, and bodies with the columns. Nothing of the code that keeps tallies is used, only the
 * contract.
 */
export const assertTallies = async (owner: pg.Client): Promise<void> => {
  const { rows } = await owner.query<{ id: string }>('select id from tenants')
  for (const { id } of rows) await assertTenantTallies(owner, id)
}

/** Of one moment, because others may write meanwhile, and over a connection of its own, because tests that run side by side share the owner's. */
export const assertTenantTallies = async (owner: pg.Client, tenantId: string): Promise<void> => {
  const { host, port, user, password, database } = owner
  const reader = new pg.Client({ host, port, user, password, database })
  // A lost connection fails the query that waits for it.
  reader.on('error', () => {})
  await reader.connect()
  try {
    await reader.query('begin isolation level repeatable read')
    await compareTallies(reader, tenantId)
  } finally {
    await reader.end()
  }
}

const compareTallies = async (owner: pg.Client, tenantId: string): Promise<void> => {
  const select = async <R extends pg.QueryResultRow>(sql: string): Promise<R[]> =>
    (await owner.query<R>(sql, [tenantId])).rows
  for (const name of resourceNames) {
    const stale = `select id from ${name} as record where tenant_id = $1 and body is distinct from ${bodyOf(name, 'record')}`
    assert.deepEqual(await select(stale), [], `bodies of ${name} say what their columns say`)
    const [versions] = await select<{ count: number; different: number; last: number; head: number }>(
      `select count(*)::int, count(distinct version)::int as different, coalesce(max(version), 0)::int as last,
        coalesce((select version from heads where tenant_id = $1 and resource = '${name}'), 0)::int as head
      from (
        select version from ${name} where tenant_id = $1
        union all select version from removed_records where tenant_id = $1 and resource = '${name}'
      ) as kept`,
    )
    assert.equal(versions?.different, versions?.count, `versions of ${name} are unique`)
    assert.equal(versions?.last, versions?.head, `the last write of ${name} has the version of its head`)
  }
  for (const [name, listing] of listed) {
    const rows = await select<StoredRow>(`select position, class, body from ${name} where tenant_id = $1`)
    const kept = await select<{ key: string; count: number }>(
      `select facet || ' ' || class || ' ' || level || ' ' || block as key, count
      from tallies where tenant_id = $1 and resource = '${name}' and count <> 0`,
    )
    const keptCounts = Object.fromEntries(kept.map(({ key, count }) => [key, count]))
    assert.deepEqual(keptCounts, recount(rows, listing), `tallies of ${name}`)

    const positions = ascending(rows)
    assert.equal(new Set(positions).size, positions.length, `positions of ${name} are unique`)
    const texts = await select<{ position: number; class: number }>(
      `select position, class from search_texts where tenant_id = $1 and resource = '${name}'`,
    )
    assert.deepEqual(ascending(texts), listing.search.length > 0 ? positions : [], `search texts of ${name}`)
    const classes = new Map(rows.map((row) => [row.position, row.class]))
    for (const found of texts)
      assert.equal(found.class, classes.get(found.position), `class of a search text of ${name}`)
    const [head] = await select<{ last: number }>(
      `select last from heads where tenant_id = $1 and resource = '${name}'`,
    )
    assert.ok((positions.at(-1) ?? 0) <= (head?.last ?? 0), `no position of ${name} lies beyond its head`)
  }
}

type Listing = NonNullable<Resource['listing']>

const listed = Object.entries(resources).flatMap(([name, { listing }]: [string, Resource]): [string, Listing][] =>
  listing ? [[name, listing]] : [],
)

/** `facet class level block` → how many, as the decision on tallies describes them. */
const recount = (rows: StoredRow[], listing: Listing): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const row of rows) {
    const record: Record<string, unknown> = JSON.parse(row.body)
    const flags = Object.values({ ...listing.leftOutUnless, ...listing.onlyWithout }).map((field) => record[field])
    const visibility = flags.reduce((bits: number, flag, bit) => bits | (flag ? 1 << bit : 0), 0)
    assert.equal(row.class, visibility, `class of ${row.body}`)
    for (const facet of facetsOf(record, listing.filters)) {
      for (const level of [10, 16, 22, 62]) {
        const key = [facet, visibility, level, Math.floor(row.position / 2 ** level)].join(' ')
        counts[key] = (counts[key] ?? 0) + 1
      }
    }
  }
  return counts
}

/** Every combination of the filters for which the record has values. */
const facetsOf = (record: Record<string, unknown>, filters: readonly string[]): string[] => {
  const facets: string[][] = [[]]
  for (const field of filters.filter((name) => record[name] !== null)) {
    const value = field === 'status' ? String(record[field]).toLowerCase() : record[field]
    facets.push(...facets.map((parts) => [...parts, `${field}=${value}`]))
  }
  return facets.map((parts) => parts.join('&'))
}

const ascending = (rows: { position: number }[]): number[] => rows.map(({ position }) => position).sort((a, b) => a - b)
