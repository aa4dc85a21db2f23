import {
  type Field,
  fieldOf,
  fieldsOf,
  type Kind,
  type ResourceName,
  resources,
  storedFieldsOf,
} from '@masthead/contract'
import { tallyLevels } from '../../database/tally-levels.ts'
import { instantText } from '../stored-record.ts'
import { type Table, tables } from '../tables.ts'

/** The types of the columns, by the kinds of the contract's fields. */
export const columnTypes: Record<Kind, string> = {
  text: 'text',
  uuid: 'uuid',
  date: 'date',
  timestamp: 'timestamptz(3)',
  money: 'numeric(20, 2)',
  integer: 'bigint',
  number: 'numeric',
  boolean: 'boolean',
}

export type Operation = 'create' | 'update' | 'remove'

/**
 * The SQL of a write, the only one that changes the rows of a resource: list head, position, columns, response body, search text,
 * tallies, audit entries, versions and deliveries, of any number of records of one tenant. `$1` is the tenant, `$2` a JSON array of rows,
 * `$3` their number. An update and a removal expect that the head was locked by an earlier statement of the transaction: this one reads
 * what it replaces from the snapshot that it began with.
 *
 * The ids are given as an array beside every join, so that the index finds the records whichever side the planner begins with:
 * the plan is kept while the tables grow.
 */
export const writeStatement = (resource: ResourceName, operation: Operation): string => texts[operation](resource)

/** One text a resource: it is prepared under its text, and to build it costs more than to look it up. */
const oncePerResource = (build: (table: Table) => string): ((resource: ResourceName) => string) => {
  const built = new Map<ResourceName, string>()
  return (resource) => {
    const text = built.get(resource) ?? build(tables[resource])
    built.set(resource, text)
    return text
  }
}

const tenant = '$1'

/** The rows stay in the order in which they are given. */
const create = (table: Table): string => {
  const columns = columnsOf(table).map(({ name }) => name)
  return `
with ${head(table, '$3::bigint')}, written as (
  select ${givenRow(table)}, head.position + given.place as position, head.version + given.place as version
  from head, ${givenRows(table)}
), created as (
  insert into ${table.name} (tenant_id, position, version, class, body, ${columns.join(', ')})
  select ${tenant}, position, version, class, body, ${columns.join(', ')} from written
)${
    isSearched(table)
      ? `, texts as (
  insert into search_texts (tenant_id, resource, position, class, text)
  select ${tenant}, '${table.name}', position, class, search_text from written
)`
      : ''
  }, ${counted(table, 'select position, class, facets, 1 as change from written')}, ${audited(table, 'create')}
select id, body, position, ${told(table)} from written`
}

const update = (table: Table): string => {
  const columns = columnsOf(table).map(({ name }) => name)
  return `
with given as materialized (
  select ${givenRow(table)} from ${givenRows(table)}
), ${head(table, '0')}, ${former(table)}, written as (
  select given.*, former.position, former.class as former_class, former.facets as former_facets
  from given join former on former.id = given.id
), updated as (
  update ${table.name} as record
  set (version, class, body, ${columns.join(', ')}) =
    row (head.version + given.place, given.class, given.body, ${columns.map((name) => `given.${name}`).join(', ')})
  from head, given where record.tenant_id = ${tenant} and record.id = any (array(select id from given)) and record.id = given.id
)${
    isSearched(table)
      ? `, texts as (
  update search_texts set class = written.class, text = written.search_text
  from written
  where search_texts.tenant_id = ${tenant} and search_texts.resource = '${table.name}'
    and search_texts.position = any (array(select position from written)) and search_texts.position = written.position
    and (written.is_new_text or written.class <> written.former_class)
)`
      : ''
  }, ${counted(
    table,
    `select position, class, facets, 1 as change from written
    union all select position, former_class, former_facets, -1 from written`,
  )}, ${audited(table, 'update')}
select id, body, position, ${told(table)} from written`
}

const remove = (table: Table): string => `
with given as materialized (
  select * from json_to_recordset($2::json) as given (id uuid, ${auditColumns})
), ${head(table, '0')}, ${former(table)}, written as (
  select given.*, former.position, former.class, former.facets from given join former on former.id = given.id
), removed as (
  delete from ${table.name} as record where record.tenant_id = ${tenant} and record.id = any (array(select id from given))
), tombstones as (
  insert into removed_records (tenant_id, resource, version, id)
  select ${tenant}, '${table.name}', head.version + place, id from head, written
)${
  isSearched(table)
    ? `, texts as (
  delete from search_texts
  where tenant_id = ${tenant} and resource = '${table.name}' and position = any (array(select position from former))
)`
    : ''
}, ${counted(table, 'select position, class, facets, -1 as change from former')}, ${audited(table, 'remove')}
select id, null as body, position from former`

const texts: Record<Operation, (resource: ResourceName) => string> = {
  create: oncePerResource(create),
  update: oncePerResource(update),
  remove: oncePerResource(remove),
}

type Column = { name: string; type: string }

/** What is stored of a record beside its class and its body, which follow from it. */
export const columnsOf = ({ name }: Table): Column[] => [
  ...storedFieldsOf(name).flatMap(({ column, kind, keyColumn, keyForm }) => [
    { name: column, type: columnTypes[kind] },
    ...(keyColumn ? [{ name: keyColumn, type: keyForm === 'cents' || keyForm === 'whole' ? 'bigint' : 'text' }] : []),
  ]),
  { name: 'import_id', type: 'uuid' },
]

export const isSearched = ({ listing }: Table): boolean => listing.search.length > 0

