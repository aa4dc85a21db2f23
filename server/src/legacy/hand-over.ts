import type { Query } from '../database/connection.ts'
import { isAttached } from './queries.ts'

/** Where a write goes: to Masthead alone, or also to the tenant's legacy system. */
export type Route = 'native' | 'legacy'

/** Decides for the whole transaction: a legacy system that is attached now stays attached until it commits. */
export const routeOf = async (query: Query): Promise<Route> => ((await isAttached(query)) ? 'legacy' : 'native')
