import type { Query } from './connection.ts'
import type { Database, TenantDatabase } from './database.ts'
import { perTenant } from './per-tenant.ts'

/** Does the work, and sees when it begins, ends and fails. Without a text it is a transaction, with statements inside. */
export type Observe = <T>(text: string | null, work: () => Promise<T>) => Promise<T>

/** The same database, for whoever measures or traces what is asked of it. */
export const observedDatabase = (database: Database, observe: Observe): Database => {
  const observed =
    (query: Query): Query =>
    (statement) =>
      observe(statement.text, () => query(statement))
  const observedTransaction =
    (begin: Database['transaction']): Database['transaction'] =>
    (work) =>
      observe(null, () => begin((query) => work(observed(query))))
  return {
    ...database,
    query: observed(database.query),
    read: observed(database.read),
    transaction: observedTransaction(database.transaction),
    forTenant: perTenant((tenantId): TenantDatabase => {
      const tenant = database.forTenant(tenantId)
      return {
        ...tenant,
        read: observed(tenant.read),
        bodyOf: (named) => observe(named.text, () => tenant.bodyOf(named)),
        readSlowly: observed(tenant.readSlowly),
        transaction: observedTransaction(tenant.transaction),
        write: (decide) => observe(null, () => tenant.write((query) => decide(observed(query)))),
      }
    }),
  }
}
