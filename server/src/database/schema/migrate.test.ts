import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { runMasthead, until } from '../../../test/processes/masthead-process.ts'
import { schemaText } from '../../../test/schema-text.ts'
import { cloneTemplate } from '../../../test/service.ts'
import { keyOf } from '../../records/normalising.ts'
import { bodyOf } from '../../records/writes/write-statement.ts'
import { version } from '../../version.ts'
import { serviceRole } from '../connections/address.ts'
import { unpreparedOn } from '../connections/session.ts'
import type { Query } from '../connections/statement.ts'
import { migrate, statementsOf } from './migrate.ts'
import { headOf, knownMigrations, readMigration } from './migration-files.ts'
import { compareVersions, isOlder } from './program-version.ts'
import { newest, schemaState } from './schema-state.ts'

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

describe('a database that a newer program has migrated', () => {
  const newerDatabase = async (admits: string | null): Promise<string> => {
    const url = await cloneTemplate()
    const client = await connect(url)
    await client.query(`insert into migrations (version, name, admits) values (9998, '9998-former.sql', '0.9.0')`)
    await client.query(`insert into migrations (version, name, admits) values (9999, '9999-future.sql', $1)`, [admits])
    await client.query(`
      drop index search_texts_to_renew;
      alter table tenants add column colour text;
      grant update (colour) on tenants to ${serviceRole};
      alter table former_users rename to people_of_before`)
    return url
  }

  for (const admits of [null, '0.10.0', version]) {
    test(`is used, and left as it is, where it admits ${admits ?? 'every program'}`, async () => {
      const url = await newerDatabase(admits)
      const before = await schemaOf(url)
      const migrated = await migrate(url, { renewText: (text) => text })
      assert.deepEqual([migrated.applied, migrated.version, migrated.role], [[], 9999, serviceRole])
      assert.equal(await schemaOf(url), before)
    })
  }

  for (const admits of ['1.10.0', '99.0.0'])
    test(`is refused and left alone where it admits ${admits}, with the version to take`, async () => {
      const url = await newerDatabase(admits)
      const before = await schemaOf(url)
      const sentence = `this database admits Masthead ${admits} and newer, and this is ${version}: install Masthead ${admits} or newer`
      await assert.rejects(migrate(url), { message: sentence })
      assert.equal(await schemaOf(url), before)
      const { code, stdout, stderr } = await runMasthead(['serve'], { DATABASE_URL: url })
      assert.deepEqual([code, stdout], [1, ''])
      assert.ok(stderr.includes(sentence) && stderr.trimEnd().split('\n').length === 1, stderr)
    })
})

test('a database records the oldest program that it admits, as its migrations say', async () => {
  const client = await connect(await cloneTemplate())
  const stated = (await Promise.all((await knownMigrations()).map(readMigration))).flatMap(({ admits }) => admits ?? [])
  const state = await schemaState(unpreparedOn(client))
  assert.deepEqual([state.standing, state.admits], ['current', newest(stated)])
  assert.equal(stated[0], '1.0.0')
})

test('versions are compared by their numbers', () => {
  const ascending = ['0.9.0', '1.0.0', '1.0.2', '1.0.10', '1.9.0', '1.10.0', '2.0.0', '10.0.0']
  assert.deepEqual(ascending.toReversed().toSorted(compareVersions), ascending)
  assert.equal(compareVersions('1.1.0-rc.1', '1.1.0'), 0)
  for (const garbage of ['', 'garbage', '0.9.x']) assert.ok(isOlder(version, garbage), garbage)
})

test('every migration says first what it is for, and none admits only programs that are newer than this one', async () => {
  for (const name of await knownMigrations()) {
    const { purpose, admits } = await readMigration(name)
    assert.match(purpose, /^[A-Z].{10,}[.]$/, name)
    if (admits !== null) assert.ok(/^\d+\.\d+\.\d+$/.test(admits) && compareVersions(admits, version) <= 0, name)
  }
  const head =
    '-- Drops what no program reads\n-- any more. And so on.\n-- admits: 1.1.0\ndrop table x;\n-- admits: 2.0.0\n'
  assert.deepEqual(headOf(head), { purpose: 'Drops what no program reads any more.', admits: '1.1.0' })
})

test('a migration that others hinder gives up at once, lets them pass, and is done when it can be', async () => {
  const url = await databaseBefore('0028')
  const [holder, other] = [await connect(url), await connect(url)]
  await holder.query('begin; lock table migrations in share mode')
  const said: string[] = []
  const migrating = migrate(url, { say: (line) => said.push(line) })
  await until('it says what it waits for', () => said.length > 0)
  assert.deepEqual(said, ['0028-admitted-programs.sql waits for transactions that use the same tables'])
  for (let count = 0; count < 20; count++) {
    await other.query(`set lock_timeout = '2s'`)
    await other.query('select from migrations')
  }
  await holder.query('rollback')
  assert.deepEqual((await migrating).applied, (await knownMigrations()).slice(27))
})

