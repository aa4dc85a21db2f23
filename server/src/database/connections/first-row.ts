import type { Query, Row, Statement } from './statement.ts'

/** Null when the statement returns no row. */
export const firstRow = async <R = Row>(query: Query, statement: Statement): Promise<R | null> =>
  (await query<R>(statement))[0] ?? null
