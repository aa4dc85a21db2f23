import type { Statement } from '../database/connections/connection.ts'
import type { Filters } from './filters.ts'
import { facetOf, type Table } from './tables.ts'
import { tallyLevels } from './write-statement.ts'

/**
 * What a page statement answers: one row. `total` is null where nobody counted. `found` is more than asked for when there are further records. The first page of a walk also
 * has the head of the list: its version and timelines, separated by spaces; null where nothing was ever written.
 */
export type Found = {
  total: number | null
  found: number
  items: Buffer | null
  last: number | null
  head?: string | null
}

/** Where a page begins: so many records in, or after a position. */
export type Place =
  | { size: number; skip: number; after?: undefined }
  | { size: number; after: number; skip?: undefined }

/**
 * The page and its total in one statement, hence of one moment, where nothing is searched for. The rows are found in three steps, each by an index:
 * where the page begins, the rows from there on, and the total.
 */
export const pageStatement = (table: Table, filters: Filters, place: Place): Statement => {
  const values: unknown[] = []
  // The door puts the tenant before these values.
  const given = (value: unknown): string => `$${values.push(value) + 1}`
  const size = given(place.size)
  if (place.skip !== undefined && filters.account === null)
    return { text: byNumber(table, filters, place.skip, size, given), values }
  const page =
    filters.account === null && place.after !== undefined
      ? tallied(table, filters, place.after, size, given)
      : counted(table, filters, place, size, given)
  const text = `${page}
    select total.total, page.*${place.skip === undefined ? '' : `, ${headOf(table)} as head`} from total, (
      select count(*)::integer as found,
        string_agg(body, ',' order by position) filter (where number <= ${size}) as items,
        max(position) filter (where number <= ${size}) as last
      from (select position, body, row_number() over (order by position) as number from page_rows) as numbered
    ) as page`
  return { text, values }
}

export type Given = (value: unknown) => string

/** SQL: what the head of a list says; null where nothing was ever written. */
export const inHead = (table: Table, expression: string): string => `(
      select ${expression} from heads where tenant_id = $1 and resource = '${table.name}' limit 1
    )`

export const headOf = (table: Table): string => inHead(table, `version || ' ' || array_to_string(timelines, ' ')`)

/** The total, which is kept, says by itself whether more follows, so no row need be numbered. */
const byNumber = (table: Table, filters: Filters, skipped: number, size: string, given: Given): string => {
  const source = sourceOf(table, filters, given)
  const tally = tallyOf(table, filters, source, given)
  const skip = given(skipped)
  const start = skipped === 0 ? '0' : `(${startAfter(source, tally, skipped, skip)})`
  const rows = rowsFrom(start, source, `${size}::bigint`)
  return `select total.total, total.total - ${skip}::bigint as found, page.*, ${headOf(table)} as head from (${totalIn(tally)}) as total, (
      select string_agg(body, ',' order by position) as items, max(position) as last from (${rows}) as page_rows
    ) as page`
}

/** The total is kept, and a mark says where the page begins. */
const tallied = (table: Table, filters: Filters, after: number, size: string, given: Given): string => {
  const source = sourceOf(table, filters, given)
  return `with total as (${totalIn(tallyOf(table, filters, source, given))}),
    page_rows as (${rowsFrom(`${given(after)}::bigint + 1`, source, `${size}::bigint + 1`)})`
}

const tallyOf = (table: Table, filters: Filters, source: Source, given: Given): string => {
  const facet = given(facetOf(table, filters.values))
  const ofClass = source.single ? `class = (${source.classes})[1]` : `class = any (${source.classes})`
  return `from tallies where tenant_id = $1 and resource = '${table.name}' and facet = ${facet} and ${ofClass}`
}

/** The total that is kept. */
export const totalOf = (table: Table, filters: Filters, given: Given): string =>
  totalIn(tallyOf(table, filters, sourceOf(table, { ...filters, values: new Map(), account: null }, given), given))

const totalIn = (tally: string): string =>
  `select coalesce(sum(count), 0)::bigint as total ${tally} and level = ${totalLevel}`

