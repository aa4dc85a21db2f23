import { changes, changesRelation, largestPage, mostCounted, pageSizes, type ResourceName } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import { enclose } from '../../database/pg-internals/byte-rows.ts'
import { Problem } from '../../problem.ts'
import { tables } from '../tables.ts'
import {
  type Mark,
  openCursor,
  openUntalliedCursor,
  sealCursor,
  sealProgress,
  sealUntalliedCursor,
  type UntalliedMark,
} from './cursor.ts'
import { asksMore, type Filters, isUntallied, type ListQuery, readFilters } from './filters.ts'
import { type Found, pageStatement } from './page-statement.ts'
import { searchPage } from './searched-page.ts'
import { beginning, type Point, pointAt, readHead } from './timelines.ts'
import {
  type After,
  gatheringCourses,
  gatherStatement,
  isWholly,
  type Origin,
  type UntalliedFound,
  walkingCourse,
  walkStatement,
} from './untallied-page.ts'

/**
 * A page as it is sent, and what its links change in the query. These are not needed where the same was sent before: they
 * follow from the query, the body, and `next`: the position after which the next page begins, and the value there.
 */
export type Page = { body: Buffer; next: number | string | null; isOfToday: boolean; links: () => Links }
export type Links = Partial<Record<'first' | 'prev' | 'next' | 'last' | typeof changesRelation, Target>>
/** What the link changes in the query, or what it asks of another operation. */
type Target = { page: number } | { cursor: string } | { path: string; query: Readonly<Record<string, string>> }

/** What was found of a page, and where the next one begins. */
type Shown = {
  total: number | null
  items: Buffer | null
  next: After | null
  head?: string | null | undefined
}

export const listRecords = async (tenant: TenantDatabase, resource: ResourceName, query: ListQuery): Promise<Page> => {
  const size = Number(query.pageSize ?? pageSizes.default)
  const mark = await readMark(tenant, resource, query)
  const page = mark?.page ?? Number(query.page ?? 1)
  const filters = await readFilters(tenant, tables[resource], query)
  const shown = filters ? await find(tenant, resource, filters, { size, page, mark }) : nothing
  const { total, next } = shown
  const cursorKey = await tenant.cursorKey()
  const since = (): Point | null => {
    if (mark) return mark.since
    // A caller that begins with a later page may have read the ones before it at any time.
    return page === 1 ? pointOf(shown.head) : null
  }
  const seals: Seals = {
    next: (after) => {
      const context = contextOf(tenant, resource, query)
      const further = { position: after.position, page: page + 1, since: since() }
      if (!filters || !isUntallied(filters)) return sealCursor(cursorKey, context, further)
      return sealUntalliedCursor(cursorKey, context, { ...further, key: after.key, isUncounted: total === null })
    },
    changes: () => {
      const point = since()
      return point && sealProgress(cursorKey, tenant.tenantId, new Map([[resource, point]]))
    },
  }
  return {
    body: enclose('{"items":[', shown.items, `],"page":${page},"pageSize":${size},"total":${total}}`),
    next: next && (next.key === null ? next.position : `${next.position} ${next.key}`),
    isOfToday: filters?.isOfToday ?? false,
    links: () => linksOf({ resource, size, page, total, next, reaches: reachOf(filters, size) }, seals),
  }
}

type Seals = { next: (after: After) => string; changes: () => string | null }

/** Where the list stood when its first page was read. Nothing was ever written to a list without a head. */
const pointOf = (head: string | null | undefined): Point => {
  if (!head) return beginning
  const read = readHead(head)
  return pointAt(read, read.version)
}

const nothing: Shown = { total: 0, items: null, next: null }

type At = { size: number; page: number; mark: Mark | UntalliedMark | null }

const find = async (tenant: TenantDatabase, resource: ResourceName, filters: Filters, at: At): Promise<Shown> => {
  if (isUntallied(filters)) return seek(tenant, resource, filters, at)
  const table = tables[resource]
  const { search } = filters
  const place = at.mark ? { size: at.size, after: at.mark.position } : { size: at.size, skip: (at.page - 1) * at.size }
  const row = search
    ? await searchPage(tenant, table, { ...filters, search }, place)
    : (await tenant.read<Found>(pageStatement(table, filters, place)))[0]
  if (!row) return nothing
  const { total, found, last } = row
  return {
    ...row,
    total: total !== null && search && total > mostCounted ? null : total,
    // One more is looked for than a page shows.
    next: found > at.size && last !== null ? { key: null, position: last } : null,
  }
}

/** How many numbered pages the list has at most. */
const reachOf = (filters: Filters | null, size: number): number =>
  filters && isUntallied(filters) ? Math.ceil(mostCounted / size) : largestPage

