import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { runMasthead } from '../../../test/processes/masthead-process.ts'
import { schemaText } from '../../../test/schema-text.ts'
import { cloneTemplate } from '../../../test/service.ts'
import { serviceRole } from '../connections/connection.ts'
import { migrate, newestJobsVersion } from './migrate.ts'

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

test('jobs have the schema of the graphile-worker that is installed', async () => {
  const client = await connect(await cloneTemplate())
  const { rows } = await client.query('select max(id) as version from graphile_worker.migrations')
  assert.deepEqual(rows, [{ version: newestJobsVersion }])
})
