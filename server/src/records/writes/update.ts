import type { ResourceName } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import type { HandlerResult } from '../../operation-call.ts'
import { getRecord } from '../identifiers.ts'
import type { Fields, StoredRecord } from '../stored-record.ts'
import { type Change, type Writer, write } from './write.ts'

export type Update<R> = {
  /** The record, by either identifier. */
  named: string
  author: Writer['author']
  delivery: NonNullable<Change['delivery']>
  /** Whether the legacy system never got the record, and is not told of what becomes of it. */
  isNative?: (record: R) => boolean
  /** The fields to set, given the record as it is while nobody else can change it. */
  decide: (stored: { body: string; record: R }, query: TenantQuery) => Fields | Promise<Fields>
}

/** Writes only what differs, and nothing where nothing does. `R` is the record as the API shows it. */
export const updateRecord = <R>(
  tenant: TenantDatabase,
  resource: ResourceName,
  { named, author, delivery, isNative = () => false, decide }: Update<R>,
): Promise<HandlerResult> =>
  write(tenant, resource, {
    locks: [resource],
    decide: async (query) => {
      const { body, record: before } = await getRecord(query, resource, named)
      const record = before as StoredRecord & R // all that a response shows is in it
      const changes = differing(before, await decide({ body, record }, query))
      if (Object.keys(changes).length === 0) return { changes: {}, result: () => ({ body }) }
      const after = { ...before, ...changes, updatedAt: new Date().toISOString() }
      const updated = { before, after, author, delivery: { ...delivery, isNative: isNative(record) } }
      return { changes: { [resource]: [updated] }, result: (bodies) => ({ body: bodies.get(before.id) ?? '' }) }
    },
  })

const differing = (record: Fields, decided: Fields): Fields =>
  Object.fromEntries(Object.entries(decided).filter(([field, value]) => record[field] !== value))
