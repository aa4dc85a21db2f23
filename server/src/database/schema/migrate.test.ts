import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { runMasthead } from '../../../test/processes/masthead-process.ts'
import { schemaText } from '../../../test/schema-text.ts'
import { cloneTemplate } from '../../../test/service.ts'
import { serviceRole } from '../connections/connection.ts'
import { migrate } from './migrate.ts'

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

const schemaOf = async (connectionString: string): Promise<string> => schemaText(await connect(connectionString))

test('migrating again does nothing', async () => {
  const url = await cloneTemplate()
  const client = await connect(url)
  const kept = async () =>
    (await client.query('select m.*, i.cursor_key from migrations m, installation i order by version')).rows
  const [before, keptBefore] = [await schemaOf(url), await kept()]
  const migrated = await migrate(url)
  assert.deepEqual([migrated.applied, migrated.version, migrated.role], [[], keptBefore.length, serviceRole])
  assert.deepEqual(await schemaOf(url), before)
  assert.deepEqual(await kept(), keptBefore)
})

test('several that start at once on one database bring it up together, each step once', async () => {
  const url = await emptyDatabase()
  const results = await Promise.all(Array.from({ length: 5 }, () => migrate(url)))
  const applied = results.flatMap((result) => result.applied)
  assert.equal(applied.length, results[0]?.version)
  assert.equal(new Set(applied).size, applied.length)
  assert.deepEqual(await schemaOf(url), await schemaOf(await cloneTemplate()))
})

test('several that start at once on databases of one server succeed', async () => {
  const urls = [await emptyDatabase(), await emptyDatabase(), await emptyDatabase(), await emptyDatabase()]
  const results = await Promise.all(urls.map((url) => migrate(url)))
  for (const result of results) assert.equal(result.applied.length, result.version)
})

test('a database that is newer than the program is refused and left alone', async () => {
  const url = await cloneTemplate()
  const client = await connect(url)
  await client.query(`insert into migrations (version, name) values (9999, '9999-future.sql')`)
  const before = await schemaOf(url)
  await assert.rejects(migrate(url), /schema version 9999.*run the newer program/)
  assert.deepEqual(await schemaOf(url), before)
})

describe('a database of the program of before the migrations were rewritten', () => {
  const sentence =
    /an earlier Masthead made this database: .*`masthead export`.*`masthead import`.*users, tokens and the audit log are not carried over/
  const formerDatabase = async (applied: number): Promise<string> => {
    const url = await cloneTemplate()
    const client = await connect(url)
    await client.query('truncate migrations')
    await client.query(
      `insert into migrations (version, name)
        select n, case n when 1 then '0001-identity.sql' else lpad(n::text, 4, '0') || '-former.sql' end from generate_series(1, $1) as n`,
      [applied],
    )
    return url
  }

  for (const applied of [1, 18]) {
    test(`is refused and left alone, with ${applied} of its migrations`, async () => {
      const url = await formerDatabase(applied)
      const before = await schemaOf(url)
      await assert.rejects(migrate(url), sentence)
      assert.equal(await schemaOf(url), before)
    })
  }

  for (const command of ['serve', 'migrate']) {
    test(`is refused by \`masthead ${command}\` in one sentence`, async () => {
      const { code, stdout, stderr } = await runMasthead([command], { DATABASE_URL: await formerDatabase(18) })
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, sentence)
      assert.equal(stderr.trimEnd().split('\n').length, 1)
    })
  }
})

test('a step that fails leaves nothing of itself, names itself, and is made up for later', async () => {
  const url = await emptyDatabase()
  const client = await connect(url)
  // In the way of the last table of a step that makes several.
  await client.query('create table access_tokens ()')
  await assert.rejects(migrate(url), /migration 0001-installation-and-people\.sql failed: .*access_tokens/)
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

/** A database with the migrations before the one of this number. */
const databaseBefore = async (number: string): Promise<string> => {
  const url = await emptyDatabase()
  const client = await connect(url)
  const folder = new URL('./migrations/', import.meta.url)
  await client.query('create table migrations (version integer primary key, name text not null)')
  for (const [index, name] of (await readdir(folder)).sort().entries()) {
    if (name >= number) break
    await client.query(await readFile(new URL(name, folder), 'utf8'))
    await client.query('insert into migrations values ($1, $2)', [index + 1, name])
  }
  await client.query(`alter table migrations add applied_at timestamptz not null default now()`)
  return url
}

test('a legacy system and its deliveries become an endpoint, with their order, ids and attempts', async () => {
  const url = await databaseBefore('0015')
  const client = await connect(url)
  const tenants = [randomUUID(), randomUUID()]
  const record = randomUUID()
  for (const tenant of tenants) {
    await client.query(`insert into tenants (id, slug, name) values ($1, $2, 'Acme')`, [tenant, `t-${tenant}`])
    await client.query(
      `insert into legacy_systems (tenant_id, url, sealed_secret) values ($1, 'https://x.example', '\\x01')`,
      [tenant],
    )
    await client.query(
      `insert into legacy_deliveries (tenant_id, id, resource, record_id, type, body, attempts, last_error, failed_at)
        values ($1, 'msg_1', 'contacts', $2, 'contact.created', '{"a":1}', 7, 'answered 500', now()),
          ($1, 'msg_2', 'contacts', $2, 'contact.updated', '{"a":2}', 0, null, null)`,
      [tenant, record],
    )
  }
  await migrate(url)
  const { rows } = await client.query(
    `select endpoint.tenant_id, endpoint.id as endpoint, kind, url, event.id, type, event.record_id, body, attempts, error,
        failed_at is not null as failed, settled_at
      from webhook_endpoints as endpoint
      join webhook_deliveries as delivery on delivery.tenant_id = endpoint.tenant_id and delivery.endpoint_id = endpoint.id
      join webhook_events as event on event.tenant_id = delivery.tenant_id and event.sequence = delivery.sequence
      order by event.sequence`,
  )
  const common = (tenant: string | undefined) => ({
    ...{
      tenant_id: tenant,
      endpoint: tenant,
      kind: 'legacy',
      url: 'https://x.example',
      record_id: record,
      settled_at: null,
    },
  })
  const first = {
    id: 'msg_1',
    type: 'contact.created',
    body: '{"a":1}',
    attempts: 7,
    error: 'answered 500',
    failed: true,
  }
  const second = { id: 'msg_2', type: 'contact.updated', body: '{"a":2}', attempts: 0, error: null, failed: false }
  assert.deepEqual(
    rows,
    tenants.flatMap((tenant) => [first, second].map((delivery) => ({ ...common(tenant), ...delivery }))),
  )
  const added = await client.query(
    `insert into webhook_events (tenant_id, id, type, record_id, body) values ($1, 'msg_3', 'x', $2, '') returning sequence`,
    [tenants[0], record],
  )
  assert.equal(Number(added.rows[0]?.sequence), 5)
})
