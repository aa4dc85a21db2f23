import type { ResourceName } from '@masthead/contract'
import type { Author } from '../audit/author.ts'
import { audit, auditValues, type Happening } from '../audit/queries.ts'
import type { TenantQuery as Query } from '../database/tenant-query.ts'
import { fold, foldedStatus } from './folding.ts'
import { columnOf, type Table, tables } from './tables.ts'

/** A record by the names of its fields in the contract, or of columns that no answer shows. */
export type Fields = Readonly<Record<string, unknown>>

/** Tallies are kept in blocks of 2^level positions; the last level is one block, the total: see the migrations. */
export const tallyLevels = [10, 16, 22, 62] as const

/** Who writes, and by which name the tenant's legacy system knows the user. */
export type Writer = { author: Author; actingUser: string | null }

/** Every write of a resource holds this lock until it commits; who takes several takes them in the order of the alphabet. */
export const lockHead = (query: Query, resource: ResourceName): Promise<unknown> =>
  query({
    text: `with head as (
        insert into heads (tenant_id, resource) values ($1, $2)
        on conflict (tenant_id, resource) do update set last = heads.last returning resource
      )
      ${stamp}`,
    values: [resource],
  })

/** What caches go by. After the head, whose lock it shares. */
const stamp = `
  insert into stamps (tenant_id, resource, changed_in)
  select $1::uuid, resource, pg_current_xact_id() from head
  on conflict (tenant_id, resource) do update set changed_in = excluded.changed_in`

/** Adds a record at the end of the list and notes who did, in one statement; answers its body. */
export const createRecord = async (
  query: Query,
  { author }: Writer,
  resource: ResourceName,
  record: Fields & { id: string },
): Promise<string> => {
  const row = columnsOf(record)
  const after = JSON.stringify(record)
  const [added] = await query<{ body: string }>({
    text: creation(tables[resource], Object.keys(row)),
    values: [
      ...auditValues(author, [{ action: 'created', resource, recordId: record.id, after }]),
      searchText(resource, record),
      ...Object.values(row),
    ],
  })
  if (!added) throw new Error(`${resource} ${record.id} was not stored`)
  return added.body
}

/** The same for several that several have given, all with the same fields; `last` ends the transaction. */
export const createRecords = async (
  query: Query,
  last: Query,
  resource: ResourceName,
  created: readonly { writer: Writer; record: Fields & { id: string } }[],
): Promise<string[]> => {
  const [first, ...others] = created
  if (!first) return []
  if (others.length === 0) return [await createRecord(last, first.writer, resource, first.record)]
  const happenings = created.map(({ writer: { author }, record }) => ({
    ...{ action: 'created', resource, recordId: record.id, after: JSON.stringify(record), author },
  }))
  const records = created.map(({ record }) => record)
  const [bodies] = await Promise.all([insertRecords(query, resource, records), audit(last, null, happenings)])
  return bodies
}

/** What `insertion` does for many, for one: values that need not be unpacked and are counted once are worth a text of their own. */
const creation = (table: Table, columns: readonly string[]): string => `
  with head as (
    insert into heads (tenant_id, resource, last) values ($1, '${table.name}', 1)
    on conflict (tenant_id, resource) do update set last = heads.last + 1
    returning resource, last
  ), stamped as (${stamp}), changed as (
    insert into ${table.name} (tenant_id, position, ${columns.join(', ')})
    select $1::uuid, last, ${columns.map((_column, index) => `$${index + 5}`).join(', ')} from head
    returning position, class, ${table.facets} as facets, body
  ), texts as (
    insert into search_texts (tenant_id, resource, position, class, text)
    select $1::uuid, '${table.name}', position, class, $4::text from changed where $4::text is not null
  ), counted as (
    insert into tallies (tenant_id, resource, facet, class, level, block, count)
    select $1::uuid, '${table.name}', facet, class, level, position >> level, 1
    from changed, unnest(facets) as facet, unnest(array[${tallyLevels.join(', ')}]) as level
    on conflict (tenant_id, resource, facet, class, level, block) do update set count = tallies.count + 1
  )
  select body, append_to_audit($1, $2, $3) from changed`

