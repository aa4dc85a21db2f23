import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type ResourceName, resourceNames } from '@masthead/contract'
import pg from 'pg'
import { attachTo, startReceiver } from '../../test/outside/webhook-receiver.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { addSamples } from '../../test/records/populated-tenant.ts'
import { sampleAccount, sampleContact, samplePublication } from '../../test/records/sample-records.ts'
import { assertTenantTallies } from '../../test/records/tallies.ts'
import { openPort, startService, type TestTenant } from '../../test/service.ts'
import { buildApp } from '../app.ts'
import { operator } from '../audit/author.ts'
import { chainWaiting } from '../audit/queries.ts'
import { allScopes } from '../identity/people/roles.ts'
import { createTenant } from '../identity/people/tenants.ts'
import { createToken } from '../identity/tokens/access-tokens.ts'
import { probeTables, storeExport } from '../probe/queries.ts'
import { getRecord, newId } from '../records/identifiers.ts'
import { insertRecords, lockHead, writeRecords } from '../records/writes/write.ts'
import { beginImport, storeChanges, storeCreations } from '../transfer/import/journal.ts'
import { addPart, createRun, rememberMapping } from '../transfer/runs/runs.ts'
import { DeliveryWorker } from '../webhooks/delivery-worker.ts'
import { attach } from '../webhooks/legacy/administration.ts'
import { serviceRole } from './connections/address.ts'
import { openDatabase } from './database.ts'
import { migrate } from './schema/migrate.ts'
import { readByTheirOwner, withoutPolicy } from './tenant-tables.ts'
import { versionsFrom } from './versions.ts'

const service = await startService()
/** The tables of a tenant's records and of what is kept about them. */
const tables = [
  ...resourceNames,
  'heads',
  'tallies',
  'removed_records',
  'search_texts',
  'imports',
  'import_creations',
  'import_parts',
  'import_runs',
  'import_mappings',
  'exports',
  'export_chunks',
  'import_changes',
  'idempotency_records',
  'webhook_endpoints',
  'webhook_events',
  'webhook_deliveries',
  'audit_keys',
  'audit_entries',
  'audit_links',
]
/** What the role can read and not write, but by the functions that add to the log. */
const auditTables = ['audit_keys', 'audit_entries', 'audit_links']

const fill = async (tenant: TestTenant): Promise<void> => {
  await addSamples(tenant, ['SAME'], { contacts: { name: `Of ${tenant.id}` } })
  await tenant.add('accounts', [sampleAccount(`A-${tenant.id.slice(-4)}`)])
  const token = await tenant.serviceToken()
  // No worker runs, so the task waits to be delivered.
  await attachTo(service, tenant, { url: 'http://127.0.0.1:1/', secret: '' })
  const task = { accountId: 'SAME', title: 'Call', dueDate: '2026-01-01' }
  const headers = { 'idempotency-key': 'same' }
  assert.equal((await service.call('POST', '/tasks', { token, body: task, headers })).status, 201)
  await chainWaiting(service.database)
  const [spare] = await tenant.add('publications', [samplePublication('SPARE')])
  const importId = newId()
  const scope = service.database.forTenant(tenant.id)
  await scope.inBulk((_client, query) => beginImport(query, operator, importId, [], ''))
  await scope.transaction(async (query) => {
    await lockHead(query, 'publications')
    const { record: before } = await getRecord(query, 'publications', String(spare?.id))
    await writeRecords(query, 'publications', [{ before, after: null, author: null }])
    const run = await createRun(query, { kind: 'import', fileName: 'contacts.csv', resource: 'contacts' })
    await addPart(query, run.id, 1, Buffer.from('email'))
    await rememberMapping(query, 'header', { resource: 'contacts', options: {} })
    await storeCreations(query, importId, 'contacts', 1, 1)
    await storeExport(query, newId(), 'text')
    await storeChanges(query, importId, 'contacts', [{ id: newId() }])
  })
}

