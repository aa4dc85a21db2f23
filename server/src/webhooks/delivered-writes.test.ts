import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import pg from 'pg'
import {
  attachTo,
  type Receiver,
  startReceiver,
  startWorkerFor,
  subscribe,
} from '../../test/outside/webhook-receiver.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { importer, newFolder } from '../../test/records/import-files.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { startService, type TestTenant, waitsForLocks } from '../../test/service.ts'
import { operator } from '../audit/author.ts'
import { insertTask } from '../resources/tasks/queries.ts'
import { detach } from './legacy/administration.ts'

const service = await startService()
const { errors } = startWorkerFor(service)

/** A tenant with the account `A`, a receiver attached to it, and a token of a user whom the legacy system knows. */
const attached = async (legacyUserId: string | null = 'L-7') => {
  const [tenant, receiver] = [await service.newTenant(), await startReceiver()]
  await tenant.add('accounts', [sampleAccount('A')])
  await attachTo(service, tenant, receiver)
  const token = await tenant.personalToken('editor', undefined, legacyUserId === null ? {} : { legacyUserId })
  return { tenant, receiver, token }
}

const received = async ({ received: all }: Receiver, count: number) => {
  await until(`${count} deliveries have arrived`, () => all.length >= count)
  assert.equal(all.length, count)
  return all.map(({ message }) => message)
}

const waiting = async (tenant: TestTenant): Promise<number> => {
  const { rows } = await service.owner.query(
    'select 1 from webhook_deliveries where tenant_id = $1 and settled_at is null',
    [tenant.id],
  )
  return rows.length
}

