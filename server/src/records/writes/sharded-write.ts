import { type ResourceName, resourceNames } from '@masthead/contract'
import { tallyLevels } from '../../database/tally-levels.ts'
import { type Table, tables } from '../tables.ts'
import {
  auditColumns,
  columnsOf,
  givenColumns,
  givenRow,
  isSearched,
  moveHead,
  type Operation,
  tellEndpoints,
} from './write-statement.ts'

/**
 * The same writes for a database whose tables are sharded. Citus takes no statement that inserts into several tables, so a function of
 * the coordinator sends one for each.
 */
export const shardedWrite = (resource: ResourceName, operation: Operation): string =>
  `select id, body, position from ${nameOf(resource, operation)}($1, $2, $3)`

const nameOf = (resource: ResourceName, operation: Operation): string => `${operation}_${resource}`

/** SQL that makes the functions, anew where the contract has changed. */
export const shardedWriteFunctions = (): string[] =>
  resourceNames.flatMap((name) => [create(tables[name]), update(tables[name]), remove(tables[name])])

const define = (table: Table, operation: Operation, body: string): string => `
create or replace function ${nameOf(table.name, operation)}(tenant uuid, rows json, number bigint)
returns table (id uuid, body text, "position" bigint) language plpgsql set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  head record;
  given record;
  former record;
  counted record;
  facets text[] := '{}';
  classes smallint[] := '{}';
  positions bigint[] := '{}';
  changes integer[] := '{}';
begin
${body}
end $$`

const advance = (table: Table, positions: string): string => `
  ${moveHead(table.name, { tenant: 'tenant', positions, versions: 'number' })} into head;`

const eachRow = (table: Table, work: string): string => `
  for given in select ${givenRow(table)} from json_to_recordset(rows) as given (${givenColumns(table)}) order by place
  loop${work}
  end loop;`

/** Notes that the record counts, or no longer counts, in its facets. */
const count = (row: 'given' | 'former', position: string, change: 1 | -1): string => `
    facets := facets || ${row}.facets;
    classes := classes || array_fill(${row}.class, array[cardinality(${row}.facets)]);
    positions := positions || array_fill(${position}, array[cardinality(${row}.facets)]);
    changes := changes || array_fill(${change}, array[cardinality(${row}.facets)]);`

const answer = (body: string, position: string): string => `
    id := given.id;
    body := ${body};
    position := ${position};
    return next;`

/** What stands after the rows: tallies, audit entries and deliveries. */
const tell = (table: Table): string => `
  for counted in
    select facet, class, level, position >> level as block, sum(change) as change
    from unnest(facets, classes, positions, changes) as changed (facet, class, position, change),
      unnest(array[${tallyLevels.join(', ')}]) as level
    group by facet, class, level, position >> level having sum(change) <> 0
    order by facet, class, level, position >> level
  loop
    insert into tallies (tenant_id, resource, facet, class, level, block, count)
    values (tenant, '${table.name}', counted.facet, counted.class, counted.level, counted.block, counted.change)
    on conflict (tenant_id, resource, facet, class, level, block) do update set count = tallies.count + excluded.count;
  end loop;
  perform append_to_audit(tenant, null, (
    select json_agg(json_build_object('author', author, 'action', action, 'resource', '${table.name}', 'record_id', id,
      'before', before, 'after', after) order by place)
    from json_to_recordset(rows) as given (id uuid, ${auditColumns}) where action is not null and author is not null));`

const deliver = (table: Table): string => `
  if exists (select from json_to_recordset(rows) as given (is_delivered boolean) where is_delivered) then
    perform from webhook_endpoints where tenant_id = tenant;
    if found then${eachRow(
      table,
      `
      if given.is_delivered then
        perform ${tellEndpoints(table, 'tenant', 'given')};
      end if;`,
    )}
    end if;
  end if;`

/** Rows go to the shard of the tenant in one statement where they are selected beside a row of it, which the head is. */
const insertAll = (table: Table, into: string, columns: string): string => `
  insert into ${into}
  select list.tenant_id, ${columns}
  from heads as list, (
    select ${givenRow(table)} from json_to_recordset(rows) as given (${givenColumns(table)})
  ) as given
  where list.tenant_id = tenant and list.resource = '${table.name}';`

const create = (table: Table): string => {
  const columns = columnsOf(table).map(({ name }) => name)
  const [position, version] = ['list.last - number + given.place', 'list.version - number + given.place']
  const records = insertAll(
    table,
    `${table.name} (tenant_id, position, version, class, body, ${columns.join(', ')})`,
    `${position}, ${version}, given.class, given.body, ${columns.map((name) => `given.${name}`).join(', ')}`,
  )
  const texts = insertAll(
    table,
    'search_texts (tenant_id, resource, position, class, text)',
    `'${table.name}', ${position}, given.class, given.search_text`,
  )
  const row = `${count('given', 'head.position + given.place', 1)}${answer('given.body', 'head.position + given.place')}`
  return define(
    table,
    'create',
    `${advance(table, 'number')}${records}${isSearched(table) ? texts : ''}${eachRow(table, row)}${tell(table)}${deliver(table)}`,
  )
}

const update = (table: Table): string => {
  const columns = columnsOf(table).map(({ name }) => name)
  const text = `
    if given.is_new_text or given.class <> former.class then
      update search_texts set class = given.class, text = given.search_text
      where tenant_id = tenant and resource = '${table.name}' and position = former.position;
    end if;`
  const row = `${readFormer(table)}
    update ${table.name} set version = head.version + given.place, class = given.class, body = given.body,
      ${columns.map((name) => `${name} = given.${name}`).join(', ')}
    where tenant_id = tenant and id = given.id;${isSearched(table) ? text : ''}${count('given', 'former.position', 1)}${count(
      'former',
      'former.position',
      -1,
    )}${answer('given.body', 'former.position')}`
  return define(table, 'update', `${advance(table, '0')}${eachRow(table, row)}${tell(table)}${deliver(table)}`)
}

const remove = (table: Table): string => {
  const text = `
    delete from search_texts where tenant_id = tenant and resource = '${table.name}' and position = former.position;`
  const rows = `
  for given in select * from json_to_recordset(rows) as given (id uuid, ${auditColumns}) order by place
  loop${readFormer(table)}
    delete from ${table.name} where tenant_id = tenant and id = given.id;
    insert into removed_records (tenant_id, resource, version, id)
    values (tenant, '${table.name}', head.version + given.place, given.id);${
      isSearched(table) ? text : ''
    }${count('former', 'former.position', -1)}${answer('null', 'former.position')}
  end loop;`
  return define(table, 'remove', `${advance(table, '0')}${rows}${tell(table)}`)
}

const readFormer = (table: Table): string => `
    select record.position, record.class, ${table.facets('record')} as facets into former from ${table.name} as record
    where record.tenant_id = tenant and record.id = given.id;
    continue when not found;`
