import type { Statement } from '../../database/connections/statement.ts'
import { tallyLevels, totalLevel } from '../../database/tally-levels.ts'
import { facetOf, hasFacet, type Table } from '../tables.ts'
import type { Filters } from './filters.ts'

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
  const source = sourceOf(table, filters, given)
  const text =
    place.skip === undefined
      ? afterMark(source, `${given(place.after)}::bigint`, size)
      : byNumber(source, place.skip, given(place.skip), size)
  return { text, values }
}

export type Given = (value: unknown) => string

/** SQL: what the head of a list says; null where nothing was ever written. */
export const inHead = (table: Table, expression: string): string => `(
      select ${expression} from heads where tenant_id = $1 and resource = '${table.name}' limit 1
    )`

export const headOf = (table: Table): string => inHead(table, `version || ' ' || array_to_string(timelines, ' ')`)

/** The total says by itself whether more follows, so no row need be numbered. */
const byNumber = (source: Source, skipped: number, skip: string, size: string): string => {
  const start = skipped === 0 ? '0' : `(${startAfter(source, skipped, skip)})`
  return `select total.total, total.total - ${skip}::bigint as found, page.*, ${headOf(source.table)} as head from (${totalIn(source)}) as total, (
      select string_agg(body, ',' order by position) as items, max(position) as last
      from (${rowsFrom(start, source, `${size}::bigint`)}) as page_rows
    ) as page`
}

/** A mark does not say how many records precede the page: one row more than the page has tells whether more follow. */
const afterMark = (source: Source, after: string, size: string): string =>
  `select total.total, page.* from (${totalIn(source)}) as total, (
      select count(*)::integer as found,
        string_agg(body, ',' order by position) filter (where number <= ${size}) as items,
        max(position) filter (where number <= ${size}) as last
      from (
        select position, body, row_number() over (order by position) as number
        from (${rowsFrom(`${after} + 1`, source, `${size}::bigint + 1`)}) as page_rows
      ) as numbered
    ) as page`

/** The total that is kept of the filters that have one. */
export const totalOf = (table: Table, filters: Filters, given: Given): string =>
  keptTotal(tallyOf(table, filters, `${given(filters.classes)}::smallint[]`, given))

const totalIn = ({ table, classes, conditions, tally }: Source): string =>
  tally === null
    ? `select count(*) as total from ${table.name} where tenant_id = $1 and class = any (${classes}) ${conditions}`
    : keptTotal(tally)

const keptTotal = (tally: string): string =>
  `select coalesce(sum(count), 0)::bigint as total ${tally} and level = ${totalLevel}`

const tallyOf = (table: Table, filters: Filters, classes: string, given: Given): string => {
  const ofClass = filters.classes.length === 1 ? `class = (${classes})[1]` : `class = any (${classes})`
  const facet = given(facetOf(table, filters.values))
  return `from tallies where tenant_id = $1 and resource = '${table.name}' and facet = ${facet} and ${ofClass}`
}

const [finest, middle, coarse] = tallyLevels

/**
 * The way to a record begins where few blocks precede it, by how many records do: what was deleted before it makes them
 * more, but not so many. In the first block the records themselves are skipped, in their index.
 */
const startAfter = (source: Source, skipped: number, skip: string): string => {
  const { tally } = source
  if (tally === null || skipped < 2 ** finest) return startByCounting(source, skip)
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

const startByCounting = (source: Source, skip: string): string =>
  `${inOrder(source, 'position', '0', `${skip}::bigint + 1`)} offset ${skip}::bigint limit 1`

/** `tally`: the sums that are kept; null where none are, and the records are counted in their index. */
type Source = { table: Table; classes: string; single: boolean; conditions: string; tally: string | null }

const sourceOf = (table: Table, filters: Filters, given: Given): Source => {
  const { values } = filters
  const classes = `${given(filters.classes)}::smallint[]`
  const compared = table.filterColumns
    .filter(({ field }) => values.has(field))
    .map(({ field, column }) => `and ${column} = ${given(values.get(field))}`)
  const tally = hasFacet(table, values) ? tallyOf(table, filters, classes, given) : null
  return { table, classes, single: filters.classes.length === 1, conditions: compared.join(' '), tally }
}

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
