import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'

/** What is made of a tenant's id alone is made once, not for each request. */
export const perTenant = <T extends object>(make: (tenantId: string) => T): ((tenantId: string) => T) => {
  const made = new LRUCache<string, T>({ ...atMost(1_000), memoMethod: make })
  return (tenantId) => made.memo(tenantId)
}
