import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../../test/masthead-process.ts'
import { sampleAccount } from '../../test/sample-records.ts'
import { startService, walk } from '../../test/service.ts'
import { assertTenantTallies } from '../../test/tallies.ts'
import { entriesAfter } from '../audit/queries.ts'
import type { Row } from './connection.ts'
import { JoinedWrites } from './joined-writes.ts'

const service = await startService()

type Tenant = { id: string; token: string }

const newTenant = async (): Promise<Tenant> => {
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('C-1'), sampleAccount('C-2')])
  // So that it has a head.
  assert.equal((await create({ id: tenant.id, token }, 'First')).status, 201)
  return { id: tenant.id, token }
}

const newTenants = (count: number): Promise<Tenant[]> => Promise.all(Array.from({ length: count }, newTenant))

const create = ({ token }: Tenant, name: string, accountId = 'C-1', more: Record<string, string> = {}) =>
  service.call('POST', '/contacts', {
    ...{ token, body: { accountId, name }, headers: { 'x-request-id': `of-${name}`, ...more } },
  })

const namesOf = async ({ token }: Tenant): Promise<unknown[]> =>
  (await walk(service, token, '/contacts')).map(({ name }) => name)

/** Who created whom, as the audit log tells. */
const noted = async ({ id }: Tenant): Promise<unknown[]> => {
  const entries = await service.database.forTenant(id).transaction((query) => entriesAfter(query, 0, 1_000))
  return entries
    .filter(({ resource }) => resource === 'contacts')
    .map(({ author, values }) => ['requestId' in author && author.requestId, JSON.parse(values ?? 'null').after.name])
}

/** Somebody else who holds rows until the end of a transaction. */
const holding = async (text: string, values: unknown[]) => {
  const client = new pg.Client(service.connectionString)
  await client.connect()
  await client.query('begin')
  await client.query(text, values)
  return async () => {
    await client.query('commit')
    await client.end()
  }
}

