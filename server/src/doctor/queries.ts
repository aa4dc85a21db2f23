import type { Query } from '../database/connection.ts'
import type { AppliedMigration } from '../database/migrate.ts'
import type { TenantQuery } from '../database/tenant-query.ts'

/** Each of these asks the database for facts and judges nothing. */
const one = async <R>(query: Query, text: string, values: unknown[] = []): Promise<R> => {
  const [row] = await query<R>({ text, values })
  if (!row) throw new Error('the database gave no answer')
  return row
}

export type ServerFacts = {
  version: string
  major: number
  isStandby: boolean
  encoding: string
  characterType: string
}

export const serverFacts = (query: Query): Promise<ServerFacts> =>
  one(
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

export const roleFacts = (query: Query, serviceRole: string): Promise<RoleFacts> =>
  one(
    query,
    `select rolname as name, rolsuper or rolbypassrls as bypasses, rolsuper as "isSuperuser",
      rolsuper or rolcreaterole as "mayCreateRoles",
      has_schema_privilege('public', 'create') as "mayCreateTables",
      (select count(*) from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'tenant_id'
        where relnamespace = 'public'::regnamespace and relkind = 'r' and not pg_has_role(relowner, 'member')) as "foreignTables",
      (select json_build_object('bypasses', rolsuper or rolbypassrls, 'isMember', pg_has_role(oid, 'member'))
        from pg_roles where rolname = $1) as service
    from pg_roles where rolname = current_user`,
    [serviceRole],
  )

export type ExtensionFacts = { name: string; isInstalled: boolean; isAvailable: boolean; mayCreate: boolean }

export const extensionFacts = (query: Query, names: readonly string[]): Promise<ExtensionFacts[]> =>
  query({
    text: `select name, exists (select from pg_extension where extname = name) as "isInstalled",
        exists (select from pg_available_extensions as available where available.name = wanted.name) as "isAvailable",
        exists (select from pg_available_extension_versions as available where available.name = wanted.name and (
          (select rolsuper from pg_roles where rolname = current_user)
          or trusted and has_database_privilege(current_database(), 'create'))) as "mayCreate"
      from unnest($1::text[]) as wanted (name)`,
    values: [names],
  })

/** In their order; none where nothing was ever migrated. */
export const appliedMigrations = async (query: Query): Promise<AppliedMigration[]> => {
  const { exists } = await one<{ exists: boolean }>(query, `select to_regclass('migrations') is not null as exists`)
  return exists ? query({ text: 'select version, name from migrations order by version' }) : []
}

/**
 * Tables that a tenant's records lie in, and whose rows it would not be kept from. The owner may read the texts of search,
 * through the one function that does.
 */
export const openTables = async (query: Query): Promise<{ tables: number; open: string[] }> =>
  one(
    query,
    `select count(*) as tables, coalesce(array_agg(relname::text order by relname) filter (
        where not relrowsecurity or not relforcerowsecurity and relname <> 'search_texts'), '{}') as open
      from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'tenant_id'
      join pg_attrdef on adrelid = pg_class.oid and adnum = attnum and pg_get_expr(adbin, adrelid) = 'current_tenant()'
      where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )

export const databaseTime = async (query: Query): Promise<number> =>
  (
    await one<{ time: number }>(
      query,
      'select (extract(epoch from clock_timestamp()) * 1000)::double precision as time',
    )
  ).time

export type KeyFacts = { count: number; newest: Date | null }

export const keyFacts = (query: Query): Promise<KeyFacts> =>
  one(query, 'select count(*) as count, max(created_at) filter (where retired_at is null) as newest from signing_keys')

/** Of the settings without which an answered write may be lost, those that are off. */
export const carelessSettings = async (query: Query): Promise<string[]> =>
  (
    await query<{ name: string }>({
      text: `select name from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'`,
    })
  ).map(({ name }) => name)

export type LogFacts = { bytes: number; slots: string[] }

/** How large the log is, and what keeps it from being removed. */
export const logFacts = (query: Query): Promise<LogFacts> =>
  one(
    query,
    `select (select coalesce(sum(size), 0)::bigint from pg_ls_waldir()) as bytes,
      array(select slot_name::text from pg_replication_slots where not active order by slot_name) as slots`,
  )

export type LegacyFacts = { sealedSecret: Buffer; failed: number; oldestWaiting: Date | null }

/** None when the tenant has no legacy system. */
export const legacyFacts = async (query: TenantQuery): Promise<LegacyFacts | null> => {
  const [facts] = await query<LegacyFacts>({
    text: `select sealed_secret as "sealedSecret",
        (select count(failed_at) from legacy_deliveries where tenant_id = $1) as failed,
        (select min(created_at) from legacy_deliveries where tenant_id = $1 and failed_at is null) as "oldestWaiting"
      from legacy_systems where tenant_id = $1`,
  })
  return facts ?? null
}
