import type { TenantQuery } from '../../database/tenant-query.ts'

/** On the connection of an import, which has no transaction but those that it begins. */
export const inTransaction = async <T>(query: TenantQuery, work: () => Promise<T>): Promise<T> => {
  await query.withoutTenant({ text: 'begin' })
  try {
    const result = await work()
    await query.withoutTenant({ text: 'commit' })
    return result
  } catch (error) {
    await query.withoutTenant({ text: 'rollback' }).catch(() => {})
    throw error
  }
}