describe('under the role that serves', () => {
  let a: TestTenant
  let b: TestTenant
  const session = new pg.Client(service.connectionString)

  before(async () => {
    ;[a, b] = [await service.newTenant(), await service.newTenant()]
    await fill(a)
    await fill(b)
    await session.connect()
    await session.query(`set role ${serviceRole}`)
  })
  after(() => session.end())

  /** Runs the statement, in a transaction of the tenant when there is one, and takes it back. */
  const attempt = async (tenantId: string | null, sql: string, values: unknown[] = []): Promise<pg.QueryResult> => {
    await session.query('begin')
    try {
      if (tenantId) await session.query(`select set_config('masthead.tenant', $1, true)`, [tenantId])
      return await session.query(sql, values)
    } finally {
      await session.query('rollback')
    }
  }

  const statements = (table: string): string[] => {
    const column = table === 'search_texts' ? 'position' : 'tenant_id'
    return [
      `select ${column} from ${table}`,
      `insert into ${table} (tenant_id) values ('${b.id}')`,
      `insert into ${table} default values`,
      `update ${table} set tenant_id = tenant_id`,
      `delete from ${table}`,
    ]
  }

  test('nothing can be written where it is read', async () => {
    const { read, readSlowly } = service.database.forTenant(a.id)
    const text = 'delete from tallies where tenant_id = $1'
    await Promise.all([
      assert.rejects(read({ text }), { code: '25006' }),
      assert.rejects(readSlowly({ text }), { code: '25006' }),
      assert.rejects(service.database.read({ text, values: [a.id] }), { code: '25006' }),
    ])
  })

  test('nothing can be done to any table without a tenant, also after a transaction that had one', async () => {
    const refused = async (missing: RegExp) => {
      for (const table of tables) {
        // What is checked first, the tenant or the permission, PostgreSQL decides.
        const isWrite = (sql: string) => auditTables.includes(table) && /^(insert|update)/.test(sql)
        const either = new RegExp(`permission denied|${missing.source}`)
        for (const sql of statements(table)) {
          await assert.rejects(attempt(null, sql), isWrite(sql) ? either : missing, sql)
        }
      }
    }
    await refused(/unrecognized configuration parameter "masthead\.tenant"/)
    await attempt(a.id, 'select from contacts')
    await refused(/invalid input syntax for type uuid: ""/)
    await assert.rejects(
      attempt(null, `select search_positions('contacts', '{of}', null, '{0}', '{}', '{}', 0, 9)`),
      /uuid: ""/,
    )
  })

  test("another tenant's rows are invisible, and cannot be changed, deleted, taken over or added to", async () => {
    for (const table of tables) {
      const { rows } = await service.owner.query(`select from ${table} where tenant_id = $1`, [b.id])
      assert.ok(rows.length > 0, `${table} has rows of the other tenant`)
      const ofB = `where tenant_id = '${b.id}'`
      const count = async (sql: string) => (await attempt(a.id, sql)).rowCount
      assert.equal(await count(`select tenant_id from ${table} ${ofB}`), 0, table)
      if (auditTables.includes(table)) {
        await assert.rejects(count(`update ${table} set tenant_id = tenant_id`), /permission denied/, table)
      } else {
        assert.equal(await count(`update ${table} set tenant_id = tenant_id ${ofB}`), 0, table)
        await assert.rejects(attempt(a.id, `update ${table} set tenant_id = '${b.id}'`), /row-level security/, table)
      }
      assert.equal(await count(`delete from ${table} ${ofB}`), 0, table)
      const visible = await attempt(a.id, `select distinct tenant_id from ${table}`)
      assert.deepEqual(visible.rows, [{ tenant_id: a.id }], table)
    }
  })

  test("a row cannot be added for another tenant, nor refer to another tenant's", async () => {
    const columns = '(tenant_id, position, version, class, body, id, account_id, created_at, updated_at)'
    const insert = `insert into contacts ${columns} values ($1, 99, 99, 0, '', $2, $3, now(), now())`
    await assert.rejects(attempt(a.id, insert, [b.id, randomUUID(), 'SAME']), /row-level security/)
    const accountOfB = `A-${b.id.slice(-4)}`
    await assert.rejects(attempt(a.id, insert, [a.id, randomUUID(), accountOfB]), /violates foreign key/)
    assert.equal((await attempt(a.id, insert, [a.id, randomUUID(), 'SAME'])).rowCount, 1)
  })

  test('the text that search looks in cannot be read, not even of the own tenant', async () => {
    for (const sql of [
      'select text from search_texts',
      'select * from search_texts',
      'select max(text) from search_texts',
    ]) {
      await assert.rejects(attempt(a.id, sql), /permission denied/, sql)
    }
    const search = `select search_positions('contacts', array['of'], null, '{0}', '{}', '{}', 0, 9)`
    assert.equal((await attempt(a.id, search)).rowCount, 1)
    const foreign = `select search_positions('contacts', array[$1], null, '{0}', '{}', '{}', 0, 9)`
    assert.equal((await attempt(a.id, foreign, [b.id])).rowCount, 0)
  })

  test('row-level security holds every table that has a tenant', async () => {
    const { rows } = await service.owner.query(`
      select relname as name, relrowsecurity as enabled, relforcerowsecurity as forced
      from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'tenant_id'
      where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`)
    const expected = rows.map(({ name }) => ({
      name,
      enabled: !withoutPolicy.includes(name),
      forced: !withoutPolicy.includes(name) && !readByTheirOwner.includes(name),
    }))
    assert.deepEqual(rows, expected)
    const held = rows.filter(({ enabled }) => enabled).map(({ name }) => name)
    assert.deepEqual(held.sort(), tables.toSorted())
  })

  test('the role owns nothing and passes by nothing', async () => {
    const { rows } = await service.owner.query(
      `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
        (select count(*) from pg_class where relowner = pg_roles.oid) as relations,
        (select count(*) from pg_proc where proowner = pg_roles.oid) as functions,
        (select count(*) from pg_auth_members where member = pg_roles.oid) as memberships
      from pg_roles where rolname = $1`,
      [serviceRole],
    )
    const nothing = { rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false }
    assert.deepEqual(rows, [
      { ...nothing, rolcanlogin: false, rolreplication: false, relations: 0, functions: 0, memberships: 0 },
    ])
    for (const sql of ['create table x ()', 'truncate contacts', 'alter table contacts disable row level security']) {
      await assert.rejects(attempt(a.id, sql), /permission denied|must be owner/, sql)
    }
  })
})

