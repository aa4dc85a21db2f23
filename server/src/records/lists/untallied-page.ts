import { mostCounted } from '@masthead/contract'
import type { Statement } from '../../database/connections/statement.ts'
import { instantText } from '../stored-record.ts'
import { hasFacet, type Path, type Table } from '../tables.ts'
import type { Condition, Filters, Sort } from './filters.ts'
import { type Given, headOf, totalOf } from './page-statement.ts'
import { searchedPositions } from './searched-page.ts'

/**
 * Pages of lists that are sorted, or filtered by fields of which no totals are kept. There are two ways to such a page, each bounded
 * whatever the size of the list:
 *
 * - **Gather**: an index leads to all records that some of the filters leave, at most 10,000. Among these the others are sought, counted
 *   and sorted.
 * - **Walk**: an index leads through the list in the order that is asked for, from where the page before ended. Records that a filter
 *   leaves out are passed by, at most 10,000 for a page: where so many are, the page ends early, and the next one goes on from there.
 */

/** After this record of the order: its value in the text form of `keyText`, null where it has none. */
export type After = { key: string | null; position: number }

/** `isCounted`: not where an earlier page of the walk has found that there are too many. */
type UntalliedPlace = { size: number; skip: number; after: After | null; isCounted: boolean }

/** One row. `isTooMany`: the page has not been gathered. `ended`: after so many records were passed by, the page ended here. */
export type UntalliedFound = {
  total: number | null
  found: number
  items: Buffer | null
  lastKey: string | null
  lastPosition: number | null
  endedKey?: string | null
  endedPosition?: number | null
  isTooMany?: boolean
  head?: string | null
}

/** A path with what it compares, and what remains to be compared of each record on it. */
type Course = { path: Path; equal: Condition[]; bounds: Condition[]; rest: Condition[] }

/** All that is compared by the value of one column. */
const conditionsOf = (table: Table, { values, conditions }: Filters): Condition[] => [
  ...table.filterColumns.flatMap(({ field, column }) => {
    const value = values.get(field)
    return value === undefined ? [] : [{ column, by: '=' as const, value }]
  }),
  ...conditions,
]

const compared = (conditions: readonly Condition[], given: Given): string =>
  conditions.map(({ column, by, value }) => `and ${column} ${by} ${given(value)}`).join(' ')

const notLate = ({ notOverdue }: Filters, given: Given): string =>
  notOverdue
    ? `and (${notOverdue.open} is distinct from 1 or ${notOverdue.day} is null or ${notOverdue.day} >= ${given(notOverdue.today)})`
    : ''

/** SQL: all that filters ask of a record beside its class and a search, each with `and` before it. */
export const filterConditions = (table: Table, filters: Filters, given: Given): string =>
  [
    compared(conditionsOf(table, filters), given),
    notLate(filters, given),
    filters.ids ? `and id = any (${given(filters.ids)}::uuid[])` : '',
  ]
    .filter(Boolean)
    .join(' ')

/** How a path can be taken; null where it compares what nobody asked for. */
const courseAlong = (path: Path, conditions: Condition[]): Course | null => {
  const equal = path.equal.map((column) => conditions.find((one) => one.by === '=' && one.column === column))
  if (!equal.every((one) => one !== undefined)) return null
  const bounds = conditions.filter((one) => one.column === path.order)
  const rest = conditions.filter((one) => !equal.includes(one) && !bounds.includes(one))
  return { path, equal, bounds, rest }
}

const coursesOf = (table: Table, filters: Filters): Course[] => {
  const conditions = conditionsOf(table, filters)
  return table.paths
    .flatMap((path) => courseAlong(path, conditions) ?? [])
    .toSorted((one, other) => one.rest.length - other.rest.length)
}

/** Those that lead to fewer records than all, the narrowest first; all, where there is none. */
export const gatheringCourses = (table: Table, filters: Filters): Course[] => {
  const courses = coursesOf(table, filters)
  const narrower = courses.filter(({ equal, bounds }) => equal.length > 0 || bounds.length > 0)
  return narrower.length > 0 ? narrower : courses.slice(0, 1)
}

/** The one in the order of the list that passes the fewest by. */
export const walkingCourse = (table: Table, filters: Filters): Course => {
  const order = filters.sort?.column ?? null
  const course = coursesOf(table, filters).find(({ path }) => path.order === order)
  if (!course) throw new Error(`there is no way through ${table.name} in the order of ${order}`)
  return course
}

/** Whether the course leaves nothing to compare. */
export const isWholly = ({ rest }: Course, { notOverdue }: Filters): boolean => rest.length === 0 && notOverdue === null

