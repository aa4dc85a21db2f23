import { Refusal } from '../../refusal.ts'
import type { Query } from '../connections/statement.ts'
import { findSharding, interruptedRemedy } from './sharding.ts'

/** All tables of tenants are distributed alike, so one stands for all. */
const table = 'heads'

type ShardServer = { server: string; tenants: number; shards: number; megabytes: number }

export const requireShards = async (query: Query): Promise<void> => {
  const sharding = await findSharding(query)
  if (sharding === 'begun') throw new Refusal(interruptedRemedy)
  if (sharding === 'none')
    throw new Refusal('the tables of this database are not sharded: `masthead shard init` does it')
}

/** The servers that hold shards or may, in the order in which they were added. */
export const listServers = (query: Query): Promise<ShardServer[]> =>
  query<ShardServer>({
    text: `
      with placed as (
        select nodename || ':' || nodeport as server, count(distinct shardid) filter (where table_name = '${table}'::regclass) as shards,
          sum(shard_size) as bytes
        from citus_shards where citus_table_type = 'distributed' group by nodename, nodeport
      ), found as (
        select ${serverOf('tenants.id')} as server, count(*) as tenants from tenants group by 1
      )
      select node.nodename || ':' || node.nodeport as server, coalesce(tenants, 0)::integer as tenants,
        coalesce(shards, 0)::integer as shards, ceil(coalesce(bytes, 0) / 1e6)::integer as megabytes
      from pg_dist_node as node
      left join placed on placed.server = node.nodename || ':' || node.nodeport
      left join found on found.server = node.nodename || ':' || node.nodeport
      where noderole = 'primary' and shouldhaveshards order by nodeid`,
  })

const serverOf = (tenant: string): string => `(
  select nodename || ':' || nodeport from citus_shards
  where shardid = get_shard_id_for_distribution_column('${table}', ${tenant}) limit 1)`

type TenantPlacement = { server: string; isAlone: boolean; megabytes: number }

/** Where a tenant is, and whether its shards hold nobody else. */
export const placementOf = async (query: Query, tenantId: string): Promise<TenantPlacement> => {
  const [found] = await query<TenantPlacement>({
    text: `
      with shard as (select get_shard_id_for_distribution_column('${table}', $1::uuid) as id)
      select ${serverOf('$1::uuid')} as server,
        not exists (
          select from tenants
          where tenants.id <> $1::uuid and get_shard_id_for_distribution_column('${table}', tenants.id) = (select id from shard)
        ) as "isAlone",
        (
          select ceil(coalesce(sum(shard_size), 0) / 1e6)::integer from citus_shards
          where colocation_id = (select colocation_id from citus_tables where table_name = '${table}'::regclass)
            and shardid in (select shardid from pg_dist_shard where shardminvalue = (
              select shardminvalue from pg_dist_shard where shardid = (select id from shard)))
        ) as megabytes`,
    values: [tenantId],
  })
  if (!found) throw new Error('the tenant is on no server')
  return found
}

/**
 * Gives a tenant shards of its own and, with a target, moves them there. Meanwhile everybody reads, and writes of those who share the
 * shards wait: PostgreSQL lets Citus copy writes that go on only into tables without row-level security.
 */
export const isolateTenant = async (query: Query, tenantId: string, to: string | null): Promise<TenantPlacement> => {
  const before = await placementOf(query, tenantId)
  if (to !== null && !(await listServers(query)).some(({ server }) => server === to))
    throw new Refusal(`no server "${to}" may hold shards; \`masthead shard status\` lists them`)
  if (!before.isAlone)
    await query({
      text: `select isolate_tenant_to_new_shard('${table}', $1::uuid, 'CASCADE', shard_transfer_mode => 'block_writes')`,
      values: [tenantId],
    })
  const { server } = await placementOf(query, tenantId)
  if (to !== null && server !== to)
    await query({
      text: `select citus_move_shard_placement(get_shard_id_for_distribution_column('${table}', $1::uuid), $2, $3, $4, $5, 'block_writes')`,
      values: [tenantId, ...addressOf(server), ...addressOf(to)],
    })
  return placementOf(query, tenantId)
}

const addressOf = (server: string): [host: string, port: number] => {
  const colon = server.lastIndexOf(':')
  return [server.slice(0, colon), Number(server.slice(colon + 1))]
}
