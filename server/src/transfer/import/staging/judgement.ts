import {
  type Field,
  identifiersOf,
  importKeyOf,
  importKeysOf,
  type Predecessor,
  predecessorOf,
  type ResourceName,
  resources,
  storedFieldsOf,
} from '@masthead/contract'
import type { Statement } from '../../../database/connections/statement.ts'
import type { TenantQuery } from '../../../database/tenant-query.ts'
import type { Pace } from '../../pace.ts'
import { bitOf, otherColumn, stagingTable } from './staged-rows.ts'

/**
 * Every staged row is judged before anything is written. A refused row has its reason in `reason`; for the others the
 * table `judged_…` says whether they create a record, change one or find it unchanged, and numbers them by action.
 */
type Action = 'create' | 'change' | 'same'
export const judgementTable = (resource: ResourceName): string => `judged_${resource}`

/** The rows whose record exists already. */
const foundTable = (resource: ResourceName): string => `found_${resource}`

/** Records whose predecessor is created after them get it when it exists. */
export const lateTable = (resource: ResourceName): string => `late_predecessors_${resource}`

/** Most statements need not see all rows at once. The numbers are no parameters, so that PostgreSQL plans for so many rows. */
const inSlice = 'current_tenant() = $1 and staged.number between :first and :last'

/** How many rows of a file there are of each kind. */
export type Counts = Partial<Record<Action | 'refused', number>>

type Judging = {
  query: TenantQuery
  pace: Pace
  resource: ResourceName
  rows: number
  /** Whether one statement judges all of them, which is faster in sum. */
  isWhole?: boolean
  staged: readonly ResourceName[]
}

/** Resources come in the order in which they refer to one another. Returns the counts by file. */
export const judge = async (
  query: TenantQuery,
  pace: Pace,
  rowsOf: ReadonlyMap<ResourceName, number>,
): Promise<Map<number, Counts>> => {
  const counts = new Map<number, Counts>()
  const staged = [...rowsOf.keys()]
  for (const [resource, rows] of rowsOf) {
    const judging = { query, pace, resource, rows, staged }
    await query.withoutTenant({ text: `analyze ${stagingTable(resource)}` })
    await refuseDuplicates(judging)
    await refuseTakenIdentifiers(judging)
    await findRecords(judging)
    await refuseRepeated(judging)
    await refuseIncomplete(judging)
    await resolveReferences(judging)
    // Resolving and refusing has changed what the planner must know.
    await query.withoutTenant({ text: `analyze ${stagingTable(resource)}` })
    await decide(judging, counts)
    const predecessor = predecessorOf(resource)
    if (predecessor) await setLatePredecessorsAside(query, predecessor)
  }
  return counts
}

const inSlices = async (
  { pace, rows, isWhole = !pace.isShared() }: Judging,
  statement: string,
  work: (text: string) => Promise<unknown>,
): Promise<void> => {
  for (let first = 1, last = 0; first <= rows; first = last + 1) {
    last = isWhole ? Number.MAX_SAFE_INTEGER : first + 999
    await work(statement.replace(':first', String(first)).replace(':last', String(last)))
    await pace.rest()
  }
}

const refuseInSlices = (
  judging: Judging,
  field: string,
  reason: string,
  from: string,
  where: string,
  rule?: string,
) => {
  const { text } = refuse(judging.resource, field, reason, from, `${inSlice} and ${where}`, rule)
  return inSlices(judging, text, (text) => judging.query({ text }))
}

/** `rule` is the reason without values of the row, where it has some. */
const refuse = (
  resource: ResourceName,
  field: string,
  reason: string,
  from: string,
  where: string,
  rule?: string,
): Statement => ({
  text: `
  update ${stagingTable(resource)} as staged set field = '${field}', reason = ${reason}${rule ? `, rule = '${rule}'` : ''}
  ${from ? `from ${from}` : ''}
  where staged.reason is null and ${where}`,
})

const givesId = (resource: ResourceName): string => `staged.given & ${bitOf(resource, 'id')} <> 0`

