import { setImmediate as nextTurn } from 'node:timers/promises'
import { changePages, type ListedName } from '@masthead/contract'
import type { Statement } from '../../database/connections/statement.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { enclose } from '../../database/pg-internals/byte-rows.ts'
import { Problem } from '../../problem.ts'
import { type ChangeRow, changesStatement } from './changes-statement.ts'
import { openProgress, type Progress, sealProgress } from './cursor.ts'
import { isKept, type ListHead, type Point, pointAt } from './timelines.ts'

type ChangesQuery = { after?: string; limit?: number }

/** A page of changes as it is sent, and what a stream sends instead. */
type ChangesPage = { body: Buffer; news: News }

/** What a caller who follows has not got yet. */
export type News = {
  isEmpty: boolean
  hasMore: boolean
  /** Of everything up to the end of this page. */
  cursor: string
  /** Each with the cursor after it. */
  events: () => Event[]
}
export type Event = { name: string; id: string; data: Buffer }

/** What was written and removed in these lists after a cursor. The database is asked once, so it is all of one moment. */
export const readChanges = async (
  tenant: TenantDatabase,
  resources: readonly ListedName[],
  { after, limit = changePages.default }: ChangesQuery,
): Promise<ChangesPage> => {
  const key = await tenant.cursorKey()
  const progress: Progress | null = after === undefined ? new Map() : openProgress(key, tenant.tenantId, after)
  if (!progress) throw invalidCursor('This cursor was changed, or made for another tenant.')
  const versions = new Map(resources.map((name) => [name, progress.get(name)?.version ?? 0]))
  const rows = await readTogether(tenant, changesStatement(versions, limit + 1))
  const heads = new Map<string, ListHead>()
  for (const { resource, version, timelines } of rows)
    if (timelines !== null) heads.set(resource, { version, timelines })
  requireKept(heads, progress)
  const found: Item[] = rows.flatMap(({ resource, version, body }) => (body ? [{ resource, version, body }] : []))
  const items = found.slice(0, limit)
  const pointOf = ({ resource, version }: Item): Point => pointAt(heads.get(resource) ?? noHead, version)
  const cursorAfter = (some: readonly Item[]): string =>
    sealProgress(
      key,
      tenant.tenantId,
      new Map([...progress, ...some.map((item) => [item.resource, pointOf(item)] as const)]),
    )
  const cursor = cursorAfter(items)
  const hasMore = found.length > limit
  return {
    body: enclose('{"items":[', joined(items), `],"cursor":"${cursor}","hasMore":${hasMore}}`),
    news: {
      isEmpty: items.length === 0,
      hasMore,
      cursor,
      // Of each list, the last item so far says how far a copy has got.
      events: () => {
        const reached = new Map<ListedName, Item>()
        return items.map((item) => {
          reached.set(item.resource, item)
          return { name: 'change', id: cursorAfter([...reached.values()]), data: item.body }
        })
      },
    },
  }
}

const gathered = new WeakMap<TenantDatabase, Map<string, Promise<readonly ChangeRow[]>>>()

/**
 * All that follow a tenant go on from the same cursor at the same moment: what they ask for in one turn of the event loop is read once,
 * after all of them have asked.
 */
const readTogether = (tenant: TenantDatabase, statement: Statement): Promise<readonly ChangeRow[]> => {
  const reads = gathered.get(tenant) ?? new Map<string, Promise<readonly ChangeRow[]>>()
  gathered.set(tenant, reads)
  const key = String(statement.values)
  const read =
    reads.get(key) ??
    nextTurn().then(() => {
      reads.delete(key)
      return tenant.read<ChangeRow>(statement)
    })
  reads.set(key, read)
  return read
}

type Item = { resource: ListedName; version: number; body: Buffer }

const comma = Buffer.from(',')
const joined = (items: readonly Item[]): Buffer =>
  Buffer.concat(items.flatMap(({ body }, index) => (index === 0 ? [body] : [comma, body])))

const noHead: ListHead = { version: 0, timelines: '' }

/** A list that has lost what a copy was told of, and may have written something else since, cannot go on from there. */
const requireKept = (heads: ReadonlyMap<string, ListHead>, progress: Progress): void => {
  for (const [resource, point] of progress)
    if (!isKept(heads.get(resource) ?? noHead, point))
      throw invalidCursor('The database has lost the last changes before this cursor: it was restored, or failed over.')
}

const invalidCursor = (detail: string): Problem =>
  new Problem('invalid_cursor', detail, {
    errors: [
      {
        parameter: 'after',
        code: 'invalid_cursor',
        detail: 'Send a `cursor` as it was received, or start without one and take the copy anew.',
      },
    ],
  })
