import type { ResourceName } from '@masthead/contract'
import type { Query } from '../database/connection.ts'
import { fold, foldedStatus } from './folding.ts'
import { columnOf, type Table, tables } from './tables.ts'

/** A record by the names of its fields in the contract, or of columns that no answer shows. */
export type Fields = Readonly<Record<string, unknown>>

/** Tallies are kept in blocks of 2^level positions; the last level is one block, the total: see the migrations. */
export const tallyLevels = [10, 16, 22, 62] as const

/** Every write of a resource holds this lock until it commits; who takes several takes them in the order of the alphabet. */
export const lockHead = (query: Query, resource: ResourceName): Promise<unknown> =>
  query({
    text: `insert into heads (resource) values ($1)
      on conflict (tenant_id, resource) do update set last = heads.last`,
    values: [resource],
  })

/** Adds records, all with the same fields, at the end of the list; answers their bodies in the same order. */
export const insertRecords = async (
  query: Query,
  resource: ResourceName,
  records: readonly Fields[],
): Promise<string[]> => {
  const [first] = records
  if (!first) return []
  const table = tables[resource]
  const rows = records.map(columnsOf)
  const columns = Object.keys(columnsOf(first))
  const rowsAdded = await query<{ body: string }>({
    text: insertStatement(table, columns),
    values: [JSON.stringify(rows), records.length, table.listing.search.length ? records.map(searchText(table)) : []],
  })
  return rowsAdded.map(({ body }) => body)
}

const insertStatement = (table: Table, columns: string[]): string => `
  with head as (
    insert into heads (resource, last) values ('${table.name}', $2::bigint)
    on conflict (tenant_id, resource) do update set last = heads.last + excluded.last
    returning last - $2::bigint as before
  ), changed as (
    insert into ${table.name} (position, ${columns.join(', ')})
    select head.before + given.ordinality, ${columns.map((column) => `given.${column}`).join(', ')}
    from head, json_populate_recordset(null::${table.name}, $1::json) with ordinality as given
    order by given.ordinality
    returning position, class, ${table.facets} as facets, 1 as change, body
  ), texts as (
    insert into search_texts (resource, position, class, text)
    select '${table.name}', changed.position, changed.class, ($3::text[])[changed.position - head.before]
    from head, changed where cardinality($3::text[]) > 0
  ), counted as (${count(table, 'changed')})
  select body from changed order by position`

/**
 * Replaces fields of a record, all of which `before` holds, while its head is locked; answers its new body. Every column
 * is written, whatever changed: texts by the fields that changed would be too many to keep prepared.
 */
export const updateRecord = async (
  query: Query,
  resource: ResourceName,
  id: string,
  before: Fields,
  changes: Fields,
): Promise<string> => {
  const table = tables[resource]
  // Whoever wrote it last, no import did.
  const after = { ...before, importId: null, ...changes }
  const row = columnsOf(after)
  const text = searchText(table)(after)
  const [updated] = await query<{ body: string }>({
    text: updateStatement(table, Object.keys(row)),
    values: [JSON.stringify(row), id, text, text !== searchText(table)(before)],
  })
  if (!updated) throw new Error(`${resource} ${id} vanished under its lock`)
  return updated.body
}

const updateStatement = (table: Table, columns: string[]): string => `
  with former as (
    select position, class, ${table.facets} as facets, -1 as change from ${table.name} where id = $2
  ), latter as (
    update ${table.name} set (${columns.join(', ')}) = row (${columns.map((column) => `given.${column}`).join(', ')})
    from json_populate_record(null::${table.name}, $1::json) as given
    where ${table.name}.id = $2
    returning ${table.name}.position, ${table.name}.class, ${table.facets} as facets, 1 as change, ${table.name}.body
  ), texts as (
    update search_texts set class = latter.class, text = $3::text
    from former, latter
    -- Row-level security is not forced here, so it does not hold a role that owns the table.
    where tenant_id = current_tenant() and resource = '${table.name}' and search_texts.position = latter.position
      and ($4::boolean or former.class <> latter.class)
  ), changed as (
    select position, class, facets, change from former union all select position, class, facets, change from latter
  ), counted as (${count(table, 'changed')})
  select body from latter`

const count = (table: Table, changes: string): string => `
    insert into tallies (resource, facet, class, level, block, count)
    select '${table.name}', facet, class, level, position >> level, sum(change)
    from ${changes}, unnest(facets) as facet, unnest(array[${tallyLevels.join(', ')}]) as level
    group by facet, class, level, position >> level
    having sum(change) <> 0
    on conflict (tenant_id, resource, facet, class, level, block) do update set count = tallies.count + excluded.count`

const columnsOf = (fields: Fields): Record<string, unknown> => {
  const row = Object.fromEntries(Object.entries(fields).map(([field, value]) => [columnOf(field), value]))
  if (typeof fields.status === 'string') row.status_key = foldedStatus(fields.status)
  else if ('status' in fields) row.status_key = null
  return row
}

const searchText =
  (table: Table) =>
  (fields: Fields): string =>
    fold(
      table.listing.search
        .map((field) => fields[field])
        .filter((value) => typeof value === 'string')
        .join(' '),
    )