const lineOf = (row: string): string =>
  `'line ' || ${row}.line || case when ${row}.file <> staged.file then ' of another file' else '' end`

/** Of rows with the same key, the first counts. */
const refuseDuplicates = async ({ query, resource }: Judging): Promise<void> => {
  const table = `${stagingTable(resource)} as staged`
  for (const { column, name } of importKeysOf(resource).toReversed()) {
    const where = `reason is null and ${column === 'id' ? givesId(resource) : `${column} is not null`}`
    const repeated = await query.withoutTenant({
      text: `select from ${table} where ${where} group by ${column} having count(*) > 1 limit 1`,
    })
    if (repeated.length === 0) continue
    const reason = `${lineOf('other')} || ' gives this \`${name}\` already, and the first counts'`
    const others = `(select number, first_value(line) over same as line, first_value(file) over same as file,
        row_number() over same as place
      from ${table} where ${where} window same as (partition by ${column} order by number)) as other`
    const isLater = 'other.number = staged.number and other.place > 1'
    const rule = `an earlier line gives this \`${name}\` already, and the first counts`
    await query.withoutTenant(refuse(resource, name, reason, others, isLater, rule))
  }
}

/** Neither the `id` of a record nor its business identifier ever changes. */
const refuseTakenIdentifiers = async (judging: Judging): Promise<void> => {
  const { resource } = judging
  const field = importKeyOf(resource)
  if (!field) return
  const { name, column: key } = field
  const records = `${resource} as record`
  const hasOtherId = `'the record with this \`${name}\` has the id ' || record.id`
  const isSameKey = `record.tenant_id = $1 and record.${key} = staged.${key} and ${givesId(resource)} and record.id <> staged.id`
  await refuseInSlices(
    judging,
    'id',
    hasOtherId,
    records,
    isSameKey,
    `the record with this \`${name}\` has another \`id\``,
  )
  if (!field.isIdentifier) return
  const hasOtherKey = `'the record with this \`id\` has the \`${name}\` "' || record.${key} || '"'`
  const isSameId = `record.tenant_id = $1 and record.id = staged.id and ${givesId(resource)}
    and staged.given & ${bitOf(resource, name)} <> 0 and record.${key} is not null and record.${key} is distinct from staged.${key}`
  await refuseInSlices(
    judging,
    name,
    hasOtherKey,
    records,
    isSameId,
    `the record with this \`id\` has another \`${name}\``,
  )
}

const findRecords = async (judging: Judging): Promise<void> => {
  const { query, resource } = judging
  const found = foundTable(resource)
  await query.withoutTenant({
    text: `create temp table ${found} (number bigint, record uuid, primary key (number, record))`,
  })
  for (const { column } of importKeysOf(resource)) {
    const statement = `insert into ${found} select staged.number, record.id
      from ${stagingTable(resource)} as staged join ${resource} as record
        on record.tenant_id = $1 and record.${column} = staged.${column}
      where ${inSlice} and staged.reason is null ${column === 'id' ? `and ${givesId(resource)}` : ''}
      on conflict do nothing`
    await inSlices(judging, statement, (text) => query({ text }))
  }
  await query.withoutTenant({ text: `analyze ${found}` })
}

/** Of two rows about one record, named by its `id` in one and by its key in the other, the first counts too. */
const refuseRepeated = async ({ query, resource }: Judging): Promise<void> => {
  const found = foundTable(resource)
  const repeated = await query.withoutTenant({
    text: `select from ${found} group by record having count(*) > 1 limit 1`,
  })
  if (repeated.length === 0) return
  const reason = `${lineOf('other')} || ' is about the same record, and the first counts'`
  const others = `(select found.number, first_value(row.line) over same as line, first_value(row.file) over same as file,
      row_number() over same as place
    from ${found} as found join ${stagingTable(resource)} as row on row.number = found.number
    window same as (partition by found.record order by found.number)) as other`
  const isLater = 'other.number = staged.number and other.place > 1'
  const rule = 'an earlier line is about the same record, and the first counts'
  await query.withoutTenant(refuse(resource, 'id', reason, others, isLater, rule))
  await query.withoutTenant({
    text: `delete from ${found} as found using ${stagingTable(resource)} as staged
      where staged.number = found.number and staged.reason is not null`,
  })
}