/** What a value is in a cursor. */
const keyText = ({ kind }: Sort, key: string): string => {
  if (kind === 'timestamp') return instantText(key)
  return kind === 'date' ? `to_char(${key}, 'YYYY-MM-DD')` : `${key}::text`
}

/** One statement, whose parts number the values that they give. */
class Writing {
  readonly values: unknown[] = []
  readonly table: Table
  readonly filters: Filters
  readonly sort: Sort | null

  constructor(table: Table, filters: Filters) {
    this.table = table
    this.filters = filters
    this.sort = filters.sort
  }

  // The door puts the tenant before these values.
  readonly given: Given = (value) => `$${this.values.push(value) + 1}`

  compare(conditions: readonly Condition[]): string {
    return compared(conditions, this.given)
  }

  /** SQL: whether a record is one of those that are asked for, beside what its course compares. */
  matches(rest: readonly Condition[]): string {
    return `(true ${this.compare(rest)} ${notLate(this.filters, this.given)}) is true`
  }

  get direction(): 'asc' | 'desc' {
    return this.sort?.isDescending ? 'desc' : 'asc'
  }

  /** Records without a value come last, in whichever direction. */
  get order(): string {
    return this.sort ? `key is null, key ${this.direction}, position ${this.direction}` : 'position'
  }

  /** SQL: the columns of a record that a page needs, beside those of its body. */
  columns(rest: readonly Condition[]): string {
    return `class, position, ${this.sort?.column ?? 'null::text'} as key, ${this.matches(rest)} as matches`
  }

  /** SQL: rows in an order, of one class or of several, which are merged. */
  ofClasses(conditions: string, columns: string, order: string, mergedOrder: string, most: number): string {
    const { classes } = this.filters
    const rows = (visibility: string, limit: number) => `select ${columns} from ${this.table.name}
      where tenant_id = $1 and class = ${visibility} ${conditions} order by ${order} limit ${limit}`
    if (classes.length === 1) return `(${rows(`(${this.given(classes)}::smallint[])[1]`, most)})`
    return `(select merged.* from unnest(${this.given(classes)}::smallint[]) as visible (visibility), lateral (
      ${rows('visible.visibility', most)}) as merged order by ${mergedOrder} limit ${most})`
  }

  /** SQL: the page, of `hits` that are numbered from 1 in its order. */
  page(size: number, more: string): string {
    const shown = `filter (where number <= ${this.given(size)})`
    const key = this.sort ? `(array_agg(${keyText(this.sort, 'key')} order by number desc) ${shown})[1]` : 'null::text'
    return `select page.*, ${more} from (
      select count(*)::integer as found, string_agg(record.body, ',' order by number) ${shown} as items,
        ${key} as "lastKey", (array_agg(hits.position order by number desc) ${shown})[1] as "lastPosition"
      from hits, lateral (
        select body from ${this.table.name} where tenant_id = $1 and class = hits.class and position = hits.position limit 1
      ) as record
    ) as page`
  }
}

/** From where all records are gathered: along a course, by their ids, or by a search. */
export type Origin = Course | 'ids' | 'search'

export const gatherStatement = (
  table: Table,
  filters: Filters,
  origin: Origin,
  { size, skip, after }: UntalliedPlace,
): Statement => {
  const writing = new Writing(table, filters)
  const { given } = writing
  const gathered = gatheredRows(writing, origin)
  const later = after === null ? '' : laterThan(writing, after)
  const text = `with gathered as materialized (${gathered}), total as (
      select count(*) > ${mostCounted} as "isTooMany", count(*) filter (where matches) as total from gathered
    ), hits as materialized (
      select class, position, key, row_number() over (order by ${writing.order}) as number from (
        select class, position, key from gathered, total where matches and not "isTooMany" ${later}
        order by ${writing.order} offset ${given(skip)} limit ${given(size + 1)}
      ) as shown
    )
    ${writing.page(size, `total.*${after === null ? `, ${headOf(table)} as head` : ''}`)}, total`
  return { text, values: writing.values, isPlannedEachTime: true }
}

const laterThan = ({ sort, given }: Writing, { key, position }: After): string => {
  const [sign, place] = [sort?.isDescending ? '<' : '>', given(position)]
  if (!sort) return `and position > ${place}`
  if (key === null) return `and key is null and position ${sign} ${place}`
  return `and (key is null or (key, position) ${sign} (${given(key)}, ${place}))`
}

