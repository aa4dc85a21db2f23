import type { Query } from '../database/connections/statement.ts'
import type { TenantQuery } from '../database/tenant-query.ts'
import { readByTheirOwner } from '../database/tenant-tables.ts'

/** Each of these queries facts and judges nothing. */
const one = async <R>(query: Query, text: string, values: unknown[] = []): Promise<R> => {
  const [row] = await query<R>({ text, values })
  if (!row) throw new Error('the query returned no row')
  return row
}

type ServerFacts = { version: string; major: number; isStandby: boolean; encoding: string; characterType: string }

export const writtenUpTo = async (query: Query): Promise<string> =>
  (await query<{ lsn: string }>({ text: 'select pg_current_wal_lsn()::text as lsn' }))[0]?.lsn ?? '0/0'

/** How many bytes of the write-ahead log of the primary it has not replayed. */
export const replica = async (query: Query, written: string): Promise<{ isStandby: boolean; behind: number }> => {
  const [found] = await query<{ isStandby: boolean; behind: string }>({
    text: `select pg_is_in_recovery() as "isStandby", pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn()) as behind`,
    values: [written],
  })
  return { isStandby: found?.isStandby ?? false, behind: Number(found?.behind ?? 0) }
}

export const server = (query: Query) =>
  one<ServerFacts>(
    query,
    `select current_setting('server_version') as version, current_setting('server_version_num')::integer / 10000 as major,
      pg_is_in_recovery() as "isStandby", pg_encoding_to_char(encoding) as encoding, datctype as "characterType"
    from pg_database where datname = current_database()`,
  )

export type RoleFacts = {
  name: string
  bypasses: boolean
  isSuperuser: boolean
  mayCreateRoles: boolean
  mayCreateTables: boolean
  /** Tables of Masthead that belong to somebody else. */
  foreignTables: number
  service: { bypasses: boolean; isMember: boolean } | null
}

export const role = (query: Query, serviceRole: string): Promise<RoleFacts> =>
  one(
    query,
    `select rolname as name, rolsuper or rolbypassrls as bypasses, rolsuper as "isSuperuser",
      rolsuper or rolcreaterole as "mayCreateRoles",
      has_schema_privilege(to_regnamespace('public'), 'create') is true as "mayCreateTables",
      (select count(*) from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'tenant_id'
        where relnamespace = to_regnamespace('public') and relkind = 'r' and not pg_has_role(relowner, 'member')) as "foreignTables",
      (select json_build_object('bypasses', rolsuper or rolbypassrls, 'isMember', pg_has_role(oid, 'member'))
        from pg_roles where rolname = $1) as service
    from pg_roles where rolname = current_user`,
    [serviceRole],
  )

type ExtensionFacts = { name: string; isInstalled: boolean; isAvailable: boolean; mayCreate: boolean }

export const extensions = (query: Query, names: readonly string[]) =>
  query<ExtensionFacts>({
    text: `select name, exists (select from pg_extension where extname = name) as "isInstalled",
        exists (select from pg_available_extensions as available where available.name = wanted.name) as "isAvailable",
        exists (select from pg_available_extension_versions as available where available.name = wanted.name and (
          (select rolsuper from pg_roles where rolname = current_user)
          or trusted and has_database_privilege(current_database(), 'create'))) as "mayCreate"
      from unnest($1::text[]) as wanted (name)`,
    values: [names],
  })

/** `open` are tables of tenants without forced row-level security, but for those that functions read as their owner. */
export const openTables = (query: Query) =>
  one<{ tables: number; open: string[] }>(
    query,
    `select count(*) as tables, coalesce(array_agg(relname::text order by relname) filter (
        where not relrowsecurity or not relforcerowsecurity and relname <> all ('{${readByTheirOwner.join()}}')), '{}') as open
      from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'tenant_id'
      join pg_attrdef on adrelid = pg_class.oid and adnum = attnum and pg_get_expr(adbin, adrelid) = 'current_tenant()'
      where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )

export const time = async (query: Query): Promise<number> => {
  const text = 'select (extract(epoch from clock_timestamp()) * 1000)::double precision as time'
  return (await one<{ time: number }>(query, text)).time
}

export const keys = (query: Query): Promise<{ count: number; newest: Date | null }> =>
  one(query, 'select count(*) as count, max(created_at) filter (where retired_at is null) as newest from signing_keys')

/** Settings that are off although a crash may lose committed writes without them. */
export const unsafeSettings = async (query: Query): Promise<string[]> => {
  const text = `select name from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'`
  return (await query<{ name: string }>({ text })).map(({ name }) => name)
}

/** `slots` are inactive replication slots that keep the log from being removed; one that was never used keeps nothing. */
export const writeAheadLog = (query: Query) =>
  one<{ bytes: number; allowedBytes: number; slots: string[] }>(
    query,
    `select (select coalesce(sum(size), 0)::bigint from pg_ls_waldir()) as bytes,
      pg_size_bytes(current_setting('max_wal_size')) + pg_size_bytes(current_setting('wal_keep_size')) as "allowedBytes",
      array(
        select slot_name::text from pg_replication_slots where not active and restart_lsn is not null order by slot_name
      ) as slots`,
  )

type EndpointFacts = {
  id: string
  kind: 'webhook' | 'legacy'
  sealedSecret: Buffer
  isDisabled: boolean
  failed: boolean
  oldestWaiting: Date | null
}

export const webhookEndpoints = (query: TenantQuery): Promise<EndpointFacts[]> =>
  query<EndpointFacts>({
    text: `select id, kind, sealed_secret as "sealedSecret", disabled_at is not null as "isDisabled", exists (
          select from webhook_deliveries as delivery
          where delivery.tenant_id = $1 and delivery.endpoint_id = endpoint.id and delivery.failed_at is not null
        ) as failed, (
          select min(delivery.waiting_since) from webhook_deliveries as delivery
          where delivery.tenant_id = $1 and delivery.endpoint_id = endpoint.id
            and delivery.settled_at is null and delivery.failed_at is null
        ) as "oldestWaiting"
      from webhook_endpoints as endpoint where tenant_id = $1`,
  })

/** Servers of shards that do not answer, or that another cannot reach. */
export const unreachableServers = async (query: Query): Promise<string[]> => {
  const found = await query<{ text: string }>({
    text: `
      with health as (
        select from_nodename || ':' || from_nodeport as server, to_nodename || ':' || to_nodeport as other, coalesce(result, false) as reaches
        from citus_check_cluster_node_health()
      ), silent as (
        select server from health where server = other and not reaches
      )
      select server || ' does not answer' as text from silent
      union all
      select server || ' does not reach ' || other from health
      where not reaches and server not in (select server from silent) and other not in (select server from silent)
      order by 1`,
  })
  return found.map(({ text }) => text)
}

/** How many tenants there are, and the slug of the first. */
export const tenants = (query: Query) =>
  one<{ count: number; first: string | null }>(
    query,
    'select count(*)::integer as count, min(slug) as first from tenants',
  )