const isNew = (resource: ResourceName, row: string): string =>
  `${row}.reason is null and not exists (select from ${foundTable(resource)} as found where found.number = ${row}.number)`

/** A new record needs every field that is neither nullable nor has a default. */
const refuseIncomplete = async (judging: Judging): Promise<void> => {
  const { resource } = judging
  const needed = storedFieldsOf(resource).filter((field) => !field.isNullable && field.default === null)
  for (const { name } of needed) {
    const lacks = `staged.given & ${bitOf(resource, name)} = 0 and ${isNew(resource, 'staged')}`
    await refuseInSlices(judging, name, `'is missing, and a new record needs it'`, '', lacks)
  }
}

/** Resolves references by the other identifier, among records and rows of this import, and refuses dangling ones. */
const resolveReferences = async (judging: Judging): Promise<void> => {
  const { query, resource, staged } = judging
  const predecessor = predecessorOf(resource)
  for (const field of storedFieldsOf(resource)) {
    const { reference } = field
    if (!reference) continue
    const isStaged = staged.includes(reference)
    if (isStaged) await indexIdentifiers(query, reference)
    const statement = resolution(resource, field, reference, isStaged)
    await inSlices(judging, statement, (text) => query({ text }))
    if (field.name !== predecessor?.name) await refuseDangling(judging, field, reference, isStaged)
    else {
      await refuseSelfReference(query, predecessor)
      // A row that this refuses must still be there for those that refer to it, which are refused for another reason.
      await refuseDangling({ ...judging, isWhole: true }, field, reference, isStaged)
      await refuseSuccessors(query, predecessor)
    }
  }
}

/** Each slice of another resource looks for the rows that it refers to. */
const indexIdentifiers = async (query: TenantQuery, resource: ResourceName): Promise<void> => {
  const table = stagingTable(resource)
  for (const { column } of Object.values(identifiersOf(resource))) {
    await query.withoutTenant({ text: `create index if not exists ${table}_${column} on ${table} (${column})` })
  }
}

const refuseSelfReference = async (query: TenantQuery, predecessor: Predecessor): Promise<void> => {
  const { resource, name, column, relation } = predecessor
  const reason = `'a ${resources[resource].singular} cannot be ${relation} itself'`
  const ofRow = `staged.${column} = staged.id`
  const ofRecord = `found.number = staged.number and staged.${column} = found.record`
  await query.withoutTenant(refuse(resource, name, reason, '', ofRow))
  await query.withoutTenant(refuse(resource, name, reason, `${foundTable(resource)} as found`, ofRecord))
}

/** Refuses rows whose predecessor is a refused row that creates nothing, and so on along the chain. */
const refuseSuccessors = async (query: TenantQuery, predecessor: Predecessor): Promise<void> => {
  const { resource, name, column, relation } = predecessor
  const { singular } = resources[resource]
  const table = stagingTable(resource)
  await query.withoutTenant({ text: `create index on ${table} (${column})` })
  await query.withoutTenant({ text: `analyze ${table}` })
  const isMade = (row: string) =>
    `exists (select from ${foundTable(resource)} as found where found.number = ${row}.number)`
  const refused = refuse(
    resource,
    name,
    `'the ${singular} "' || coalesce(staged.${otherColumn(predecessor)}, gone.id::text) || '" is refused too'`,
    'gone',
    `staged.${column} = gone.id
      and not exists (select from ${resource} as record where record.tenant_id = $1 and record.id = gone.id)`,
    `the ${singular} that it was ${relation} is refused too`,
  )
  await query({
    text: `
    with recursive gone as (
      select id from ${table} as row where reason is not null and id is not null and not ${isMade('row')}
      union
      select row.id from gone join ${table} as row on row.${column} = gone.id
      where row.reason is null and not ${isMade('row')}
    )
    ${refused.text}`,
  })
}

