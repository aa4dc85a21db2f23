import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { until } from '../../test/masthead-process.ts'
import { sampleAccount } from '../../test/sample-records.ts'
import { startService, type TestTenant, walk } from '../../test/service.ts'
import { assertTenantTallies } from '../../test/tallies.ts'
import { entriesAfter } from '../audit/queries.ts'

const service = await startService()

const newTenant = async (): Promise<TestTenant> => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('C-1'), sampleAccount('C-2')])
  // So that it has a head.
  const token = await tenant.serviceToken()
  const first = await service.call('POST', '/contacts', { token, body: { accountId: 'C-1', name: 'First' } })
  assert.equal(first.status, 201, first.text)
  return tenant
}

/** Somebody else who holds the head of the tenant's contacts, or waits for it, until the end of the transaction. */
const otherWriter = async ({ id }: TestTenant) => {
  const client = new pg.Client(service.connectionString)
  await client.connect()
  await client.query('begin')
  const locked = client.query(`select from heads where tenant_id = $1 and resource = 'contacts' for update`, [id])
  return {
    client,
    locked,
    leave: async () => {
      await client.query('commit')
      await client.end()
    },
  }
}

const waitingForLocks = async (count: number): Promise<boolean> => {
  const { rows } = await service.owner.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.length === count
}

type Sent = { token: string; name: string; accountId?: string; key?: string }

const send = ({ token, name, accountId = 'C-1', key }: Sent) =>
  service.call('POST', '/contacts', {
    ...{ token, body: { accountId, name } },
    headers: { 'x-request-id': `of-${name}`, ...(key && { 'idempotency-key': key }) },
  })

/** The first is under way when the others come, so that they go together. */
const sendTogether = async (tenant: TestTenant, first: Sent, others: Sent[]) => {
  const holder = await otherWriter(tenant)
  await holder.locked
  const answers = [send(first)]
  await until('the first waits for the head', () => waitingForLocks(1))
  answers.push(...others.map(send))
  const grouped = others.filter(({ key }) => key === undefined).length
  await until('the others wait for the first', () => service.database.load().writing.waiting === grouped)
  return { holder, answers: Promise.all(answers) }
}

const namesOf = async (tenant: TestTenant): Promise<unknown[]> =>
  (await walk(service, await tenant.serviceToken(), '/contacts')).map(({ name }) => name)

const transactionsOf = async ({ id }: TestTenant): Promise<number> => {
  const text = `select count(distinct xmin::text)::integer as count from contacts where tenant_id = $1 and name <> 'First'`
  return (await service.owner.query(text, [id])).rows[0].count
}

/** Who created whom, as the audit log tells. */
const noted = async ({ id }: TestTenant): Promise<unknown[]> => {
  const entries = await service.database.forTenant(id).transaction((query) => entriesAfter(query, 0, 1_000))
  return entries
    .filter(({ resource }) => resource === 'contacts')
    .map(({ author, action, values }) => [
      ...[action, 'requestId' in author && author.requestId, JSON.parse(values ?? 'null').after.name],
    ])
}