describe('a legacy system that is attached', () => {
  test('is handed every contact write as the API shows the contact, in order, with the acting user', async () => {
    const { tenant, receiver, token } = await attached()
    const { body: created } = await service.call('POST', '/contacts', { token, body: { accountId: 'A', name: 'Ada' } })
    const path = `/contacts/${created.id}`
    const steps = [
      await service.call('PATCH', path, { token, body: { accountId: 'A', title: 'Countess "\u00e9"' } }),
      await service.call('DELETE', path, { token }),
      await service.call('POST', `${path}/restore`, { token }),
      await service.call('PATCH', path, {
        token,
        body: { accountId: 'A', deletedAt: '2026-01-02T03:04:05.678Z', notes: 'x' },
      }),
      await service.call('PATCH', path, { token, body: { accountId: 'A', deletedAt: null } }),
    ]
    const expected = [created, ...steps.map(({ body }) => body)].map((body) => ({ ...body, userId: 'L-7' }))
    const messages = await received(receiver, 6)
    assert.deepEqual(
      messages.map(({ type }) => type),
      ['created', 'updated', 'deleted', 'restored', 'deleted', 'restored'].map((what) => `contact.${what}`),
    )
    assert.deepEqual(
      messages.map(({ data }) => data),
      expected,
    )
    for (const { timestamp } of messages) assert.equal(new Date(timestamp).toISOString(), timestamp)
    assert.deepEqual(
      receiver.received.map(({ text, message }) => text === JSON.stringify(message)),
      Array(6).fill(true),
    )
    await until('nothing waits', async () => (await waiting(tenant)) === 0)
    assert.equal(receiver.unverified, 0)
    assert.deepEqual(errors, [])
  })

  test('is handed nothing for an update that changes nothing, nor for a refused one', async () => {
    const { tenant, receiver, token } = await attached()
    const { body } = await service.call('POST', '/contacts', { token, body: { accountId: 'A', name: 'Ada' } })
    const path = `/contacts/${body.id}`
    assert.equal((await service.call('PATCH', path, { token, body: { accountId: 'A', name: 'Ada' } })).status, 200)
    assert.equal((await service.call('POST', `${path}/restore`, { token })).status, 200)
    assert.equal((await service.call('PATCH', path, { token, body: { accountId: 'none' } })).status, 422)
    const headers = { 'if-match': '"other"' }
    assert.equal((await service.call('DELETE', path, { token, headers })).status, 412)
    await service.call('DELETE', path, { token })
    await service.call('DELETE', path, { token })
    const messages = await received(receiver, 2)
    assert.deepEqual(
      messages.map(({ type }) => type),
      ['contact.created', 'contact.deleted'],
    )
    await until('nothing waits', async () => (await waiting(tenant)) === 0)
  })

  test('is handed a new account with the user it names, and its first contact with the acting user', async () => {
    const { receiver, token } = await attached()
    const given = { company: 'Acme', userId: 'U-1', firstName: 'Ada', email: 'ada@acme.example' }
    const answer = await service.call('POST', '/accounts', { token, body: given })
    assert.deepEqual([answer.status, answer.body.route], [201, 'legacy'])
    const messages = await received(receiver, 2)
    const account = messages.find(({ type }) => type === 'account.created')?.data
    const contact = messages.find(({ type }) => type === 'contact.created')?.data
    const shown = await service.call('GET', `/accounts/${answer.body.accountId}`, { token })
    assert.deepEqual(account, { ...shown.body, userId: 'U-1' })
    const { items } = (await service.call('GET', `/contacts?accountId=${answer.body.accountId}`, { token })).body
    assert.deepEqual(contact, { ...items[0], userId: 'L-7' })
  })

  test('is handed an account that was corrected, with the acting user', async () => {
    const { receiver, token } = await attached()
    const { body } = await service.call('PATCH', '/accounts/A', { token, body: { city: 'Bonn' } })
    assert.equal((await service.call('PATCH', '/accounts/A', { token, body: { city: 'Bonn' } })).status, 200)
    const [message] = await received(receiver, 1)
    assert.deepEqual([message?.type, message?.data], ['account.updated', { ...body, userId: 'L-7' }])
  })

  test('is handed a new task as the API shows it, and what becomes of it', async () => {
    const { receiver, token } = await attached()
    const given = { accountId: 'A', title: 'Call', dueDate: '2026-12-01' }
    const answers = [
      await service.call('POST', '/tasks', { token, body: given }),
      await service.call('POST', '/tasks', { token, body: { ...given, userId: 'U-2' } }),
    ]
    const [first, second] = answers.map(({ body }) => body)
    assert.deepEqual([first.route, first.userId, second.userId], ['legacy', 'L-7', 'U-2'])
    const messages = await received(receiver, 2)
    const byId = (one: { id: string }, other: { id: string }) => one.id.localeCompare(other.id)
    const shown = [first, second].map(({ id }) => service.call('GET', `/tasks/${id}`, { token }))
    const tasks = (await Promise.all(shown)).map(({ body }) => body)
    assert.deepEqual(messages.map(({ data }) => data).sort(byId), tasks.sort(byId))
    assert.deepEqual([tasks[0].route, tasks[1].route], ['legacy', 'legacy'])
    const body = { doneAt: '2026-11-17T10:00:00.000Z' }
    const { body: done } = await service.call('PATCH', `/tasks/${first.id}`, { token, body })
    const last = (await received(receiver, 3)).at(-1)
    assert.deepEqual([last?.type, last?.data], ['task.updated', done])
  })

  test('is not told of a task that was created before it was attached, though other endpoints are', async () => {
    const [tenant, receiver, other] = [await service.newTenant(), await startReceiver(), await startReceiver()]
    await tenant.add('accounts', [sampleAccount('A')])
    const token = await tenant.personalToken('editor', undefined, { legacyUserId: 'L-7' })
    const given = { accountId: 'A', title: 'Call', dueDate: '2026-12-01' }
    const { body: task } = await service.call('POST', '/tasks', { token, body: given })
    assert.equal(task.route, 'native')
    await attachTo(service, tenant, receiver)
    await subscribe(service, tenant, other, ['task.updated'])
    const { body: changed } = await service.call('PATCH', `/tasks/${task.id}`, { token, body: { title: 'Write' } })
    const { body: account } = await service.call('PATCH', '/accounts/A', { token, body: { city: 'Bonn' } })
    await until('nothing waits', async () => (await waiting(tenant)) === 0)
    assert.deepEqual((await received(other, 1))[0]?.data, changed)
    const [told] = await received(receiver, 1)
    assert.deepEqual([told?.type, told?.data], ['account.updated', { ...account, userId: 'L-7' }])
  })

  test('is told null as the user where none is known', async () => {
    const { tenant, receiver, token } = await attached(null)
    await service.call('POST', '/contacts', { token, body: { accountId: 'A' } })
    const ofService = await tenant.serviceToken()
    await service.call('POST', '/accounts', { token: ofService, body: { company: 'Acme', lastName: 'L' } })
    const messages = await received(receiver, 3)
    assert.deepEqual(
      messages.map(({ data }) => data.userId),
      [null, null, null],
    )
  })

  test('is handed nothing of an import, nor of its undo', async () => {
    const { tenant, receiver, token } = await attached()
    const { body } = await service.call('POST', '/contacts', { token, body: { accountId: 'A', name: 'Ada' } })
    const { importAll, masthead } = importer(service, tenant)
    const contacts = `id,accountId,name\n${body.id},A,Grace\n${randomUUID()},A,New\n`
    const tasks = `id,accountId,title,dueDate\n${randomUUID()},A,Call,2026-12-01\n`
    const { id, files } = await importAll(await newFolder({ 'contacts.csv': contacts, 'tasks.csv': tasks }))
    assert.deepEqual(
      files.map(({ created, changed }) => [created, changed]),
      [
        [1, 1],
        [1, 0],
      ],
    )
    assert.equal((await masthead('import', 'undo', String(id), '--json')).code, 0)
    await until('nothing waits', async () => (await waiting(tenant)) === 0)
    assert.equal((await received(receiver, 1))[0]?.data.name, 'Ada')
  })
})