/** Selects records that exist, or will after this import. */
const existing = (reference: ResourceName, isStaged: boolean, columns: string): string => {
  const records = `select ${columns} from ${reference} where tenant_id = $1`
  if (!isStaged) return records
  return `${records} union all select ${columns} from ${stagingTable(reference)} as row where ${isNew(reference, 'row')}`
}

const resolution = (resource: ResourceName, field: Field, reference: ResourceName, isStaged: boolean): string => {
  const { canonical, other } = identifiersOf(reference)
  return `update ${stagingTable(resource)} as staged set ${field.column} = existing.${canonical.column}
    from (${existing(reference, isStaged, `${canonical.column}, ${other.column}`)}) as existing
    where ${inSlice} and staged.reason is null and existing.${other.column} = staged.${otherColumn(field)}`
}

const refuseDangling = (judging: Judging, field: Field, reference: ResourceName, isStaged: boolean): Promise<void> => {
  const { column } = identifiersOf(reference).canonical
  const where = isStaged ? 'in this tenant or among the rows that go in' : 'in this tenant'
  const named = `coalesce(staged.${otherColumn(field)}::text, staged.${field.column}::text)`
  return refuseInSlices(
    judging,
    field.name,
    `'there is no ${resources[reference].singular} "' || ${named} || '" ${where}'`,
    '',
    `${named} is not null and not exists (select from (${existing(reference, isStaged, column)}) as existing
      where existing.${column} = staged.${field.column})`,
    `there is no such ${resources[reference].singular} ${where}`,
  )
}

const decide = async (judging: Judging, counts: Map<number, Counts>): Promise<void> => {
  const { query, resource } = judging
  const [judged, table] = [judgementTable(resource), stagingTable(resource)]
  const differs = storedFieldsOf(resource)
    .filter(({ name }) => name !== 'id')
    .map(
      ({ column, name }) =>
        `staged.given & ${bitOf(resource, name)} <> 0 and staged.${column} is distinct from record.${column}`,
    )
    .join(' or ')
  await query.withoutTenant({
    text: `create temp table ${judged} (number bigint, record uuid, action text, place bigint, primary key (action, place))`,
  })
  const statement = `
    with decided as (
      select staged.number, staged.file, found.record, case when staged.reason is not null then 'refused'
        when found.record is null then 'create' when ${differs} then 'change' else 'same' end as action
      from ${table} as staged
      left join ${foundTable(resource)} as found on found.number = staged.number and staged.reason is null
      left join ${resource} as record on record.tenant_id = $1 and record.id = found.record
      where ${inSlice}
    ), stored as (
      insert into ${judged}
      select number, record, action, ($2::json ->> action)::bigint + row_number() over (partition by action order by number)
      from decided where action <> 'refused'
    )
    select file, action, count(*) from decided group by file, action`
  const places = { create: 0, change: 0, same: 0, refused: 0 }
  await inSlices(judging, statement, async (text) => {
    type Counted = { file: number; action: keyof typeof places; count: number }
    const counted = await query<Counted>({ text, values: [JSON.stringify(places)] })
    for (const { file, action, count } of counted) {
      const ofFile = counts.get(file) ?? {}
      counts.set(file, { ...ofFile, [action]: (ofFile[action] ?? 0) + count })
      places[action] += count
    }
  })
  await query.withoutTenant({ text: `analyze ${judged}` })
}

const setLatePredecessorsAside = async (query: TenantQuery, { resource, column }: Predecessor): Promise<void> => {
  const created = (alias: string) =>
    `${stagingTable(resource)} as ${alias} join ${judgementTable(resource)} as judged_${alias}
      on judged_${alias}.number = ${alias}.number and judged_${alias}.action = 'create'`
  await query.withoutTenant({
    text: `
    create temp table ${lateTable(resource)} as
    select row_number() over () as place, one.number, one.id, one.${column}
    from ${created('one')} join (${created('predecessor')}) on predecessor.id = one.${column}
    where judged_predecessor.place > judged_one.place`,
  })
  await query.withoutTenant({
    text: `
    update ${stagingTable(resource)} as staged set ${column} = null
    from ${lateTable(resource)} as late where late.number = staged.number`,
  })
}