export const auditColumns = 'place bigint, action text, author json, before json, after json'

/** What the program gives of a row. */
export const givenColumns = (table: Table): string =>
  [
    ...columnsOf(table).map(({ name, type }) => `${name} ${type}`),
    `search_text text, is_new_text boolean, is_delivered boolean, is_native boolean, delivered_user text, ${auditColumns}`,
  ].join(', ')

/** The row as it is given, and what follows from its columns. */
export const givenRow = (table: Table): string =>
  `given.*, ${classOf(table)} as class, ${table.facets('given')} as facets, ${bodyOf(table.name, 'given')} as body`

const givenRows = (table: Table): string => `json_to_recordset($2::json) as given (
    ${givenColumns(table)}
  )`

/**
 * SQL: moves the head of a list, which it locks until the commit. The first write after a start of the server, or in another place,
 * adds a timeline: the version before it, and a random name. A new head has one from its first write on.
 */
export const moveHead = (
  resource: string,
  { tenant, positions, versions }: { tenant: string; positions: string; versions: string },
): string => `insert into heads (tenant_id, resource, last, version, timelines)
  values (${tenant}, '${resource}', ${positions}, ${versions}, array['0:' || left(gen_random_uuid()::text, 8)])
  on conflict (tenant_id, resource) do update set
    last = heads.last + excluded.last,
    version = heads.version + excluded.version,
    source = source_of(heads.tenant_id),
    timelines = case when heads.source = source_of(heads.tenant_id) then heads.timelines
      else heads.timelines || (heads.version::text || ':' || split_part(excluded.timelines[1], ':', 2)) end
  returning last - ${versions} as position, version - ${versions} as version`

const head = (table: Table, positions: string): string => `head as (
  ${moveHead(table.name, { tenant, positions, versions: '$3::bigint' })}
)`

const former = (table: Table): string => `former as (
  select record.id, record.position, record.class, ${table.facets('record')} as facets from ${table.name} as record
  where record.tenant_id = ${tenant} and record.id = any (array(select id from given))
)`

const counted = (table: Table, changes: string): string => `counted as (
  insert into tallies (tenant_id, resource, facet, class, level, block, count)
  select ${tenant}, '${table.name}', facet, class, level, position >> level, sum(change)
  from (${changes}) as changed, unnest(facets) as facet, unnest(array[${tallyLevels.join(', ')}]) as level
  group by facet, class, level, position >> level
  having sum(change) <> 0
  on conflict (tenant_id, resource, facet, class, level, block) do update set count = tallies.count + excluded.count
)`

/** The values are encrypted under the key of the record, which an erasure destroys. A new record has none yet. */
const audited = (table: Table, operation: Operation): string => {
  const isNew = operation === 'create'
  const newKey = 'gen_random_bytes(32)'
  const key = `coalesce((
      select key from audit_keys
      where tenant_id = ${tenant} and resource = '${table.name}' and record_id = written.id::text
    ), ${newKey})`
  return `events as materialized (
  select id::text as record_id, place, author, action,
    '{"before":' || coalesce(before::text, 'null') || ',"after":' || coalesce(after::text, 'null') || '}' as plain,
    ${isNew ? newKey : key} as key
  from written where action is not null
), keys as (
  insert into audit_keys (tenant_id, resource, record_id, key)
  select ${tenant}, '${table.name}', record_id, key from events${isNew ? '' : ' on conflict do nothing'}
), entries as (
  insert into audit_entries (tenant_id, author, action, resource, record_id, sealed)
  select ${tenant}, author, action, '${table.name}', record_id, audit_seal(plain, key) from events${isNew ? '' : ' order by place'}
  returning number
), unchained as (
  insert into audit_waiting (tenant_id, number) select ${tenant}, number from entries
)`
}

const told = (table: Table): string => `case
    when is_delivered and exists (select from webhook_endpoints where tenant_id = ${tenant}) then ${tellEndpoints(table, tenant, 'written')}
  end as told`

/** SQL: tells of the row, which has its body. */
export const tellEndpoints = (table: Table, tenant: string, row: string): string =>
  `tell_endpoints(${tenant}, '${table.name}', '${resources[table.name].singular}.' || ${row}.action, ${row}.id,
    coalesce(left(${row}.body, -1) || ',"userId":' || ${row}.delivered_user || '}', ${row}.body), ${row}.is_native)`

/** Which lists show the record: bit n stands for the n-th of the fields that tell them apart. */
const classOf = ({ name, classFields }: Table): string => {
  const bits = classFields.map((field, bit) => {
    const { column, kind } = fieldOf(name, field)
    const isSet = kind === 'boolean' ? `coalesce(given.${column}, false)` : `(given.${column} is not null)`
    return `${isSet}::integer * ${1 << bit}`
  })
  return `(${bits.join(' + ') || '0'})::smallint`
}

/** The exact JSON of the response. */
export const bodyOf = (resource: ResourceName, row: string): string => {
  const shown = fieldsOf(resource).filter(({ isShown }) => isShown)
  const members = shown.map((field) => `${jsonOf(resource, field, row)} as "${field.name}"`)
  return `(select row_to_json(shown)::text from (select ${members.join(', ')}) as shown)`
}

const jsonOf = (resource: ResourceName, { column, kind, centsOf }: Field, row: string): string => {
  if (centsOf !== null) return `coalesce((${row}.${fieldOf(resource, centsOf).column} * 100)::bigint, 0)`
  if (kind === 'timestamp') return instantText(`${row}.${column}`)
  return kind === 'money' || kind === 'integer' ? `${row}.${column}::text` : `${row}.${column}`
}