describe('a tenant without a legacy system', () => {
  test('has the route native, also once it was detached, and nothing is kept for it', async () => {
    const { tenant, receiver, token } = await attached()
    const other = await service.newTenant()
    const tokenOfOther = await other.serviceToken()
    const route = async (by: string) =>
      (await service.call('POST', '/accounts', { token: by, body: { company: 'Acme' } })).body.route
    assert.deepEqual([await route(token), await route(tokenOfOther)], ['legacy', 'native'])
    await received(receiver, 1)
    await until('nothing waits', async () => (await waiting(tenant)) === 0)
    assert.deepEqual(await detach(service.database.forTenant(tenant.id), false), { discarded: 0 })
    assert.equal(await route(token), 'native')
    assert.deepEqual([await waiting(tenant), await waiting(other), receiver.received.length], [0, 0, 1])
  })
})

describe('a legacy system that is attached or detached at the very moment of a write', () => {
  test('is handed a task only where the task says so', async () => {
    const [tenant, receiver] = [await service.newTenant(), await startReceiver()]
    await tenant.add('accounts', [sampleAccount('A')])
    const database = service.database.forTenant(tenant.id)
    const task = {
      id: randomUUID(),
      accountId: 'A',
      title: 'Call',
      dueDate: '2026-11-20',
      userId: '',
      createdAt: new Date().toISOString(),
      updatedAt: new Date().toISOString(),
    }
    const attaching: typeof database = {
      ...database,
      write: (decide) =>
        database.write(async (query) => {
          const last = await decide(query)
          await attachTo(service, tenant, receiver)
          return last
        }),
    }
    const { route } = await insertTask(attaching, { author: operator, actingUser: null }, task)
    assert.equal(route, 'native')
    assert.equal(await waiting(tenant), 0)
    assert.equal(receiver.received.length, 0)
  })

  test('keeps no contact from being stored', async () => {
    const { tenant, token } = await attached()
    const first = await service.call('POST', '/contacts', { token, body: { accountId: 'A', name: 'first' } })
    assert.equal(first.status, 201, first.text)
    await until('it was delivered', async () => (await waiting(tenant)) === 0)
    const client = new pg.Client(service.connectionString)
    await client.connect()
    await client.query('begin')
    await client.query(`select from heads where tenant_id = $1 and resource = 'contacts' for update`, [tenant.id])
    const asked = service.call('POST', '/contacts', { token, body: { accountId: 'A', name: 'second' } })
    await until('the write waits for the head', async () => {
      return (await service.owner.query(waitsForLocks)).rows.length === 1
    })
    await detach(service.database.forTenant(tenant.id), true)
    await client.query('commit')
    await client.end()
    const second = await asked
    assert.equal(second.status, 201, second.text)
    assert.equal(await waiting(tenant), 0)
  })
})
