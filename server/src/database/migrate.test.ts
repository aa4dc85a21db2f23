import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import pg from 'pg'
import { cloneTemplate } from '../../test/service.ts'
import { serviceRole } from './connection.ts'
import { migrate, newestJobsVersion } from './migrate.ts'

const migrations = new URL('./migrations/', import.meta.url)
const server = process.env.TEST_DATABASE_SERVER ?? ''
const clients: pg.Client[] = []
after(() => Promise.all(clients.map((client) => client.end())))

const connect = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client(connectionString)
  await client.connect()
  clients.push(client)
  return client
}

const administrator = await connect(server)

const emptyDatabase = async (): Promise<string> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await administrator.query(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Tables, columns, functions, policies and privileges, and what `migrate` itself keeps. */
const everything = async (connectionString: string): Promise<unknown[]> => {
  const client = await connect(connectionString)
  const { rows } = await client.query(`
    select 'table' as kind, table_name || '.' || column_name as name, data_type as value
    from information_schema.columns where table_schema = 'public'
    union all select 'function', proname, md5(prosrc) from pg_proc where pronamespace = 'public'::regnamespace
    union all select 'policy', tablename || '.' || policyname, qual from pg_policies
    union all select 'privilege', table_name || '.' || grantee, string_agg(privilege_type, ',' order by privilege_type)
      from information_schema.table_privileges where table_schema = 'public' group by table_name, grantee
    order by 1, 2, 3`)
  return rows
}

test('migrating again does nothing', async () => {
  const url = await cloneTemplate()
  const client = await connect(url)
  const kept = async () =>
    (await client.query('select m.*, i.cursor_key from migrations m, installation i order by version')).rows
  const [before, keptBefore] = [await everything(url), await kept()]
  const migrated = await migrate(url)
  assert.deepEqual([migrated.applied, migrated.version, migrated.role], [[], keptBefore.length, serviceRole])
  assert.deepEqual(await everything(url), before)
  assert.deepEqual(await kept(), keptBefore)
})

test('several that start at once on one database bring it up together, each step once', async () => {
  const url = await emptyDatabase()
  const results = await Promise.all(Array.from({ length: 5 }, () => migrate(url)))
  const applied = results.flatMap((result) => result.applied)
  assert.equal(applied.length, results[0]?.version)
  assert.equal(new Set(applied).size, applied.length)
  assert.deepEqual(await everything(url), await everything(await cloneTemplate()))
})

test('several that start at once on databases of one server succeed', async () => {
  const urls = [await emptyDatabase(), await emptyDatabase(), await emptyDatabase(), await emptyDatabase()]
  const results = await Promise.all(urls.map((url) => migrate(url)))
  for (const result of results) assert.equal(result.applied.length, result.version)
})

test('tasks of before they had an order get one, and are counted', async () => {
  const url = await emptyDatabase()
  const client = await connect(url)
  const owner = `owner_${randomUUID().slice(0, 8)}`
  // A plain role, which row-level security holds.
  await client.query(`create role ${owner} login password 'x'; grant all on schema public to ${owner};
    create extension btree_gin; create extension pg_trgm; set role ${owner}`)
  for (const name of (await readdir(migrations)).sort().slice(0, 5)) {
    await client.query(await readFile(new URL(name, migrations), 'utf8'))
  }
  const tenant = randomUUID()
  await client.query(`insert into tenants (id, slug, name) values ($1, 't', 'T')`, [tenant])
  await client.query(`select set_config('masthead.tenant', $1, false)`, [tenant])
  await client.query(`insert into accounts (position, id, account_id, created_at, updated_at)
    values (1, gen_random_uuid(), 'A', now(), now())`)
  await client.query(`insert into tasks (id, account_id, title, due_date, user_id, route, created_at)
    select gen_random_uuid(), 'A', 'Task ' || n, '2026-01-01', '', 'native', now() - n * interval '1 day'
    from generate_series(1, 3) as n`)
  await client.query(`select set_config('masthead.tenant', '', false)`)
  await client.query(await readFile(new URL('0006-transfer.sql', migrations), 'utf8'))
  await client.query(`select set_config('masthead.tenant', $1, false)`, [tenant])
  const { rows } = await client.query(`select position::integer, body::json ->> 'title' as title from tasks order by 1`)
  assert.deepEqual(
    rows.map(({ position, title }) => [position, title]),
    [
      [1, 'Task 3'],
      [2, 'Task 2'],
      [3, 'Task 1'],
    ],
  )
  const { rows: kept } = await client.query(
    `select last::integer, (select count(*)::integer from tallies where resource = 'tasks' and count = 3) as tallies
      from heads where resource = 'tasks'`,
  )
  assert.deepEqual(kept, [{ last: 3, tallies: 4 }])
})

test('accounts of before addresses were proven belong to their only tenant, and those without one are removed', async () => {
  const url = await emptyDatabase()
  const client = await connect(url)
  const names = (await readdir(migrations)).sort()
  const proving = names.indexOf('0018-people.sql')
  for (const name of names.slice(0, proving)) await client.query(await readFile(new URL(name, migrations), 'utf8'))
  const [a, b] = [randomUUID(), randomUUID()]
  await client.query(`insert into tenants (id, slug, name) values ($1, 'a', 'A'), ($2, 'b', 'B')`, [a, b])
  const users = { one: [a], both: [a, b], subject: [b], none: [] }
  for (const [name, tenants] of Object.entries(users)) {
    const id = randomUUID()
    await client.query(
      `insert into users (id, email, email_key, name, password_hash, subject) values ($1, $2, $2, $2, '', $3)`,
      [id, name, name === 'subject' ? 'at the issuer' : null],
    )
    await client.query(
      `insert into authorization_state (model, id_hash, payload, account_id, expires_at)
        values ('Session', $1, '{}', $2, now() + interval '1 day')`,
      [Buffer.from(name), id],
    )
    for (const tenant of tenants)
      await client.query(`insert into memberships (tenant_id, user_id, role) values ($1, $2, 'viewer')`, [tenant, id])
  }
  await client.query(await readFile(new URL('0018-people.sql', migrations), 'utf8'))
  const { rows } = await client.query(
    `select email, tenant_id, (select count(*)::integer from authorization_state where account_id = users.id::text) as sessions
      from users order by email`,
  )
  assert.deepEqual(rows, [
    { email: 'both', tenant_id: null, sessions: 1 },
    { email: 'one', tenant_id: a, sessions: 1 },
    { email: 'subject', tenant_id: null, sessions: 1 },
  ])
  assert.equal((await client.query('select from authorization_state')).rowCount, 3)
  assert.deepEqual((await client.query('select email from former_users')).rows, [{ email: 'none' }])
})

test('a database that is newer than the program is refused and left alone', async () => {
  const url = await cloneTemplate()
  const client = await connect(url)
  await client.query(`insert into migrations (version, name) values (9999, '9999-future.sql')`)
  const before = await everything(url)
  await assert.rejects(migrate(url), /schema version 9999.*run the newer program/)
  assert.deepEqual(await everything(url), before)
})

test('a step that fails leaves nothing of itself, names itself, and is made up for later', async () => {
  const url = await emptyDatabase()
  const client = await connect(url)
  // In the way of the last table of a step that makes several.
  await client.query('create table access_tokens ()')
  await assert.rejects(migrate(url), /migration 0001-identity\.sql failed: .*access_tokens/)
  const { rows } = await client.query(
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`,
  )
  assert.deepEqual(
    rows.map(({ relname }) => relname),
    ['access_tokens', 'migrations'],
  )
  assert.equal((await client.query('select from migrations')).rowCount, 0)
  await client.query('drop table access_tokens')
  const { applied, version } = await migrate(url)
  assert.equal(applied.length, version)
})

test('jobs have the schema of the graphile-worker that is installed', async () => {
  const client = await connect(await cloneTemplate())
  const { rows } = await client.query('select max(id) as version from graphile_worker.migrations')
  assert.deepEqual(rows, [{ version: newestJobsVersion }])
})
