import type { ResourceName } from '@masthead/contract'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { recordEvent } from '../../webhooks/events/queries.ts'

/** How many records of each resource were written, by what was done to them. */
export type WrittenCounts = Partial<Record<ResourceName, Record<string, number>>>

type ImportEvent = { type: 'import.completed' | 'import.undone'; importId: string; counts: WrittenCounts }

/**
 * One event tells of all records; who wants to know of each gives its cursor to `/changes`, which is from before everything that no event
 * has told of, also what was interrupted. It belongs to the transaction that ends the import or its undo.
 */
export const tellOfImport = async (query: TenantQuery, { type, importId, counts }: ImportEvent): Promise<void> => {
  const [first] = await query<{ cursor: string }>({
    text: `select untold_cursor as cursor from imports
      where tenant_id = $1 and untold_cursor is not null order by untold_at, id limit 1`,
  })
  await query({
    text: 'update imports set untold_cursor = null, untold_at = null where tenant_id = $1 and untold_cursor is not null',
  })
  await recordEvent(query, { type, recordId: importId, data: { importId, counts, cursor: first?.cursor } })
}

/** Notes where `/changes` stands before an import or its undo writes. One that continues keeps the place of the one before. */
export const noteUntold = (query: TenantQuery, importId: string, cursor: string): Promise<unknown> =>
  query({
    text: `update imports set untold_cursor = $3, untold_at = now() where tenant_id = $1 and id = $2 and untold_cursor is null`,
    values: [importId, cursor],
  })

/** Adds to the counts of a resource. */
export const addCounts = (counts: WrittenCounts, resource: ResourceName, more: Record<string, number>): void => {
  const before = counts[resource] ?? {}
  counts[resource] = { ...more, ...before }
  for (const [done, number] of Object.entries(more)) counts[resource][done] = (before[done] ?? 0) + number
}
