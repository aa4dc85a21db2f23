import type { ListedName } from '@masthead/contract'
import pg from 'pg'
import type { TenantDatabase } from '../../database/database.ts'
import { type ListQuery, readFilters } from '../../records/lists/filters.ts'
import { filterConditions } from '../../records/lists/untallied-page.ts'
import { tables } from '../../records/tables.ts'
import type { Selection } from './copy-out.ts'

/** What the list of a resource would show with these filters, on all of its pages. */
export const selectionOf = async (
  tenant: TenantDatabase,
  resource: ListedName,
  query: ListQuery,
): Promise<Selection> => {
  const filters = await readFilters(tenant, tables[resource], query)
  // A filter names an account or a publication that does not exist.
  if (!filters) return { resource, classes: [0], conditions: 'and false' }
  return { resource, classes: filters.classes, conditions: filterConditions(tables[resource], filters, literal) }
}

/** COPY takes no parameters, so values stand in its text. */
const literal = (value: unknown): string => {
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value))
  const items = value.map((item) => `"${String(item).replaceAll(/["\\]/g, '\\$&')}"`)
  return pg.escapeLiteral(`{${items.join(',')}}`)
}