/** A page of a list that is sorted or filtered by more than what is counted. */
const seek = async (tenant: TenantDatabase, resource: ResourceName, filters: Filters, at: At): Promise<Shown> => {
  const { size, page, mark } = at
  const table = tables[resource]
  if (!mark && page > reachOf(filters, size)) throw outOfReach(size)
  const after = mark && { key: 'key' in mark ? mark.key : null, position: mark.position }
  const isCounted = !(mark && 'isUncounted' in mark && mark.isUncounted)
  const place = { size, skip: mark ? 0 : (page - 1) * size, after, isCounted }
  const gather = async (origin: Origin): Promise<UntalliedFound | null> => {
    const statement = gatherStatement(table, filters, origin, place)
    const [row] = await (origin === 'search'
      ? tenant.readSlowly<UntalliedFound>(statement)
      : tenant.read<UntalliedFound>(statement))
    return row && !row.isTooMany ? row : null
  }
  if (filters.search) return shownOf((await gather('search')) ?? refuseSearch(), size)
  const course = walkingCourse(table, filters)
  if (filters.ids) return shownOf(await gather('ids'), size)
  if (isCounted && !isWholly(course, filters))
    for (const origin of gatheringCourses(table, filters)) {
      const gathered = await gather(origin)
      if (gathered) return shownOf(gathered, size)
    }
  const [walked] = await tenant.read<UntalliedFound>(walkStatement(table, filters, place))
  // A numbered page that begins after more records than one page may pass by.
  if (walked?.found === 0 && place.skip > 0 && walked.endedPosition) throw passesByTooMany()
  return shownOf(walked ?? null, size)
}

const shownOf = (row: UntalliedFound | null, size: number): Shown => {
  if (!row) return nothing
  const { total, items, found, lastKey, lastPosition, endedKey = null, endedPosition = null, head } = row
  const last = found > size && lastPosition !== null ? { key: lastKey, position: lastPosition } : null
  const ended = endedPosition === null ? null : { key: endedKey, position: endedPosition }
  return { total, items, next: last ?? ended, head }
}

const outOfReach = (size: number): Problem => {
  const detail = `Pages by number reach the first ${mostCounted.toLocaleString('en-US')} records of a list that is sorted or filtered so: with a \`pageSize\` of ${size}, ${Math.ceil(mostCounted / size)} pages. Follow the \`next\` links, whose \`cursor\` has no such limit.`
  return outOfRange('page', detail)
}

const passesByTooMany = (): Problem => {
  const detail = `This page begins after more records that the filters leave out than a page may pass by. Follow the \`next\` links from the first page, whose \`cursor\` goes on from there.`
  return outOfRange('page', detail)
}

const refuseSearch = (): never => {
  const detail = `The search finds more than ${mostCounted.toLocaleString('en-US')} records, which cannot be sorted or filtered so. Add a word.`
  throw outOfRange('search', detail)
}

const outOfRange = (parameter: string, detail: string): Problem =>
  new Problem('invalid_parameter', detail, { errors: [{ parameter, code: 'out_of_range', detail }] })

const readMark = async (
  tenant: TenantDatabase,
  resource: ResourceName,
  query: ListQuery,
): Promise<Mark | UntalliedMark | null> => {
  if (query.cursor === undefined) return null
  if (query.page !== undefined) {
    throw new Problem('invalid_parameter', 'Send either `page` or `cursor`, not both.', {
      errors: [{ parameter: 'page', code: 'conflicts', detail: 'A cursor says by itself where the page begins.' }],
    })
  }
  const open = asksMore(resource, query) ? openUntalliedCursor : openCursor
  const mark = open(await tenant.cursorKey(), contextOf(tenant, resource, query), String(query.cursor))
  if (mark) return mark
  throw new Problem('invalid_cursor', 'This cursor was changed, or made for another list or other filters.', {
    errors: [
      {
        parameter: 'cursor',
        code: 'invalid_cursor',
        detail: 'Follow `next` as it was sent, or start without a cursor.',
      },
    ],
  })
}

/** A cursor belongs to one tenant, one list and one set of filters, in whatever order they are given. */
const contextOf = (tenant: TenantDatabase, resource: ResourceName, query: ListQuery): string => {
  const { page, pageSize, cursor, ...filters } = query
  return JSON.stringify([tenant.tenantId, resource, Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))])
}

type Numbered = {
  resource: string
  size: number
  page: number
  total: number | null
  next: After | null
  reaches: number
}

const linksOf = ({ resource, size, page, total, next, reaches }: Numbered, seals: Seals): Links => {
  const last = total === null ? null : Math.max(1, Math.ceil(total / size))
  const links: Links = { first: { page: 1 } }
  if (page > 1 && page - 1 <= reaches) links.prev = { page: last === null ? page - 1 : Math.min(page - 1, last) }
  if (next !== null) links.next = { cursor: seals.next(next) }
  if (last !== null) links.last = { page: last }
  const after = next === null ? seals.changes() : null
  if (after !== null)
    links[changesRelation] = { path: changes.operations.ListChanges.path, query: { resources: resource, after } }
  return links
}
