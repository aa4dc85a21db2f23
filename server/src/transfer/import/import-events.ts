import type { ResourceName } from '@masthead/contract'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { recordEvent } from '../../webhooks/events/queries.ts'

/** How many records of each resource were written, by what was done to them. */
export type WrittenCounts = Partial<Record<ResourceName, Record<string, number>>>

type ImportEvent = {
  type: 'import.completed' | 'import.undone'
  importId: string
  counts: WrittenCounts
  cursor: string
}

/** One event tells of all records; who wants to know of each gives the cursor from before to `/changes`. */
export const tellOfImport = (query: TenantQuery, { type, importId, counts, cursor }: ImportEvent) =>
  recordEvent(query, { type, recordId: importId, data: { importId, counts, cursor } })

/** Adds to the counts of a resource. */
export const addCounts = (counts: WrittenCounts, resource: ResourceName, more: Record<string, number>): void => {
  const before = counts[resource] ?? {}
  counts[resource] = { ...more, ...before }
  for (const [done, number] of Object.entries(more)) counts[resource][done] = (before[done] ?? 0) + number
}