describe('creates of one tenant that wait for each other', () => {
  test('share a transaction, and have their own answer, place, owner and entry in the audit log', async () => {
    const tenant = await newTenant()
    const [one, another] = [await tenant.serviceToken(), await tenant.personalToken('editor')]
    const names = Array.from({ length: 8 }, (_, number) => `Contact-${number}`)
    const [first = '', ...others] = names
    const { holder, answers } = await sendTogether(
      ...([tenant, { token: one, name: first }] as const),
      others.map((name, index) => ({ token: index % 2 ? one : another, name })),
    )
    await holder.leave()
    const given = await answers
    assert.deepEqual(
      given.map(({ status, body }) => [status, body.name]),
      names.map((name) => [201, name]),
    )
    assert.deepEqual(
      given.map(({ body }) => body.ownerId !== null),
      names.map((_name, index) => index % 2 === 1),
    )
    assert.equal(await transactionsOf(tenant), 2)
    const [, ...listed] = await namesOf(tenant)
    assert.deepEqual([...listed].sort(), names)
    const [, ...entries] = await noted(tenant)
    assert.deepEqual(
      entries,
      listed.map((name) => ['created', `of-${name}`, name]),
    )
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('are refused each for itself, and a retry that carries a key is answered as before', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const { holder, answers } = await sendTogether(tenant, { token, name: 'one' }, [
      { token, name: 'two' },
      { token, name: 'three', accountId: 'nobody' },
      { token, name: 'four', accountId: 'C-2' },
      { token, name: 'five', key: 'k-5' },
    ])
    await holder.leave()
    const given = await answers
    assert.deepEqual(
      given.map(({ status }) => status),
      [201, 201, 422, 201, 201],
    )
    assert.match(given[2]?.body.detail, /no account "nobody"/)
    const again = await send({ token, name: 'five', key: 'k-5' })
    assert.deepEqual([again.status, again.body], [201, given[4]?.body])
    assert.deepEqual((await namesOf(tenant)).sort(), ['First', 'five', 'four', 'one', 'two'])
    assert.equal((await noted(tenant)).length, 5)
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('do not fail for a neighbour whom the database refuses', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const { holder, answers } = await sendTogether(tenant, { token, name: 'one' }, [
      { token, name: 'two' },
      { token, name: 'three', accountId: 'C-2' },
      { token, name: 'four' },
    ])
    // Next in the line for the head, before the group: it removes an account that the group has looked up already.
    const remover = await otherWriter(tenant)
    await until('the remover waits for the head', () => waitingForLocks(2))
    await holder.leave()
    await remover.locked
    await until('the group waits for the head', () => waitingForLocks(1))
    await remover.client.query(`delete from accounts where tenant_id = $1 and account_id = 'C-2'`, [tenant.id])
    await remover.leave()
    assert.deepEqual(
      (await answers).map(({ status }) => status),
      [201, 201, 422, 201],
    )
    assert.deepEqual((await namesOf(tenant)).sort(), ['First', 'four', 'one', 'two'])
    assert.equal((await noted(tenant)).length, 4)
  })

  test('are handed over to a legacy system each once, in the order of the list', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const attach = `insert into legacy_systems (tenant_id, url, sealed_secret) values ($1, 'http://127.0.0.1:9', '')`
    await service.owner.query(attach, [tenant.id])
    const { holder, answers } = await sendTogether(tenant, { token, name: 'one' }, [
      { token, name: 'two' },
      { token, name: 'three', accountId: 'nobody' },
      { token, name: 'four' },
    ])
    await holder.leave()
    await answers
    const { rows } = await service.owner.query(
      `select body::json->'data'->>'name' as name from legacy_deliveries where tenant_id = $1 order by sequence`,
      [tenant.id],
    )
    const [, ...listed] = await namesOf(tenant)
    assert.deepEqual(
      rows.map(({ name }) => name),
      listed,
    )
    assert.equal(rows.length, 3)
    await service.owner.query('delete from legacy_deliveries where tenant_id = $1', [tenant.id])
    await service.owner.query('delete from legacy_systems where tenant_id = $1', [tenant.id])
  })
})

test('a create that loses its connection is not done again, because it may have been done', async () => {
  const tenant = await newTenant()
  const token = await tenant.serviceToken()
  const { holder, answers } = await sendTogether(tenant, { token, name: 'one' }, [])
  await service.owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  await holder.leave()
  const [answer] = await answers
  assert.deepEqual([answer?.status, answer?.body.code], [503, 'unavailable'])
  assert.deepEqual(await namesOf(tenant), ['First'])
  const again = await send({ token, name: 'two' })
  assert.equal(again.status, 201, again.text)
  await assertTenantTallies(service.owner, tenant.id)
})
