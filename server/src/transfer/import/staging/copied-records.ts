import { identifiersOf, importKeysOf, type ResourceName, storedFieldsOf } from '@masthead/contract'
import type { TenantQuery } from '../../../database/tenant-query.ts'

/**
 * Citus joins no temporary table with one that is sharded. So, where the tables are sharded, the records of the tenant that rows are
 * judged by are copied into temporary tables, which hide the tables of their names until they are dropped.
 */
export const withCopies = async <T>(
  query: TenantQuery,
  staged: readonly ResourceName[],
  work: () => Promise<T>,
): Promise<T> => {
  const references = staged.flatMap((resource) =>
    storedFieldsOf(resource).flatMap(({ reference }) => (reference ? [reference] : [])),
  )
  const copied = [...new Set([...staged, ...references])]
  for (const resource of copied) await copy(query, resource)
  try {
    return await work()
  } finally {
    for (const resource of copied) await query.withoutTenant({ text: `drop table pg_temp.${resource}` })
  }
}

const copy = async (query: TenantQuery, resource: ResourceName): Promise<void> => {
  await query.withoutTenant({ text: `create temp table ${resource} (like public.${resource})` })
  await query({
    text: `insert into pg_temp.${resource} select * from public.${resource} where tenant_id = $1`,
  })
  const keys = [...importKeysOf(resource), ...Object.values(identifiersOf(resource))].map(({ column }) => column)
  for (const column of new Set(['id', ...keys]))
    await query.withoutTenant({ text: `create index on pg_temp.${resource} (${column})` })
  await query.withoutTenant({ text: `analyze pg_temp.${resource}` })
}