const gatheredRows = (writing: Writing, origin: Origin): string => {
  const { table, filters, given } = writing
  const most = mostCounted + 1
  if (origin === 'ids' || origin === 'search') {
    const rest = conditionsOf(table, filters)
    const among =
      origin === 'ids'
        ? `id = any (${given(filters.ids)}::uuid[])`
        : `position in (select position from ${searchedPositions(table, filters, given)(filters.search?.partsFor(most) ?? null, '0', String(most))} as position)`
    const both = origin === 'search' && filters.ids ? `and id = any (${given(filters.ids)}::uuid[])` : ''
    return `select ${writing.columns(rest)} from ${table.name}
      where tenant_id = $1 and class = any (${given(filters.classes)}::smallint[]) and ${among} ${both}`
  }
  const { path, equal, bounds, rest } = origin
  const conditions = writing.compare([...equal, ...bounds])
  const order = path.order ?? 'position'
  return writing.ofClasses(conditions, `${writing.columns(rest)}, ${order} as along`, order, 'along', most)
}

export const walkStatement = (
  table: Table,
  filters: Filters,
  { size, skip, after, isCounted }: UntalliedPlace,
): Statement => {
  const writing = new Writing(table, filters)
  const { given } = writing
  const course = walkingCourse(table, filters)
  const wholly = isWholly(course, filters)
  const most = wholly ? skip + size + 1 : skip + mostCounted
  const rows = walkedRows(writing, course, after, most)
  const total = wholly && isCounted ? countAlong(writing, course) : 'null::bigint'
  const key = writing.sort ? keyText(writing.sort, 'key') : 'null::text'
  // Where the page is not full though as many were looked at as may be, it ends with the last of these.
  const ended = () => `left join lateral (
      select ${key} as "endedKey", position as "endedPosition" from (${rows}) as looked_at
      where page.found <= ${given(size)} offset ${most - 1} limit 1
    ) as ended on true`
  const more = [
    `${total} as total`,
    ...(wholly ? [] : ['ended.*']),
    ...(after === null ? [`${headOf(table)} as head`] : []),
  ]
  const text = `with hits as materialized (
      select class, position, key, row_number() over (order by ${writing.order}) as number from (
        select class, position, key from (${rows}) as looked_at where matches offset ${given(skip)} limit ${given(size + 1)}
      ) as shown
    )
    ${writing.page(size, more.join(', '))} ${wholly ? '' : ended()}`
  return { text, values: writing.values, isPlannedEachTime: true }
}

/** SQL: first the records with a value, then those without. */
const walkedRows = (writing: Writing, { equal, bounds, rest }: Course, after: After | null, most: number): string => {
  const { sort, given, direction } = writing
  const conditions = writing.compare([...equal, ...bounds])
  const columns = writing.columns(rest)
  const sign = sort?.isDescending ? '<' : '>'
  const byPosition = `position ${direction}`
  if (!sort) {
    const later = after === null ? '' : `and position > ${given(after.position)}`
    return writing.ofClasses(`${conditions} ${later}`, columns, byPosition, byPosition, most)
  }
  const withValue = (later: string) =>
    writing.ofClasses(
      `${conditions} ${later}`,
      columns,
      `${sort.column} ${direction}, ${byPosition}`,
      `key ${direction}, ${byPosition}`,
      most,
    )
  const withoutValue = (later: string) =>
    writing.ofClasses(`${conditions} and ${sort.column} is null ${later}`, columns, byPosition, byPosition, most)
  if (after?.key === null) return withoutValue(`and position ${sign} ${given(after.position)}`)
  // Said also beside a comparison, which an index of the values that there are is not used for otherwise.
  const isThere = `and ${sort.column} is not null`
  const later =
    after === null
      ? isThere
      : `${isThere} and (${sort.column}, position) ${sign} (${given(after.key)}, ${given(after.position)})`
  // What has no value lies in no range.
  if (bounds.length > 0) return withValue(later)
  return `select * from (${withValue(later)} union all ${withoutValue('')}) as both_parts limit ${most}`
}

/** SQL: how many there are; more than are counted to the end are null. */
const countAlong = (writing: Writing, { path, equal, bounds }: Course): string => {
  const { table, filters, given } = writing
  const isKept = bounds.length === 0 && equal.length === filters.values.size && hasFacet(table, filters.values)
  if (isKept && filters.conditions.length === 0)
    return `(select nullif(least(total, ${mostCounted + 1}), ${mostCounted + 1}) from (${totalOf(table, filters, given)}) as kept)`
  const order = path.order ?? 'position'
  const rows = writing.ofClasses(
    writing.compare([...equal, ...bounds]),
    `${order} as along`,
    order,
    'along',
    mostCounted + 1,
  )
  return `(select nullif(count(*), ${mostCounted + 1}) from (${rows}) as counted)`
}
