import { mostCounted } from '@masthead/contract'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import type { Statement } from '../../database/connections/statement.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { Table } from '../tables.ts'
import type { Filters } from './filters.ts'
import { type Found, type Given, headOf, inHead, type Place } from './page-statement.ts'
import type { Search, VersionRange } from './search.ts'

/** Filters with words to search for. */
type Searching = Filters & { search: Search }

/** How many a search found in a list that ended with the position `last`. The `state` of a list stays the same while records are only added to it. */
type CachedCount = { count: number; last: number; state: string }

/** They expire after a minute, because the state does not tell of rows that were changed by hand. */
const cachedCounts = new LRUCache<string, CachedCount>({ ...atMost(2_000), ttl: 60_000, noUpdateTTL: true })

/** A page of what a search finds. Where a page is found sooner than all, their count is cached, and the next search counts only what was added since. */
export const searchPage = async (
  tenant: TenantDatabase,
  table: Table,
  filters: Searching,
  place: Place,
): Promise<Found | undefined> => {
  const { search, classes, values } = filters
  const find = async (cached: CachedCount | null): Promise<Result | undefined> =>
    (await tenant.readSlowly<Result>(searchStatement(table, filters, place, cached)))[0]
  if (!isCountCached(filters, place)) return find(null)
  const key = JSON.stringify([tenant.tenantId, table.name, search.words, classes, [...values]])
  const row = await find(cachedCounts.get(key) ?? null)
  if (row?.end) cachedCounts.set(key, { count: row.total ?? mostCounted + 1, ...readEnd(row.end) })
  return row
}

/** `end`: the position at which the list ends, and its state, where the count is cached. */
type Result = Found & { end?: string | null }

const isCountCached = (filters: Searching, place: Place): boolean =>
  uncountedAt(filters) === null && filters.search.partsFor(neededFor(place)) === null

/** What is surely found more often than is counted is not counted, unless the list has changed much. */
const uncountedAt = ({ search, values }: Searching): VersionRange | null => (values.size === 0 ? search.many : null)

/** No list is longer. */
const mostFound = 2_000_000_000

/** The matches of a page, those before it, and one more, which tells whether another page follows. */
const neededFor = ({ size, skip = 0 }: Place): number => Math.min(skip, mostFound) + size + 1

/** If more were added, all are counted again. */
const mostAdded = 5_000

/** SQL: it stays the same while records are only added, because a create moves the version of the list as far as its end. */
const state = `version - last || ' ' || array_to_string(timelines, ' ')`

const endOf = (table: Table): string => inHead(table, `last || ' ' || ${state}`)

const readEnd = (text: string): Pick<CachedCount, 'last' | 'state'> => {
  const space = text.indexOf(' ')
  return { last: Number(text.slice(0, space)), state: text.slice(space + 1) }
}

/** SQL: the positions of what a search finds after one, at most so many, by parts of its words that the index is asked for. */
export const searchedPositions = (table: Table, { search, classes, values }: Filters, given: Given) => {
  const compared = table.filterColumns.filter(({ field }) => values.has(field))
  const fields = compared.map(({ column }) => column)
  const fieldValues = compared.map(({ field }) => values.get(field))
  const words = given(search?.words)
  const others = `${given(classes)}::smallint[], ${given(fields)}, ${given(fieldValues)}`
  return (parts: string[] | null, after: string, most: string): string =>
    `search_positions('${table.name}', ${words}, ${given(parts)}::text[], ${others}, ${after}, ${most})`
}

/**
 * Positions come from the one function that can see the text. It is asked once for all of them, up to as many as are counted: where it finds
 * as many as it was asked for there are more. A page after a mark, and one whose count is cached, ask for their own positions and count apart.
 */
export const searchStatement = (
  table: Table,
  filters: Searching,
  place: Place,
  cached: CachedCount | null,
): Statement => {
  const { search } = filters
  const values: unknown[] = []
  // The door puts the tenant before these values.
  const given: Given = (value) => `$${values.push(value) + 1}`
  const positions = searchedPositions(table, filters, given)
  const find = (most: number, after: string, parts = search.partsFor(most)): string =>
    positions(parts, after, `${given(most)}::bigint`)
  const count = (after: string, parts?: null): string => `(select count(*) from ${find(mostCounted + 1, after, parts)})`
  const countSince = ({ count: before, last, state: then }: CachedCount): string => {
    const isSame = `${state} = ${given(then)} and last between ${given(last)} and ${given(last + mostAdded)}`
    return `case when ${inHead(table, isSame)}
      then ${given(before)}::bigint + ${count(`${given(last)}::bigint`, null)} else ${count('0')} end`
  }
  const skip = `${given(Math.min(place.skip ?? 0, mostFound))}::integer`
  const needed = neededFor(place)
  const isAllFound = !cached && place.after === undefined
  const many = uncountedAt(filters)
  const most = Math.max(isAllFound && !many ? mostCounted + 1 : 0, needed)
  const countUnlessMany = ({ first, last }: VersionRange): string => {
    const isAsThen = inHead(table, `version between ${given(first)} and ${given(last)}`)
    return `case when not coalesce(${isAsThen}, false) then ${count('0')} end`
  }
  const total = (): string => {
    const further = many ? countUnlessMany(many) : 'null::bigint'
    if (isAllFound) return `case when count(*) < ${given(most)}::bigint then count(*) else ${further} end`
    if (many) return further
    return cached ? countSince(cached) : count('0')
  }
  const end = `${skip} + ${given(place.size)}::integer`
  const text = `select ${total()} as total, count(*) - ${skip} as found, max(position) filter (where number <= ${end}) as last,
      string_agg(body, ',' order by position) as items${isCountCached(filters, place) ? `, ${endOf(table)} as end` : ''}${
        place.after === undefined ? `, ${headOf(table)} as head` : ''
      }
    from (
      select position, number, case when number > ${skip} and number <= ${end} then (
        select body from ${table.name}
        where tenant_id = $1 and class = any (${given(filters.classes)}::smallint[]) and position = hits.position limit 1
      ) end as body
      from ${find(most, `${given(place.after ?? 0)}::bigint`)} with ordinality as hits (position, number)
    ) as hits`
  return { text, values, ...((cached || search.partsFor(most)) && { isLikelyQuick: true }) }
}
