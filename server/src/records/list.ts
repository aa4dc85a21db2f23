import { changes, changesRelation, mostCounted, pageSizes, type ResourceName } from '@masthead/contract'
import { enclose } from '../database/connections/byte-rows.ts'
import type { TenantDatabase } from '../database/database.ts'
import { Problem } from '../problem.ts'
import { type Mark, openCursor, sealCursor, sealProgress } from './cursor.ts'
import { type Filters, type ListQuery, readFilters } from './filters.ts'
import { type Found, pageStatement } from './page-statement.ts'
import { tables } from './tables.ts'
import { beginning, type Point, pointAt, readHead } from './timelines.ts'

/**
 * A page as it is sent, and what its links change in the query. These are not needed where the same was sent before: they
 * follow from the query, the body, and the position after which the next page begins.
 */
export type Page = { body: Buffer; next: number | null; links: () => Links }
export type Links = Partial<Record<'first' | 'prev' | 'next' | 'last' | typeof changesRelation, Target>>
/** What the link changes in the query, or what it asks of another operation. */
type Target = { page: number } | { cursor: string } | { path: string; query: Readonly<Record<string, string>> }
type Seals = { next: (position: number) => string; changes: () => string | null }

export const listRecords = async (tenant: TenantDatabase, resource: ResourceName, query: ListQuery): Promise<Page> => {
  const size = Number(query.pageSize ?? pageSizes.default)
  const mark = await readMark(tenant, resource, query)
  const page = mark?.page ?? Number(query.page ?? 1)
  const filters = await readFilters(tenant, tables[resource], query)
  const found = filters ? await find(tenant, resource, filters, { size, page, mark }) : nothing
  const total = filters?.words && found.total > mostCounted ? null : found.total
  // One more is looked for than a page shows.
  const next = found.found > size ? found.last : null
  const cursorKey = await tenant.cursorKey()
  // A caller that begins with a later page may have read the ones before it at any time.
  const first = page === 1 ? pointOf(found.head) : null
  const since = mark ? mark.since : first
  const seals: Seals = {
    next: (position) => sealCursor(cursorKey, contextOf(tenant, resource, query), { position, page: page + 1, since }),
    changes: () => since && sealProgress(cursorKey, tenant.tenantId, new Map([[resource, since]])),
  }
  return {
    body: enclose('{"items":[', found.items, `],"page":${page},"pageSize":${size},"total":${total}}`),
    next,
    links: () => linksOf({ resource, size, page, total, next }, seals),
  }
}

/** Where the list stood when its first page was read. Nothing was ever written to a list without a head. */
const pointOf = (head: string | null | undefined): Point => {
  if (!head) return beginning
  const { version, timelines } = readHead(head)
  return pointAt({ version, timelines }, version)
}

const nothing: Found = { total: 0, found: 0, items: null, last: null }

const find = async (
  tenant: TenantDatabase,
  resource: ResourceName,
  filters: Filters,
  at: { size: number; page: number; mark: Mark | null },
): Promise<Found> => {
  const statement = pageStatement(tables[resource], filters, {
    size: at.size,
    ...(at.mark ? { after: at.mark.position } : { skip: (at.page - 1) * at.size }),
  })
  const [found] = await (filters.words ? tenant.readSlowly<Found>(statement) : tenant.read<Found>(statement))
  return found ?? nothing
}

const readMark = async (tenant: TenantDatabase, resource: ResourceName, query: ListQuery): Promise<Mark | null> => {
  if (query.cursor === undefined) return null
  if (query.page !== undefined) {
    throw new Problem('invalid_parameter', 'Send either `page` or `cursor`, not both.', {
      errors: [{ parameter: 'page', code: 'conflicts', detail: 'A cursor says by itself where the page begins.' }],
    })
  }
  const mark = openCursor(await tenant.cursorKey(), contextOf(tenant, resource, query), String(query.cursor))
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

const linksOf = (
  {
    resource,
    size,
    page,
    total,
    next,
  }: { resource: string; size: number; page: number; total: number | null; next: number | null },
  seals: Seals,
): Links => {
  const last = total === null ? null : Math.max(1, Math.ceil(total / size))
  const links: Links = { first: { page: 1 } }
  if (page > 1) links.prev = { page: last === null ? page - 1 : Math.min(page - 1, last) }
  if (next !== null) links.next = { cursor: seals.next(next) }
  if (last !== null) links.last = { page: last }
  const after = next === null ? seals.changes() : null
  if (after !== null)
    links[changesRelation] = { path: changes.operations.ListChanges.path, query: { resources: resource, after } }
  return links
}