const [finest, middle, coarse, totalLevel] = tallyLevels

/**
 * The way to a record begins where few blocks precede it, by how many records do: what was deleted before it makes them
 * more, but not so many. In the first block the records themselves are skipped, in their index.
 */
const startAfter = (source: Source, tally: string, skipped: number, skip: string): string => {
  if (skipped < 2 ** finest) return startByCounting(source, skip)
  return startInBlock(source, tally, skip, skipped < 2 ** coarse ? [middle, finest] : [coarse, middle, finest])
}

/**
 * From the coarsest blocks to the finest: in each level the first block that holds the record, and what to skip inside it.
 * Few plan nodes: to set them up costs more than to read the rows. Hence no level above those that the record needs, and
 * no grouping where there is one class, whose blocks come in order from the index and are read no further than needed.
 */
const startInBlock = (source: Source, tally: string, skip: string, levels: readonly number[]): string => {
  let blocks = `select 0::bigint as block, ${skip}::bigint as skip`
  for (const [index, level] of levels.entries()) {
    const parent = levels[index - 1]
    const range =
      parent === undefined
        ? 'block >= 0'
        : `block between parent.block << ${parent - level} and (parent.block + 1 << ${parent - level}) - 1`
    const rows = `${tally} and level = ${level} and ${range}`
    const counts = source.single
      ? `select block, count::integer as count ${rows}`
      : `select block, sum(count::integer)::integer as count ${rows} group by block`
    blocks = `select found.block, parent.skip - found.before as skip from (${blocks}) as parent, lateral (
        select block, before from (
          select block, count, sum(count) over (order by block rows unbounded preceding) - count as before
          from (${counts}) as counts
        ) as sums where before + count > parent.skip order by block limit 1
      ) as found`
  }
  return `select (${inOrder(source, 'position', `block << ${finest}`, 'skip + 1')} offset skip limit 1) as position
    from (${blocks}) as blocks`
}

/** Inside an account no sums are kept: its records are counted in its index. */
const counted = (table: Table, filters: Filters, place: Place, size: string, given: Given): string => {
  const source = sourceOf(table, filters, given)
  const start =
    place.after !== undefined ? `${given(place.after)}::bigint + 1` : `(${startByCounting(source, given(place.skip))})`
  return `with total as (
      select count(*) as total from ${table.name} where tenant_id = $1 and class = any (${source.classes}) ${source.conditions}
    ),
    page_rows as (${rowsFrom(start, source, `${size}::bigint + 1`)})`
}

const startByCounting = (source: Source, skip: string): string =>
  `${inOrder(source, 'position', '0', `${skip}::bigint + 1`)} offset ${skip}::bigint limit 1`

type Source = { table: Table; classes: string; single: boolean; conditions: string }

const sourceOf = (table: Table, filters: Filters, given: Given): Source => ({
  table,
  classes: `${given(filters.classes)}::smallint[]`,
  single: filters.classes.length === 1,
  conditions: [
    ...table.filterColumns
      .filter(({ field }) => filters.values.has(field))
      .map(({ field, column }) => `and ${column} = ${given(filters.values.get(field))}`),
    ...(filters.account === null ? [] : [`and account_id = ${given(filters.account)}`]),
  ].join(' '),
})

const rowsFrom = (start: string, source: Source, most: string): string =>
  `${inOrder(source, 'position, body', start, most)} limit ${most}`

/** The first rows from a position on. An index ends in (class, position), so several classes are read side by side and merged. */
const inOrder = (source: Source, columns: string, from: string, most: string): string => {
  const rows = (visibility: string) =>
    `select ${columns} from ${source.table.name}
      where tenant_id = $1 and class = ${visibility} ${source.conditions} and position >= ${from} order by position`
  return source.single
    ? rows(`(${source.classes})[1]`)
    : `select ${columns} from unnest(${source.classes}) as visible (visibility), lateral (${rows('visible.visibility')} limit ${most}) as merged order by position`
}
