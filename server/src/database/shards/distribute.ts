import type pg from 'pg'
import { unpreparedOn } from '../connections/session.ts'
import { inTransaction, type Query } from '../connections/statement.ts'
import { findTenantTables } from '../tenant-tables.ts'
import { defineFunctions, findSharding, missingReferences } from './sharding.ts'

/** The tables of people are read before the tenant of a call is known: the coordinator has them all. */
const keptTogether = ['users', 'memberships', 'access_tokens', 'applications', 'consents', 'invitations']

/** The table that all others are placed like, whichever run distributes them. */
const anchor = 'heads'

type Distribution = { distributed: string[]; shards: number; workers: number }

type DistributeOptions = {
  /** The role that serves; null where it is the one that asks. */
  role: string | null
  shards: number
  /** SQL that makes the functions by which records are written then. */
  functions: readonly string[]
  onProgress: (step: string, done: number, of: number) => void
}

/**
 * Distributes the tables of tenants over the workers of Citus, each tenant's rows of all tables on one of them. Every step is stored
 * by itself, and what an interrupted run has done is not done again.
 */
export const distribute = async (
  client: pg.Client,
  { role, shards, functions, onProgress }: DistributeOptions,
): Promise<Distribution> => {
  const query = unpreparedOn(client)
  const reasons = await findObstacles(query)
  if (reasons.length > 0) throw new Error(`this database cannot be sharded: ${reasons.join('; ')}`)
  const found = (await findTenantTables(query)).map(({ name }) => name)
  const others = found.filter((name) => name !== anchor && !keptTogether.includes(name))
  await takeReferencesAway(client)
  await query({
    text: `select create_reference_table('tenants')
    where not exists (select from pg_dist_partition where logicalrelid = 'tenants'::regclass and partmethod = 'n')`,
  })
  const missing = await undistributed(query, [anchor, ...others])
  for (const [index, name] of missing.entries()) {
    onProgress(`distributing ${name}`, index, missing.length)
    await query({
      text: `select create_distributed_table($1, 'tenant_id', colocate_with => $2, shard_count => $3)`,
      values: name === anchor ? [name, 'none', shards] : [name, anchor, null],
    })
  }
  onProgress('restoring references', 0, 1)
  await distributeFunctions(query)
  await defineFunctions(query, functions)
  await letServe(query, role)
  // The last: until then nobody else uses the database.
  await bringReferencesBack(client)
  const [placed] = await query<{ shards: number; workers: number }>({
    text: `select shard_count::integer as shards, (select count(*)::integer from citus_get_active_worker_nodes()) as workers
      from citus_tables where table_name = $1::regclass`,
    values: [anchor],
  })
  return { distributed: missing, shards: placed?.shards ?? shards, workers: placed?.workers ?? 0 }
}

const undistributed = async (query: Query, tables: readonly string[]): Promise<string[]> => {
  const found = await query<{ name: string }>({
    text: `select name from unnest($1::text[]) with ordinality as wanted (name, place)
      where not exists (select from pg_dist_partition where logicalrelid = name::regclass and partmethod = 'h') order by place`,
    values: [tables],
  })
  return found.map(({ name }) => name)
}

/** Every reason at once, each with what to do. */
const findObstacles = async (query: Query): Promise<string[]> => {
  const [server] = await query<{ hasCitus: boolean; sessions: number }>({
    text: `select exists (select from pg_extension where extname = 'citus') as "hasCitus", (
        select count(*)::integer from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name ~ '^masthead'
      ) as sessions`,
  })
  const obstacles: string[] = []
  if (server && server.sessions > 0) obstacles.push(`${server.sessions} sessions of Masthead use it: stop the service`)
  if (!server?.hasCitus) {
    obstacles.push(
      'it lacks the extension Citus: install it on every server, run `create extension citus` in this database on each, and ' +
        "`select citus_set_coordinator_host('<this server>')` and `select citus_add_node('<worker>', 5432)` in this one",
    )
    return obstacles
  }
  const workers = await query<{ nodename: string; nodeport: number; prepared: string | null }>({
    text: `select nodename, nodeport, (
        select result from run_command_on_all_nodes('show max_prepared_transactions') as answer
        where answer.nodeid = node.nodeid and success
      ) as prepared
      from pg_dist_node as node where noderole = 'primary' and isactive`,
  })
  if (workers.length === 0) obstacles.push("it has no worker: add one with `select citus_add_node('<worker>', 5432)`")
  for (const { nodename, nodeport, prepared } of workers) {
    if (prepared === null) obstacles.push(`the server ${nodename}:${nodeport} does not answer`)
    else if (prepared === '0')
      obstacles.push(
        `the server ${nodename}:${nodeport} needs max_prepared_transactions above 0, as max_connections is`,
      )
  }
  return obstacles
}

const references = `
  select conrelid::regclass::text as relation, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
  from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`

/** Citus distributes a table only when what it refers to is distributed, and what refers to it. */
const takeReferencesAway = (client: pg.Client): Promise<void> =>
  inTransaction(unpreparedOn(client), async (query) => {
    if ((await findSharding(query)) !== 'none') return
    await query({ text: `create table ${missingReferences} as ${references}` })
    await query({
      text: `do $$ declare lost record; begin
        for lost in select * from ${missingReferences} loop
          execute format('alter table %s drop constraint %I', lost.relation, lost.name);
        end loop;
      end $$`,
    })
  })

const bringReferencesBack = (client: pg.Client): Promise<void> =>
  inTransaction(unpreparedOn(client), async (query) => {
    if ((await findSharding(query)) !== 'begun') return
    const lost = await query<{ relation: string; name: string; definition: string }>({
      text: `select * from ${missingReferences}`,
    })
    // With it, Citus would plan every statement about people, and take fewer of them. No tenant is ever deleted.
    const kept = lost.filter(
      ({ relation, definition }) => !(keptTogether.includes(relation) && / tenants\(/.test(definition)),
    )
    for (const { relation, name, definition } of kept)
      await query({ text: `alter table ${relation} add constraint ${name} ${definition}` })
    await query({ text: `drop table ${missingReferences}` })
  })

/** Statements that go to a shard call them there; none calls what belongs to a table of the coordinator. */
const distributeFunctions = (query: Query): Promise<unknown> =>
  query({
    text: `select create_distributed_function(pg_proc.oid::regprocedure) from pg_proc join pg_language on pg_language.oid = prolang
      where pronamespace = 'public'::regnamespace and lanname in ('sql', 'plpgsql')
        and not exists (
          select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and (
            deptype = 'e' or refclassid = 'pg_class'::regclass
              and not exists (select from pg_dist_partition where logicalrelid = refobjid)
          )
        )`,
  })

/**
 * Workers are reached as the role that serves. Functions that a statement calls on the shard of its tenant read tables of the same
 * tenant there, which Citus allows only where it is said.
 */
const letServe = async (query: Query, role: string | null): Promise<void> => {
  if (role !== null) await query({ text: `alter role ${role} login` })
  await query({ text: `alter role ${role ?? 'current_user'} set citus.allow_nested_distributed_execution = on` })
}