test('many calls of many tenants at once, over the shared connections, each see their own', async () => {
  const tenants = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const tenant = await service.newTenant()
      await tenant.add('accounts', [sampleAccount('SAME', { company: tenant.id })])
      const names = Array.from({ length: 5 }, () => sampleContact('SAME', { name: tenant.id }))
      const contacts = await tenant.add('contacts', names)
      return { id: tenant.id, token: await tenant.serviceToken(), contact: String(contacts[0]?.id) }
    }),
  )
  const calls = Array.from({ length: 500 }, async (_, index) => {
    const { id, token, contact } = tenants[index % 10] ?? assert.fail()
    const other = tenants[(index + 1) % 10]?.contact
    const kind = Math.floor(index / 10) % 6
    const path = [
      `/contacts/${contact}`,
      '/contacts?pageSize=3',
      '/accounts/SAME',
      '/contacts?search=ada&accountId=SAME',
      `/contacts/${other}`,
      '/contacts?search=lovelace',
    ][kind]
    const answer = await service.call('GET', path ?? '', { token })
    if (kind === 4) return assert.equal(answer.status, 404)
    assert.equal(answer.status, 200, answer.text)
    const records: Record<string, unknown>[] = answer.body.items ?? [answer.body]
    assert.equal(records.length, kind === 1 ? 3 : answer.body.items ? 5 : 1)
    for (const record of records) assert.equal(record.company ?? record.name, id)
  })
  await Promise.all(calls)
})

test('many creates of many tenants at once, over the same few connections, are each stored in their own', async () => {
  const tenants = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const tenant = await service.newTenant()
      await tenant.add('accounts', [sampleAccount('SAME'), sampleAccount(`A-${tenant.id}`)])
      return { ...tenant, token: await tenant.serviceToken() }
    }),
  )
  const calls = Array.from({ length: 200 }, async (_, index) => {
    const { id, token } = tenants[index % 10] ?? assert.fail()
    const other = tenants[(index + 1) % 10]?.id
    // Every fifth names an account that only another tenant has.
    const accountId = index % 5 === 4 ? `A-${other}` : index % 2 ? 'SAME' : `A-${id}`
    const answer = await service.call('POST', '/contacts', { token, body: { accountId, name: id } })
    assert.equal(answer.status, index % 5 === 4 ? 422 : 201, answer.text)
  })
  await Promise.all(calls)
  for (const { id, token } of tenants) {
    const { body } = await service.call('GET', '/contacts?pageSize=50', { token })
    const names = body.items.map(({ name }: { name: string }) => name)
    const refused = [4, 9].includes(tenants.findIndex((tenant) => tenant.id === id)) ? 20 : 0
    assert.deepEqual(names, new Array(20 - refused).fill(id))
    await assertTenantTallies(service.owner, id)
  }
})

