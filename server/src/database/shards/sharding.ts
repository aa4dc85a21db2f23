import type { Query } from '../connections/statement.ts'

/** Whether the tables of tenants are distributed over several servers, wholly or not yet. */
export type Sharding = 'none' | 'begun' | 'done'

/** The foreign keys that are missing while the tables are being distributed. */
export const missingReferences = 'missing_references'

export const interruptedRemedy = '`masthead shard init` was interrupted: run it again'

export const findSharding = async (query: Query): Promise<Sharding> => {
  const [found] = await query<{ hasCitus: boolean; isBegun: boolean }>({
    text: `select to_regclass('pg_dist_partition') is not null as "hasCitus", to_regclass('${missingReferences}') is not null as "isBegun"`,
  })
  if (found?.isBegun) return 'begun'
  if (!found?.hasCitus) return 'none'
  const distributed = await query({
    text: `select 1 from pg_dist_partition where logicalrelid = to_regclass('heads') and partmethod = 'h'`,
  })
  return distributed.length > 0 ? 'done' : 'none'
}

/** On the coordinator alone, so that it starts whichever other server is away. */
export const defineFunctions = (query: Query, functions: readonly string[]): Promise<unknown> =>
  query({ text: `set citus.enable_ddl_propagation = off; ${functions.join(';')}; reset citus.enable_ddl_propagation` })
