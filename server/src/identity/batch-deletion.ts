import { firstRow } from '../database/connections/first-row.ts'
import type { Query } from '../database/connections/statement.ts'

/** A batch stays within the statement timeout, however much there is to delete. */
const batchSize = 20_000

/** Returns whether there may be more to delete. */
export const deleteBatch = async (query: Query, table: string, condition: string): Promise<boolean> => {
  const deleted = await firstRow<{ count: number }>(query, {
    text: `with deleted as (
        delete from ${table} where ctid in (
          select ctid from ${table} where ${condition} limit $1 for update skip locked)
        returning 1
      )
      select count(*)::integer as count from deleted`,
    values: [batchSize],
  })
  return deleted?.count === batchSize
}
