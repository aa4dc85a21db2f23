import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { cloneTemplate } from '../../../test/service.ts'
import { knownMigrations } from './migration-files.ts'

/**
 * What a PostgreSQL that is distributed by tenant refuses, such as Citus: keys without the tenant, triggers, functions in SQL with
 * parameters that read a tenant's table, and policies with a subselect. The catalogue of a migrated database shows them, whichever
 * migration made them.
 */
const client = new pg.Client(await cloneTemplate())
await client.connect()
after(() => client.end())

const namesOf = async (text: string): Promise<string[]> =>
  (await client.query<{ name: string }>(text)).rows.map(({ name }) => name)

const tenantTables = `
  select pg_class.oid, relname, attnum from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'tenant_id'
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not attisdropped`

const rules = {
  'every key of a table that has a tenant names it': {
    find: `
      select indexrelid::regclass::text as name from pg_index join (${tenantTables}) as relation on relation.oid = indrelid
      where (indisunique or indisexclusion) and not attnum = any (indkey[0:indnkeyatts - 1])
      union all
      select conname from pg_constraint join (${tenantTables}) as relation on relation.oid = conrelid
      where contype = 'f' and not attnum = any (conkey)
      order by name`,
    /** The tables of people, which are read before the tenant of a call is known: one server has them all. */
    exceptions: [
      'access_tokens_pkey',
      'access_tokens_secret_hash_key',
      'applications_pkey',
      'consents_application_id_fkey',
      'consents_pkey',
      'invitations_invited_by_fkey',
      'invitations_pkey',
      'invitations_secret_hash_key',
      'memberships_user_id_fkey',
      'users_pkey',
      'users_proven',
      'users_subject_key',
    ],
  },
  'no table has a trigger': {
    find: `
      select tgname as name from pg_trigger join pg_class on pg_class.oid = tgrelid
      where relnamespace = 'public'::regnamespace and not tgisinternal order by tgname`,
    exceptions: [],
  },
  "no function in SQL with parameters reads a tenant's table": {
    find: `
      select proname as name from pg_proc join pg_language on pg_language.oid = prolang
      where lanname = 'sql' and pronargs > 0 and pronamespace = 'public'::regnamespace and exists (
        select from (${tenantTables}) as relation where pg_get_functiondef(pg_proc.oid) ~ ('\\m' || relname || '\\M'))
      order by proname`,
    exceptions: [],
  },
  'no policy has a subselect': {
    find: `
      select relname || '.' || polname as name from pg_policy join pg_class on pg_class.oid = polrelid
      where relnamespace = 'public'::regnamespace and concat(polqual, polwithcheck) like '%{SUBLINK %'
      order by name`,
    exceptions: [],
  },
}

/** Where tables are sharded, a migration finds them so. */
const undistributed = (migration: string): string[] =>
  [...migration.matchAll(/^create table (\w+) \(\n(.*?)\n\)/gms)]
    .filter(([, name, columns]) => columns?.includes('tenant_id') && !migration.includes(`distribute('${name}')`))
    .map(([, name = '']) => name)

describe('the migrated schema fits a distributed PostgreSQL', () => {
  for (const [rule, { find, exceptions }] of Object.entries(rules)) {
    test(`${rule}, with exceptions that only get fewer`, async () => {
      assert.deepEqual(await namesOf(find), exceptions)
    })
  }

  test('each migration since distributes the tables of tenants that it creates', async () => {
    const since = (await knownMigrations()).filter((name) => name > '0014')
    const texts = since.map((name) => readFileSync(new URL(`./migrations/${name}`, import.meta.url), 'utf8'))
    assert.deepEqual(texts.flatMap(undistributed), [])
    const table = 'create table breach (\n  tenant_id uuid not null references tenants,\n  id uuid\n);'
    assert.deepEqual(undistributed(table), ['breach'])
    assert.deepEqual(undistributed(`${table}\nselect distribute('breach');`), [])
  })

  test('what breaks a rule is found', async () => {
    await client.query('begin')
    await client.query(`
      create table breach (
        tenant_id uuid not null, id uuid constraint breach_key unique, constraint breach_exclusion exclude (id with =), unique (id) include (tenant_id));
      alter table breach add constraint breach_reference foreign key (id) references tenants;
      create function breach_count(number integer) returns bigint language sql as 'select count(*) from breach';
      create function breach_first(number integer) returns uuid language sql return (select id from breach limit 1);
      create function breach_trigger() returns trigger language plpgsql as 'begin return new; end';
      create trigger breach_trigger before insert on breach for each row execute function breach_trigger();
      create policy reading on breach for select using (tenant_id in (select id from tenants));
      create policy writing on breach for insert with check (exists (select from tenants))`)
    const found: string[][] = []
    for (const { find } of Object.values(rules))
      found.push((await namesOf(find)).filter((name) => /^breach/.test(name)))
    assert.deepEqual(found, [
      ['breach_exclusion', 'breach_id_tenant_id_key', 'breach_key', 'breach_reference'],
      ['breach_trigger'],
      ['breach_count', 'breach_first'],
      ['breach.reading', 'breach.writing'],
    ])
    await client.query('rollback')
  })
})
