import type { TenantQuery } from '../database/tenant-query.ts'
import { isAttached } from './queries.ts'

/** Where a write goes: to Masthead alone, or also to the tenant's legacy system. */
export type Route = 'native' | 'legacy'

/** Decides for the whole transaction: a legacy system that is attached now stays attached until it commits. */
export const routeOf = async (query: TenantQuery): Promise<Route> => ((await isAttached(query)) ? 'legacy' : 'native')
