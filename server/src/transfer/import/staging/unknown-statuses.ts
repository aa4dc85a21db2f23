import { type ResourceName, storedFieldsOf } from '@masthead/contract'
import type { Query } from '../../../database/connections/statement.ts'
import { normalisedStatus } from '../../../records/normalising.ts'
import { stagingTable } from './staged-rows.ts'

/** A value that goes in and is no known status. */
export type UnknownStatus = { resource: ResourceName; field: string; value: string; count: number }

const mostValues = 1_000
const mostShown = 20

/** Statuses are open sets, so such rows are not refused; the most frequent values are told of. */
export const unknownStatuses = async (query: Query, resource: ResourceName): Promise<UnknownStatus[]> => {
  const found: UnknownStatus[] = []
  for (const { name, column, known } of storedFieldsOf(resource)) {
    if (known.length === 0) continue
    const values = await query<{ value: string; count: number }>({
      text: `select ${column} as value, count(*)::integer as count from ${stagingTable(resource)}
        where reason is null and ${column} <> '' group by ${column} order by count(*) desc limit ${mostValues}`,
    })
    for (const { value, count } of values)
      if (!known.includes(normalisedStatus(value))) found.push({ resource, field: name, value, count })
  }
  return found.slice(0, mostShown)
}
