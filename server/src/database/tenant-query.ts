import type { Query, Row, Statement } from './connections/statement.ts'

/**
 * A query of a tenant's door. It puts the tenant's id before the values of each statement, so `$1` is the tenant, and a
 * statement that does not use `$1` fails: PostgreSQL cannot determine the type of the parameter.
 */
export type TenantQuery = {
  <R = Row>(statement: Statement): Promise<R[]>
  /** The same way to the database for statements that touch no table behind row-level security. */
  readonly withoutTenant: Query
}

export const tenantQuery = (tenantId: string, withoutTenant: Query): TenantQuery =>
  Object.assign(
    <R>({ values = [], ...statement }: Statement) => withoutTenant<R>({ ...statement, values: [tenantId, ...values] }),
    { withoutTenant },
  )
