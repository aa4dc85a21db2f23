import type { Query } from './connections/statement.ts'
import type { Database, TenantDatabase } from './database.ts'
import { perTenant } from './per-tenant.ts'
import { type TenantQuery, tenantQuery } from './tenant-query.ts'

/** Does the work at once, and sees when it begins, ends and fails. Without a text it is a transaction, with statements inside. */
export type Observe = <T>(text: string | null, work: () => Promise<T>) => Promise<T>

/** The same database, for whoever measures or traces what is asked of it. */
export const observedDatabase = (database: Database, observe: Observe): Database => {
  const observed =
    (query: Query): Query =>
    (statement) =>
      observe(statement.text, () => query(statement))
  const observedAs = (tenantId: string, query: TenantQuery): TenantQuery =>
    tenantQuery(tenantId, observed(query.withoutTenant))
  return {
    ...database,
    query: observed(database.query),
    read: observed(database.read),
    readVersions: observed(database.readVersions),
    transaction: (work) => observe(null, () => database.transaction((query) => work(observed(query)))),
    forTenant: perTenant((tenantId): TenantDatabase => {
      const observedTenant = (tenant: TenantDatabase): TenantDatabase => ({
        ...tenant,
        asOf: (lists) => observedTenant(tenant.asOf(lists)),
        asOfNow: async () => observedTenant(await tenant.asOfNow()),
        read: observedAs(tenantId, tenant.read),
        bodyOf: (named) => observe(named.text, () => tenant.bodyOf(named)),
        readSlowly: observedAs(tenantId, tenant.readSlowly),
        transaction: (work) => observe(null, () => tenant.transaction((query) => work(observedAs(tenantId, query)))),
        write: (decide) =>
          observe(null, () =>
            tenant.write(async (query) => {
              const last = await decide(observedAs(tenantId, query))
              return (query) => last(observedAs(tenantId, query))
            }),
          ),
      })
      return observedTenant(database.forTenant(tenantId))
    }),
  }
}