/** What `create_contacts` of the migrations takes of one, in JSON. */
export const joinedCreation = (tenantId: string, { author }: Writer, record: Fields): string =>
  JSON.stringify({
    ...{ ...columnsOf(record), tenant_id: tenantId, search_text: searchText('contacts', record) },
    ...{ author, after: record },
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
  const added = await query<{ body: string }>({
    text: `${insertion(table, Object.keys(columnsOf(first)), givenAsJson(table, 'json_populate_recordset'))}
      select body from changed order by position`,
    values: [records.length, JSON.stringify(rows), records.map((record) => searchText(resource, record))],
  })
  return added.map(({ body }) => body)
}

const givenAsJson = (table: Table, reader: 'json_populate_record' | 'json_populate_recordset'): string => `
  select given.*, ($4::text[])[given.ordinality] as search_text
  from ${reader}(null::${table.name}, $3::json) with ordinality as given`

/**
 * The beginning of a statement that adds rows at the end of the list, as many as its parameter $2 says; `changed`
 * holds them. `given` is a query of their columns, their `search_text` and their `ordinality`, which counts from 1.
 */
export const insertion = (table: Table, columns: readonly string[], given: string): string => `
  with given as (${given}), head as (
    insert into heads (tenant_id, resource, last) values ($1, '${table.name}', $2::bigint)
    on conflict (tenant_id, resource) do update set last = heads.last + excluded.last
    returning resource, last - $2::bigint as before
  ), stamped as (${stamp}), changed as (
    insert into ${table.name} (tenant_id, position, ${columns.join(', ')})
    select $1::uuid, head.before + given.ordinality, ${columns.map((column) => `given.${column}`).join(', ')}
    from head, given
    order by given.ordinality
    returning position, class, ${table.facets} as facets, 1 as change, body
  ), texts as (
    insert into search_texts (tenant_id, resource, position, class, text)
    select $1::uuid, '${table.name}', changed.position, changed.class, given.search_text
    from head, changed, given
    where changed.position = head.before + given.ordinality and given.search_text is not null
  ), counted as (${count(table, 'changed')})`

/**
 * Replaces fields of a record, all of which `before` holds, while its head is locked, and notes who did; answers its new
 * body. Every column is written, whatever changed: texts by the fields that changed would be too many to keep prepared.
 */
export const updateRecord = async (
  query: Query,
  { author }: Writer,
  resource: ResourceName,
  before: Fields & { id: string },
  changes: Fields,
): Promise<string> => {
  const changed = { ...before, ...changes }
  // Whoever wrote it last, no import did.
  const after = { ...changed, importId: null }
  const [[body]] = await Promise.all([
    update(query, resource, 'json_populate_record', columnsOf(after), [{ before, after }]),
    audit(query, author, [happened(resource, { before, after: changed })]),
  ])
  if (body === undefined) throw new Error(`${resource} ${before.id} vanished under its lock`)
  return body
}

export type Change = { before: Fields; after: Fields & { id: string } }

/** What an update does to a record, whatever else it changes. */
export const actionOf = (before: Fields, changes: Fields): 'updated' | 'deleted' | 'restored' => {
  if (before.deletedAt === null && typeof changes.deletedAt === 'string') return 'deleted'
  return typeof before.deletedAt === 'string' && changes.deletedAt === null ? 'restored' : 'updated'
}

export const happened = (resource: ResourceName, { before, after }: Change): Happening => ({
  ...{ action: actionOf(before, after), resource, recordId: after.id },
  ...{ before: JSON.stringify(before), after: JSON.stringify(after) },
})

/** The same for many records, all with the same fields. */
export const updateRecords = async (
  query: Query,
  resource: ResourceName,
  changes: readonly Change[],
): Promise<number> => {
  const rows = changes.map(({ after }) => columnsOf(after))
  // It would be counted twice and written once.
  if (new Set(changes.map(({ after }) => after.id)).size < changes.length) throw new Error('a record changes twice')
  return (await update(query, resource, 'json_populate_recordset', rows, changes)).length
}

const update = async (
  query: Query,
  resource: ResourceName,
  reader: 'json_populate_record' | 'json_populate_recordset',
  rows: Fields | readonly Fields[],
  changes: readonly Change[],
): Promise<string[]> => {
  const [first] = changes
  if (!first) return []
  const table = tables[resource]
  const texts = changes.map(({ after }) => searchText(resource, after))
  const updated = await query<{ body: string }>({
    text: updateStatement(table, Object.keys(columnsOf(first.after)), reader),
    values: [
      changes.map(({ before }, index) => texts[index] !== searchText(resource, before)),
      JSON.stringify(rows),
      texts,
    ],
  })
  return updated.map(({ body }) => body)
}

const updateStatement = (
  table: Table,
  columns: string[],
  reader: 'json_populate_record' | 'json_populate_recordset',
): string => `
  with given as (${givenAsJson(table, reader)}), former as (
    select ${table.name}.position, ${table.name}.class, ${table.facets} as facets, -1 as change
    from given, ${table.name} where ${table.name}.tenant_id = $1 and ${table.name}.id = given.id
  ), latter as (
    update ${table.name} set (${columns.join(', ')}) = row (${columns.map((column) => `given.${column}`).join(', ')})
    from given
    where ${table.name}.tenant_id = $1 and ${table.name}.id = given.id
    returning ${table.name}.position, ${table.name}.class, ${table.facets} as facets, 1 as change,
      given.ordinality, given.search_text, ${table.name}.body
  ), texts as (
    update search_texts set class = latter.class, text = latter.search_text
    from latter, former
    where search_texts.tenant_id = $1 and resource = '${table.name}' and search_texts.position = latter.position
      and former.position = latter.position
      and (($2::boolean[])[latter.ordinality] or former.class <> latter.class)
  ), changed as (
    select position, class, facets, change from former union all select position, class, facets, change from latter
  ), counted as (${count(table, 'changed')})
  select body from latter order by ordinality`

/** Removes records for good while their head is locked; answers the ids of those that were there. */
export const removeRecords = async (
  query: Query,
  resource: ResourceName,
  ids: readonly string[],
): Promise<{ id: string }[]> => {
  const table = tables[resource]
  return query<{ id: string }>({
    text: `
      with changed as (
        delete from ${table.name} where tenant_id = $1 and id = any ($2::uuid[])
        returning id, position, class, ${table.facets} as facets, -1 as change
      ), texts as (
        delete from search_texts using changed
        where tenant_id = $1 and resource = '${table.name}' and search_texts.position = changed.position
      ), counted as (${count(table, 'changed')})
      select id from changed`,
    values: [ids],
  })
}

const count = (table: Table, changes: string): string => `
    insert into tallies (tenant_id, resource, facet, class, level, block, count)
    select $1::uuid, '${table.name}', facet, class, level, position >> level, sum(change)
    from ${changes}, unnest(facets) as facet, unnest(array[${tallyLevels.join(', ')}]) as level
    group by facet, class, level, position >> level
    having sum(change) <> 0
    on conflict (tenant_id, resource, facet, class, level, block) do update set count = tallies.count + excluded.count`

const columnsOf = (fields: Fields): Record<string, unknown> => {
  const row: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(fields)) row[columnOf(field)] = value
  if (typeof fields.status === 'string') row.status_key = foldedStatus(fields.status)
  else if ('status' in fields) row.status_key = null
  return row
}

/** The folded text in which search looks for a record; null for a resource that cannot be searched. */
export const searchText = (resource: ResourceName, fields: Fields): string | null => {
  const searched = tables[resource].listing.search
  if (searched.length === 0) return null
  return fold(
    searched
      .map((field) => fields[field])
      .filter((value) => typeof value === 'string')
      .join(' '),
  )
}
