import { connectionsOfEach } from '../database.ts'
import type { Query } from './statement.ts'

/** How many connections the server lets all of its callers have together, but for those it keeps for superusers. */
export const connectionLimit = async (query: Query): Promise<number> => {
  const [row] = await query<{ most: number }>({
    text: `
      select least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
        (select nullif(rolconnlimit, -1) from pg_roles where rolname = session_user)) as most`,
  })
  return row?.most ?? 0
}

/** Connections of deliveries, of housekeeping, and of the process itself. */
const connectionsBesides = 12

/** How many a server with so many workers may have. */
export const mostConnections = (workers: number): number => {
  const { reading, searching, writing } = connectionsOfEach(workers)
  return workers * (reading + searching + writing + 1) + connectionsBesides
}