const waitingForLocks = async (milliseconds = 0): Promise<number> => {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    and clock_timestamp() - query_start > $1 * interval '1 millisecond'`
  return (await service.owner.query(text, [milliseconds])).rows.length
}

describe('creates of several tenants at one moment', () => {
  test('share transactions, and each has its own answer, place, total, text for search and entry in the audit log', async () => {
    const tenants = await newTenants(8)
    // One tenant after the other, so that what waits is never of one alone.
    const sent = Array.from({ length: 10 }, (_, number) =>
      tenants.map((tenant, index) => ({ tenant, name: `Contact-${index}-${number}` })),
    ).flat()
    const answers = await Promise.all(sent.map(({ tenant, name }) => create(tenant, name)))
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.name]),
      sent.map(({ name }) => [201, name]),
    )
    for (const [index, tenant] of tenants.entries()) {
      const own = sent.filter((one) => one.tenant === tenant).map(({ name }) => name)
      const [, ...listed] = await namesOf(tenant)
      assert.deepEqual([...listed].sort(), own)
      const [, ...entries] = await noted(tenant)
      assert.deepEqual(
        entries,
        listed.map((name) => [`of-${name}`, name]),
      )
      const found = await service.call('GET', `/contacts?search=contact-${index}-7`, { token: tenant.token })
      assert.deepEqual([found.body.total, found.body.items[0].name], [1, `Contact-${index}-7`])
      await assertTenantTallies(service.owner, tenant.id)
    }
    const { rows } = await service.owner.query<{ tenants: number }>(
      `select max(tenants)::integer as tenants from (
        select count(distinct tenant_id) as tenants from contacts where tenant_id = any ($1) group by xmin::text) as counted`,
      [tenants.map(({ id }) => id)],
    )
    assert.ok((rows[0]?.tenants ?? 0) > 1, 'no transaction held contacts of two tenants')
  })

  test('are stored with every field, as one that goes alone', async () => {
    const [one, other] = [await newTenant(), await newTenant()]
    const body = {
      ...{ accountId: 'C-2', firstName: 'Ada "A."', lastName: 'Lövelace', phone: '1', phone2: '2', extension: '3' },
      ...{ hideContact: true, subsOnly: true, doNotEmail: false, email: 'ada@example.com', title: '\\', notes: '😀\n' },
    }
    const send = ({ token }: Tenant, accountId: string) =>
      service.call('POST', '/contacts', { token, body: { ...body, accountId } })
    const account = await service.call('GET', '/accounts/C-2', { token: one.token })
    // Whoever names an account by its `id` goes alone.
    const answers = await Promise.all([send(one, 'C-2'), send(other, 'C-2'), send(one, account.body.id)])
    for (const { status, text } of answers) assert.equal(status, 201, text)
    const [joined, , alone] = answers.map(
      ({ body: { id: _id, createdAt: _created, updatedAt: _updated, ...rest } }) => rest,
    )
    assert.deepEqual(joined, alone)
    assert.deepEqual({ ...joined, ...body }, joined)
    const read = await service.call('GET', `/contacts/${answers[0].body.id}`, { token: one.token })
    assert.equal(read.text, answers[0].text)
    for (const { id } of [one, other]) await assertTenantTallies(service.owner, id)
  })

  test('are refused each for itself', async () => {
    const [one, two, three] = await newTenants(3)
    assert.ok(one && two && three)
    await service.owner.query(
      `insert into legacy_systems (tenant_id, url, sealed_secret) values ($1, 'http://127.0.0.1:9', '')`,
      [three.id],
    )
    const answers = await Promise.all([
      ...[create(one, 'a'), create(two, 'b', 'nobody'), create(two, 'c'), create(three, 'd'), create(one, 'e', 'C-3')],
    ])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 422, 201, 201, 422],
    )
    assert.deepEqual(
      [await namesOf(one), await namesOf(two)],
      [
        ['First', 'a'],
        ['First', 'c'],
      ],
    )
    const handedOver = await service.owner.query('delete from legacy_deliveries where tenant_id = $1', [three.id])
    assert.equal(handedOver.rowCount, 1)
    await service.owner.query('delete from legacy_systems where tenant_id = $1', [three.id])
    for (const { id } of [one, two, three]) await assertTenantTallies(service.owner, id)
  })

  test('do not wait for a neighbour whose list or account somebody holds', async () => {
    const [held, free] = await newTenants(2)
    assert.ok(held && free)
    const holders = [
      `select from heads where tenant_id = $1 and resource = 'contacts' for update`,
      `select from accounts where tenant_id = $1 and account_id = 'C-1' for update`,
    ]
    for (const [index, text] of holders.entries()) {
      const release = await holding(text, [held.id])
      const waiting = create(held, `held-${index}`)
      const answer = await create(free, `free-${index}`)
      assert.equal(answer.status, 201, answer.text)
      await until('the neighbour waits alone', async () => (await waitingForLocks()) === 1)
      const again = await create(free, `again-${index}`)
      assert.equal(again.status, 201, again.text)
      await release()
      assert.equal((await waiting).status, 201)
    }
    assert.deepEqual(await namesOf(held), ['First', 'held-0', 'held-1'])
    for (const { id } of [held, free]) await assertTenantTallies(service.owner, id)
  })
})

test('creates wait neither behind other writes of one of their tenants nor behind what belongs to none', async () => {
  const [one, two] = await newTenants(2)
  assert.ok(one && two)
  const text = 'select stamp_identity()'
  const { transaction } = service.database.forTenant(one.id)
  for (const stamp of [
    () => service.database.query({ text }),
    () => transaction((query) => query.withoutTenant({ text })),
  ]) {
    const release = await holding(text, [])
    const waiting = Array.from({ length: 12 }, stamp)
    await until('as many wait as may', async () => (await waitingForLocks()) === 6)
    assert.equal((await create(one, 'alone')).status, 201)
    for (const { status } of await Promise.all([create(one, 'a'), create(two, 'b')])) assert.equal(status, 201)
    await release()
    await Promise.all(waiting)
  }
})

test('a create with an Idempotency-Key waits for who holds its account, longer than groups do', async () => {
  const tenant = await newTenant()
  const release = await holding(`select from accounts where tenant_id = $1 and account_id = 'C-1' for update`, [
    tenant.id,
  ])
  const waiting = create(tenant, 'a', 'C-1', { 'idempotency-key': 'key' })
  await until('it has waited for longer', async () => (await waitingForLocks(150)) === 1)
  await release()
  assert.equal((await waiting).status, 201)
})

describe('writes that join each other', () => {
  test('are refused when they have waited too long for those before them', async (context) => {
    let now = 0
    context.mock.method(performance, 'now', () => now)
    const first = Promise.withResolvers<Row[]>()
    const asked: string[][] = []
    const ask = (tenantIds: string[]) => {
      asked.push(tenantIds)
      return first.promise
    }
    const writes = new JoinedWrites(ask, { acrossTenants: true, mostUnderWay: 1, longestWaitMilliseconds: 5_000 })
    const done = writes.write('one', { text: '', id: '1', item: '{}' })
    await nextTurn()
    const late = assert.rejects(writes.write('two', { text: '', id: '2', item: '{}' }), { code: '53300' })
    now = 5_001
    const inTime = writes.write('three', { text: '', id: '3', item: '{}' })
    first.resolve([{ id: '1', body: 'done' }])
    assert.equal(await done, 'done')
    await late
    assert.equal(await inTime, null)
    assert.deepEqual([asked, writes.waiting()], [[['one'], ['three']], 0])
  })

  /** Those of which groups are asked for, by tenants and size, each of which ends with the next turn. */
  const asking = (mostUnderWay = 1) => {
    const asked: [string[], number][] = []
    const ask = async (tenantIds: string[], items: string): Promise<Row[]> => {
      asked.push([tenantIds, JSON.parse(items).length])
      await nextTurn()
      return []
    }
    const writes = new JoinedWrites(ask, { acrossTenants: true, mostUnderWay, longestWaitMilliseconds: 5_000 })
    const write = (tenantId: string, count: number) =>
      Array.from({ length: count }, (_, number) => writes.write(tenantId, { text: '', id: `${number}`, item: '{}' }))
    return { asked, write }
  }

  test('are not kept out by the many of another tenant', async () => {
    const { asked, write } = asking()
    const first = write('first', 1)
    await nextTurn()
    await Promise.all([...first, ...write('many', 90), ...write('one', 1)])
    assert.deepEqual(asked, [
      [['first'], 1],
      // Of each the same share.
      [['many', 'one'], 26],
      [['many'], 50],
      [['many'], 15],
    ])
  })

  test('go with all that one turn brings, and at once when they are eight', async () => {
    const { asked, write } = asking()
    const seven = write('one', 7)
    assert.deepEqual(asked, [])
    const two = write('two', 2)
    assert.deepEqual(asked, [[['one', 'two'], 8]])
    await Promise.all([...seven, ...two])
    assert.deepEqual(asked.slice(1), [[['two'], 1]])
  })

  test('do not go one by one while many of a tenant wait for its own', async () => {
    const { asked, write } = asking(2)
    const many = write('many', 8 + 10)
    const others = ['one', 'two', 'three'].flatMap((tenantId) => write(tenantId, 1))
    await Promise.all([...many, ...others])
    assert.deepEqual(asked, [
      [['many'], 8],
      [['one', 'two', 'three'], 3],
      [['many'], 10],
    ])
  })

  test('all hear that the outcome is not known when their connection is lost', async () => {
    const text = `select pg_sleep(30)::text as body, 'x' as id, $1::json`
    const lost = ['one', 'two'].map((tenantId) =>
      assert.rejects(service.database.forTenant(tenantId).writeJoined({ text, id: tenantId, item: '{}' }), {
        code: '08007',
      }),
    )
    await until('it is under way', async () => {
      const { rows } = await service.owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      )
      return rows.length === 1
    })
    await Promise.all(lost)
  })
})
