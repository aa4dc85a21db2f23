import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { runInSession } from '../../test/processes/command-session.ts'
import { runMasthead, temporaryDataDirectory } from '../../test/processes/masthead-process.ts'
import { schemaText } from '../../test/schema-text.ts'
import { cloneTemplate } from '../../test/service.ts'
import { knownMigrations } from '../database/schema/migration-files.ts'
import { version } from '../version.ts'

const connect = async (connectionString: string, options: pg.ClientConfig = {}): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString, ...options })
  await client.connect()
  after(() => client.end())
  return client
}

const stateOf = async (client: pg.Client): Promise<unknown> => [
  await schemaText(client),
  (await client.query('select * from migrations order by version')).rows,
]

/** A database on which this program has not done its last migrations. */
const databaseBehind = async (): Promise<{ url: string; client: pg.Client }> => {
  const url = await cloneTemplate()
  const client = await connect(url)
  await client.query('delete from migrations where version > 23')
  await client.query(
    `insert into audit_entries (tenant_id, author, action, resource, record_id)
      select '00000000-0000-0000-0000-000000000000', '{}', 'x', 'x', 'x' from generate_series(1, 1200)`,
  )
  await client.query('analyze audit_entries')
  return { url, client }
}

const check = async (environment: Record<string, string>, ...args: string[]) => {
  const [words, json] = await Promise.all([
    runInSession(['upgrade', 'check', ...args], environment),
    runInSession(['upgrade', 'check', '--json', ...args], environment),
  ])
  assert.equal(words.code, json.code)
  assert.deepEqual([words.stderr, json.stderr], ['', ''])
  return { code: words.code, text: words.stdout, ...JSON.parse(json.stdout) }
}

describe('masthead upgrade check', () => {
  test('says what would be migrated, what takes long and what to back up, and changes nothing', async () => {
    const { url, client } = await databaseBehind()
    const before = await stateOf(client)
    await connect(url, { application_name: `masthead ${version}, 3 requests/s` })
    const { code, text, ready, plan, backup } = await check({ DATABASE_URL: url })
    assert.deepEqual([code, ready], [0, true])
    const files = (await knownMigrations()).slice(23)
    assert.deepEqual(
      plan.migrations.map(({ name }: { name: string }) => name),
      files,
    )
    for (const name of files) assert.match(text, new RegExp(`^  ${name}  [A-Z].*\\.$`, 'm'))
    assert.match(
      text,
      /0024-record-history\.sql {2}Finds what was done to one record, .*\n {4}builds an index of audit_entries: about 1,200 rows/,
    )
    assert.match(text, /Nodes that use it now: \d+\.\d+\.\d+ on \S+( machine)? \(1 session\)\.\nThey go on serving/)
    assert.equal(backup.steps.length, 3)
    // The address of tests names a folder of sockets.
    const { searchParams, pathname } = new URL(url)
    const server = `--host ${searchParams.get('host')} --port ${searchParams.get('port')}`
    assert.ok(backup.steps[0].startsWith(`pg_dump ${server} `) && backup.steps[0].endsWith(` ${pathname.slice(1)}`))
    assert.ok(backup.steps[1].startsWith(`pg_dumpall ${server} `))
    assert.match(
      text,
      /pg_dump .*--file masthead-before-\d.*\n.*pg_dumpall .*--roles-only.*\n {2}keep a copy of MASTHEAD_SECRET/,
    )
    assert.match(text, /Ready: `masthead migrate` migrates it, or the next start\.\n$/)
    assert.deepEqual(await stateOf(client), before)
  })

  test('finds nothing to do where the schema is that of this program, or of a newer one that admits it', async () => {
    const url = await cloneTemplate()
    const current = await check({ DATABASE_URL: url })
    assert.deepEqual([current.code, current.plan.schema.standing, current.backup], [0, 'current', null])
    assert.match(current.text, /Nothing is to be migrated\.\n\nReady\.\n$/)
    const client = await connect(url)
    await client.query(`insert into migrations (version, name, admits) values (9999, 'future.sql', $1)`, [version])
    const ahead = await check({ DATABASE_URL: url })
    assert.deepEqual([ahead.code, ahead.plan.schema.standing], [0, 'ahead'])
    assert.match(ahead.text, /A newer Masthead has migrated it, and it admits this one\./)
  })

  test('exits with 1 and names the version to take where the database admits only newer programs', async () => {
    const url = await cloneTemplate()
    const client = await connect(url)
    await client.query(`insert into migrations (version, name, admits) values (9999, 'future.sql', '99.1.0')`)
    const { code, text, ready, obstacles } = await check({ DATABASE_URL: url })
    assert.deepEqual([code, ready, obstacles.length], [1, false, 1])
    assert.match(
      text,
      /Blocked: this database admits Masthead 99\.1\.0 and newer, and this is .*\n {2}install Masthead 99\.1\.0/,
    )
  })

  test('exits with 1 and says what to do where the database does not answer', async () => {
    const { code, text, obstacles } = await check({ DATABASE_URL: 'postgres://masthead@127.0.0.1:1/masthead' })
    assert.deepEqual([code, obstacles.length], [1, 1])
    assert.match(
      text,
      /^Blocked: the database of DATABASE_URL cannot be used: .*ECONNREFUSED.*\n {2}see that the server runs.+\n$/,
    )
  })

  test('knows the embedded database: none yet, one to be backed up by a command that works, one of another PostgreSQL', async () => {
    const data = await temporaryDataDirectory()
    const none = await check({}, '--data-dir', data)
    assert.deepEqual(
      [none.code, none.plan, none.text],
      [0, null, 'There is no database yet: the first start makes it.\n'],
    )
    assert.ok(!existsSync(data))
    const own = { MASTHEAD_DATA_DIR: data }
    assert.equal((await runMasthead(['migrate'], own)).code, 0)
    const { openEmbedded } = await import('../database/embedded/server.ts')
    {
      await using server = await openEmbedded(data)
      const client = new pg.Client(server.connectionString)
      await client.connect()
      await client.query('delete from migrations where version > 24')
      await client.end()
      const { code, backup, plan } = await check({}, '--data-dir', data)
      assert.deepEqual([code, plan.migrations.length], [0, (await knownMigrations()).length - 24])
      assert.ok(backup.freeBytes > plan.server.databaseBytes)
      const [command, ...more] = backup.steps
      assert.deepEqual(more, [])
      assert.equal((await runInSession(command.split(' ').slice(1), {})).code, 0)
      assert.ok(existsSync(join(data, `../masthead-before-${version}.tar.zst`)))
    }
    await writeFile(join(data, 'postgres/PG_VERSION'), '17\n')
    const other = await check({}, '--data-dir', data)
    assert.equal(other.code, 1)
    assert.match(other.text, /Blocked: .* was made by PostgreSQL 17, and this program brings PostgreSQL 18/)
    assert.match(other.text, /pg_dump/)
  })
})