test('a write leaves neither its tenant nor, when it fails, anything it did', async () => {
  const { id } = await service.newTenant()
  await using database = await openAlone()
  const text = `with added as (insert into heads (tenant_id, resource) values ($1, $2))
    select (6 / $3::integer)::text as body`
  const { write } = database.forTenant(id)
  const divide = (resource: string, divisor: number) =>
    write(async () => (query) => query({ text, values: [resource, divisor] }))
  const withoutTenant = () => assert.rejects(database.query({ text: 'select from heads' }), /uuid: ""/)
  assert.deepEqual(await divide('one', 2), [{ body: '3' }])
  await withoutTenant()
  await assert.rejects(divide('two', 0), /division by zero/)
  await withoutTenant()
  assert.deepEqual(await divide('three', 6), [{ body: '1' }])
  const { rows } = await service.owner.query('select resource from heads where tenant_id = $1 order by 1', [id])
  assert.deepEqual(rows, [{ resource: 'one' }, { resource: 'three' }])
})

/** With one connection that writes, so that what it leaves there meets the next. */
const openAlone = async () => {
  const database = openDatabase(
    { connectionString: service.connectionString, role: serviceRole },
    {
      connections: { reading: 1, searching: 1, writing: 1 },
    },
  )
  return { ...database, [Symbol.asyncDispose]: database.close }
}

