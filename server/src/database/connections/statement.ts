export type Row = Record<string, unknown>

/** Every text is prepared once a connection, so texts must be few, and their plans right for every tenant. */
export type Statement = {
  text: string
  values?: unknown[]
  /** What is sent instead where the tables are sharded and Citus does not take the text. */
  onShards?: string
  /** PostgreSQL plans it each time: there are too many texts of its kind to prepare them, or a cached plan would be bad once the table has grown. */
  isPlannedEachTime?: true
  /** It takes long at times, as do searches, but hardly this one. */
  isLikelyQuick?: true
}

/** It is not the query of a tenant's door, which gives the tenant to every statement. */
export type Query = { <R = Row>(statement: Statement): Promise<R[]>; readonly withoutTenant?: undefined }

/** The name is empty where the statement is not prepared. */
export type Prepared = { name: string; text: string; values: unknown[] }

const names = new Map<string, string>()

export const prepared = (statement: Statement, { isSharded }: { isSharded?: boolean }): Prepared => {
  const text = textOf(statement, isSharded)
  if (statement.isPlannedEachTime) return { name: '', text, values: statement.values ?? [] }
  const name = names.get(text) ?? `masthead-${names.size + 1}`
  names.set(text, name)
  return { name, text, values: statement.values ?? [] }
}

export const textOf = ({ text, onShards }: Statement, isSharded = false): string => (isSharded && onShards) || text

/** A transaction on a connection that nobody else uses. */
export const inTransaction = async <T>(query: Query, work: (query: Query) => Promise<T>): Promise<T> => {
  await query({ text: 'begin' })
  try {
    const done = await work(query)
    await query({ text: 'commit' })
    return done
  } catch (error) {
    // Where the connection is lost, this fails, too.
    await query({ text: 'rollback' }).catch(() => {})
    throw error
  }
}
