import type { ResourceName } from '@masthead/contract'
import type { Query } from '../../../database/connections/statement.ts'
import { stagingTable } from './staged-rows.ts'

/** Refused rows with the same reason. */
export type RefusalGroup = {
  /** The field; empty when it is the row as a whole. */
  column: string
  /** Without the values of rows. */
  reason: string
  /** The reason of the first row. */
  example: string
  count: number
  /** Of the first rows. */
  lines: number[]
}

const mostGroups = 50
const mostLines = 5

/** The most frequent reason comes first. */
export const refusalGroups = (query: Query, resource: ResourceName, file: number): Promise<RefusalGroup[]> =>
  query<RefusalGroup>({
    text: `
    with placed as (
      select coalesce(field, '') as "column", coalesce(rule, reason) as rule, reason, line, number,
        row_number() over same as place
      from ${stagingTable(resource)} where file = $1 and reason is not null
      window same as (partition by coalesce(field, ''), coalesce(rule, reason) order by number)
    )
    select "column", rule as reason, max(reason) filter (where place = 1) as example, count(*)::integer as count,
      array_agg(line order by number) filter (where place <= ${mostLines}) as lines
    from placed group by "column", rule order by count(*) desc, min(number) limit ${mostGroups}`,
    values: [file],
  })