describe('served by the plain owner of the database', () => {
  test('lists, search and writes see and touch one tenant alone', async (context) => {
    const { url, dispose } = await ownedDatabase()
    const migrated = await migrate(url)
    assert.equal(migrated.role, null)
    const database = openDatabase({ connectionString: url, role: migrated.role })
    const app = await buildApp({
      rateLimits: null,
      database,
      baseUrl: 'http://masthead.test',
      delegation: { issuer: 'http://masthead.test', secret: 'a secret for tests' },
    })
    const origin = await openPort(app)
    context.after(async () => {
      await app.close()
      await database.close()
      await dispose()
    })
    const call = async (method: string, path: string, token: string, given?: unknown) => {
      const response = await fetch(`${origin}/customer-api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(given ? { 'content-type': 'application/json' } : {}) },
        ...(given ? { body: JSON.stringify(given) } : {}),
      })
      const body: { total: number; items: { name: string }[] } = JSON.parse(await response.text())
      return { status: response.status, body }
    }
    const newTenant = async (name: string) => {
      const { id } = await createTenant(database.query, { slug: name, name })
      const add = (resource: ResourceName, records: Record<string, unknown>[]) =>
        database.forTenant(id).transaction((query) => insertRecords(query, resource, records))
      await add('accounts', [sampleAccount('SAME')])
      const [body = '{}'] = await add('contacts', [sampleContact('SAME', { name: `Of ${name}` })])
      const given = { tenantId: id, name: 'test', service: 'test', scopes: [...allScopes], defaultAssignee: null }
      return {
        name,
        id,
        contact: JSON.parse(body).id,
        token: (await createToken(database.query, operator, given)).token,
      }
    }
    const [red, blue] = [await newTenant('red'), await newTenant('blue')]
    const names = async (path: string, token: string) => {
      const { status, body } = await call('GET', path, token)
      assert.equal(status, 200)
      return [body.total, body.items.map(({ name }) => name)]
    }
    for (const [own, other] of [
      [red, blue],
      [blue, red],
    ] as const) {
      for (const path of [
        '/contacts',
        '/contacts?accountId=SAME',
        '/contacts?search=of',
        '/contacts?search=of&accountId=SAME',
      ]) {
        assert.deepEqual(await names(path, own.token), [1, [`Of ${own.name}`]], path)
      }
      assert.deepEqual(await names(`/contacts?search=${other.name}`, own.token), [0, []])
      assert.equal((await call('GET', `/contacts/${other.contact}`, own.token)).status, 404)
      assert.equal((await call('DELETE', `/contacts/${other.contact}`, own.token)).status, 404)
    }
    const renaming = { accountId: 'SAME', name: 'Renamed' }
    assert.equal((await call('PATCH', `/contacts/${red.contact}`, red.token, renaming)).status, 200)
    assert.deepEqual(await names('/contacts?search=renamed', red.token), [1, ['Renamed']])
    assert.deepEqual(await names('/contacts?search=renamed', blue.token), [0, []])
    assert.deepEqual(await names('/contacts?search=blue', blue.token), [1, ['Of blue']])
    await assert.rejects(database.query({ text: 'select * from contacts' }), /masthead\.tenant|uuid/)
    // What another process writes moves the version of its tenant alone, whoever owns the tables.
    const askVersions = versionsFrom(database.readVersions, 0)
    const versions = () => Promise.all([askVersions(red.id), askVersions(blue.id)])
    const before = await versions()
    const other = openDatabase({ connectionString: url, role: migrated.role })
    await other.forTenant(red.id).transaction((query) => insertRecords(query, 'accounts', [sampleAccount('LATE')]))
    await other.close()
    const [after, ofBlue] = await versions()
    assert.notEqual(after?.records, before[0]?.records)
    assert.deepEqual(ofBlue, before[1])

    const { tables: probed, ...found } = await probeTables(database, red.id, blue.id)
    assert.deepEqual(found, { leaks: [], notProbed: [] })
    assert.deepEqual(probed.toSorted(), tables.filter((table) => !readByTheirOwner.includes(table)).sort())

    const receiver = await startReceiver()
    const secret = receiver.secret.replace('whsec_', '')
    await attach(database.forTenant(red.id), { url: receiver.url, secret, installation: 'a secret for tests' })
    const worker = new DeliveryWorker({
      connection: { connectionString: url, role: null },
      secret: async () => 'a secret for tests',
      allowPrivate: true,
      onError: assert.fail,
    })
    for (const { contact, token } of [red, blue]) await call('DELETE', `/contacts/${contact}`, token)
    await until('the write of one tenant is delivered', () => receiver.taken.length > 0)
    await worker.stop()
    assert.deepEqual(
      receiver.received.map(({ message }) => message.data.id),
      [red.contact],
    )
  })
})

describe('an administrator who runs one command', () => {
  for (const rights of ['', 'bypassrls in role masthead_service'])
    test(`takes nothing from the owner who serves (${rights || 'plain'})`, async (context) => {
      const { url, dispose } = await ownedDatabase(rights)
      context.after(dispose)
      await migrate(url)
      await migrate(
        Object.assign(new URL(process.env.TEST_DATABASE_SERVER ?? ''), { pathname: new URL(url).pathname }).href,
      )
      const { role } = await migrate(url)
      await using database = {
        ...openDatabase({ connectionString: url, role: role }),
        [Symbol.asyncDispose]: () => database.close(),
      }
      const create = async (slug: string) => {
        const { id } = await createTenant(database.query, { slug, name: slug })
        const tenant = database.forTenant(id)
        await tenant.transaction((query) => insertRecords(query, 'accounts', [sampleAccount('SAME')]))
        await tenant.transaction((query) => insertRecords(query, 'contacts', [sampleContact('SAME')]))
        const contact = { ...sampleContact('SAME'), id: randomUUID() }
        const added = { before: null, after: contact, author: operator, delivery: { userId: null } }
        return tenant.transaction((query) => writeRecords(query, 'contacts', [added]))
      }
      for (const written of await Promise.all(['red', 'blue'].map(create))) assert.equal(written.length, 1)
    })
})

/** A database that belongs to a role without any privilege beyond it, as managed servers hand them out. */
const ownedDatabase = async (rights = ''): Promise<{ url: string; dispose: () => Promise<void> }> => {
  const server = process.env.TEST_DATABASE_SERVER ?? ''
  const name = `owned_${randomUUID().replaceAll('-', '')}`
  const administrator = new pg.Client(server)
  await administrator.connect()
  await administrator.query(`create role ${name} login password 'owned' ${rights}`)
  await administrator.query(`create database ${name} owner ${name}`)
  const url = new URL(server)
  url.username = name
  url.password = 'owned'
  url.pathname = `/${name}`
  const dispose = async () => {
    await administrator.query(`drop database ${name} with (force)`)
    await administrator.query(`drop role ${name}`)
    await administrator.end()
  }
  return { url: url.href, dispose }
}