test('limits of time that were set for the database end neither a migration nor who waits for it', async () => {
  const url = await emptyDatabase()
  const database = new URL(url).pathname.slice(1)
  for (const limit of ['statement_timeout', 'lock_timeout'])
    await administrator.query(`alter database ${database} set ${limit} = '300ms'`)
  const [first = ''] = await knownMigrations()
  // One statement, which takes longer than the limits and ends when the other migration has waited for longer, too.
  const text = `do $$ begin
    while clock_timestamp() < now() + interval '50 seconds' loop
      perform pg_stat_clear_snapshot();
      exit when exists (
        select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'
          and query_start < clock_timestamp() - interval '600 milliseconds');
    end loop;
  end $$`
  const fill = { [first]: async (query: Query) => void (await query({ text })) }
  const results = await Promise.all([migrate(url, { fill }), migrate(url, { fill })])
  assert.deepEqual(results.flatMap(({ applied }) => applied).toSorted(), await knownMigrations())
})

test('a stop ends the waiting of a migration', async () => {
  const url = await databaseBefore('0028')
  const holder = await connect(url)
  await holder.query('begin; lock table migrations in share mode')
  const stopping = new AbortController()
  await assert.rejects(
    migrate(url, { say: () => stopping.abort(), stopping: stopping.signal }),
    /migration 0028-admitted-programs\.sql failed: .*lock timeout; end the transaction that keeps it locked/,
  )
  await holder.query('rollback')
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

type Run = (client: pg.Client, sql: string) => Promise<unknown>

/** A database with the migrations before the one of this number. */
const databaseBefore = async (number: string, run: Run = (client, sql) => client.query(sql)): Promise<string> => {
  const url = await emptyDatabase()
  const client = await connect(url)
  const folder = new URL('./migrations/', import.meta.url)
  await client.query(
    'create table migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())',
  )
  for (const [index, name] of (await readdir(folder)).sort().entries()) {
    if (name >= number) break
    await run(client, await readFile(new URL(name, folder), 'utf8'))
    await client.query('insert into migrations (version, name) values ($1, $2)', [index + 1, name])
  }
  return url
}

test('statement by statement, as sharded tables are migrated, the migrations make the same schema', async () => {
  const url = await databaseBefore('9999', async (client, sql) => {
    for (const text of statementsOf(sql)) await client.query(text)
  })
  assert.deepEqual((await migrate(url)).applied, [])
  assert.equal(await schemaOf(url), await schemaOf(await cloneTemplate()))
})

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
    tenant_id: tenant,
    endpoint: tenant,
    kind: 'legacy',
    url: 'https://x.example',
    record_id: record,
    settled_at: null,
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

test('tasks of before can be shown, and are counted by their users', async () => {
  const url = await databaseBefore('0019')
  const client = await connect(url)
  const tenants = [randomUUID(), randomUUID()]
  for (const tenant of tenants) {
    await client.query(`insert into tenants (id, slug, name) values ($1, $2, 'Acme')`, [tenant, `t-${tenant}`])
    await client.query(
      `insert into accounts (tenant_id, position, version, id, account_id, created_at, updated_at, class, body)
        values ($1, 1, 1, gen_random_uuid(), 'A', now(), now(), 0, '{}')`,
      [tenant],
    )
    await client.query(
      `insert into tasks (tenant_id, position, version, id, account_id, title, due_date, user_id, priority, route, created_at, class, body)
        select $1, n, n, gen_random_uuid(), 'A', 'Call "' || n || '"', '2026-12-01', case n when 3 then '' else 'ada' end, 'high', 'legacy',
          '2026-01-02T03:04:05.678Z', 0, '{}' from generate_series(1, 3) as n`,
      [tenant],
    )
    await client.query(`insert into heads (tenant_id, resource, last, version) values ($1, 'tasks', 3, 3)`, [tenant])
    await client.query(
      `insert into tallies (tenant_id, resource, facet, class, level, block, count)
        select $1, 'tasks', '', 0, level, 0, 3 from unnest(array[10, 16, 22, 62]) as level`,
      [tenant],
    )
  }
  await migrate(url)
  for (const tenant of tenants) {
    const { rows } = await client.query('select id, body from tasks where tenant_id = $1 order by position', [tenant])
    assert.deepEqual(JSON.parse(rows[0].body), {
      id: rows[0].id,
      accountId: 'A',
      title: 'Call "1"',
      dueDate: '2026-12-01',
      userId: 'ada',
      priority: 'high',
      type: null,
      notes: null,
      doneAt: null,
      route: 'legacy',
      createdAt: '2026-01-02T03:04:05.678Z',
      updatedAt: '2026-01-02T03:04:05.678Z',
    })
    const { rows: counts } = await client.query(
      `select facet, count::integer from tallies where tenant_id = $1 and resource = 'tasks' and level = 62 order by facet`,
      [tenant],
    )
    assert.deepEqual(counts, [
      { facet: '', count: 3 },
      { facet: 'userId=', count: 1 },
      { facet: 'userId=ada', count: 2 },
    ])
    const stale = `select from tasks as record where tenant_id = $1 and body is distinct from ${bodyOf('tasks', 'record')}`
    assert.equal((await client.query(stale, [tenant])).rowCount, 0, 'bodies are those of a write')
  }
})

test('stored search texts get the form that this program searches for, batch by batch, also those that the program of before writes later', async () => {
  const url = await databaseBefore('0021')
  const client = await connect(url)
  const tenant = randomUUID()
  await client.query(`insert into tenants (id, slug, name) values ($1, 'acme', 'Acme')`, [tenant])
  const add = (from: number, to: number, text: string) =>
    client.query(
      `insert into search_texts (tenant_id, resource, position, class, text)
        select $1, 'contacts', number, 0, $4 from generate_series($2::bigint, $3) as number`,
      [tenant, from, to, text],
    )
  const counts = async () =>
    (
      await client.query(
        'select text, count(*)::integer as count from search_texts group by text order by min(position)',
      )
    ).rows
  await add(1, 5_000, 'jan mueller kjær')
  await add(5_001, 5_002, 'ann')
  assert.equal((await runMasthead(['migrate'], { DATABASE_URL: url })).code, 0)
  const renewed = 'jan muller kjar \u0001mueller kjær \u0003ZkjZjæZær'
  assert.deepEqual(await counts(), [
    { text: renewed, count: 5_000 },
    { text: 'ann \u0003', count: 2 },
  ])
  await client.query(`update search_texts set text = 'noel' where position = 1`)
  await client.query(`update search_texts set text = $1 where position = 2`, ['nol \u0001noel \u0002Zxx'])
  assert.equal((await runMasthead(['migrate'], { DATABASE_URL: url })).code, 0)
  assert.deepEqual((await counts())[0], { text: 'nol \u0001noel \u0003', count: 2 })
})

test('records of before are found and sorted by names as this program compares them', async () => {
  const url = await databaseBefore('0020')
  const client = await connect(url)
  const tenant = randomUUID()
  await client.query(`insert into tenants (id, slug, name) values ($1, 'keyed', 'Keyed')`, [tenant])
  await client.query(
    `insert into accounts (tenant_id, position, version, id, account_id, company, city, created_at, updated_at, class, body)
      select $1, number, number, gen_random_uuid(), 'A-' || number, 'Groß ' || number, $2, now(), now(), 0, '{}'
      from generate_series(1, 2500) as number`,
    [tenant, 'Βόλος'],
  )
  await client.query(
    `insert into contacts (tenant_id, position, version, id, account_id, name, email, created_at, updated_at, class, body)
      values ($1, 1, 1, gen_random_uuid(), 'A-1', 'ÉLAN Diyarbakır', 'Élan@Example.COM', now(), now(), 0, '{}')`,
    [tenant],
  )
  assert.equal((await runMasthead(['migrate'], { DATABASE_URL: url })).code, 0)
  const { rows } = await client.query(
    'select distinct city_key, company_key from accounts where tenant_id = $1 and company_key ~ $2',
    [tenant, ' (1|2500)$'],
  )
  assert.deepEqual(
    rows.toSorted((one, other) => one.company_key.length - other.company_key.length),
    [1, 2_500].map((number) => ({ city_key: keyOf.name('Βόλος'), company_key: `gross ${number}` })),
  )
  const contacts = await client.query('select name_key, first_name_key, email_key from contacts where tenant_id = $1', [
    tenant,
  ])
  assert.deepEqual(contacts.rows, [
    { name_key: keyOf.name('ÉLAN Diyarbakır'), first_name_key: null, email_key: 'élan@example.com' },
  ])
  const unkeyed = 'select from accounts where tenant_id = $1 and (company_key is null or city_key is null)'
  assert.equal((await client.query(unkeyed, [tenant])).rowCount, 0)
})
