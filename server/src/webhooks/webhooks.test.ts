import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import type { WebhookEventType } from '@masthead/contract'
import {
  letPass,
  type Received,
  type Receiver,
  startReceiver,
  startWorkerFor,
  subscribe,
} from '../../test/outside/webhook-receiver.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { newFolder } from '../../test/records/import-files.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { secret as installation, startService, type TestTenant } from '../../test/service.ts'
import { operator } from '../audit/author.ts'
import { entriesAfter } from '../audit/queries.ts'
import type { TenantDatabase } from '../database/database.ts'
import { eraseContact } from '../resources/contacts/erasure.ts'
import { importFiles } from '../transfer/import/import.ts'
import { undoImport } from '../transfer/import/undo.ts'
import { remove, replay, resend, rotateSecret, sendTestEvent, update } from './administration.ts'
import { wakeWhereDue } from './deliveries/queries.ts'
import { findEndpoint, listEndpoints } from './endpoints/queries.ts'
import { deleteOldEvents, findDelivery, listDeliveries, replayDeliveries } from './history/queries.ts'

const service = await startService()
const worker = startWorkerFor(service)

const newTenant = async () => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('A')])
  const scope = service.database.forTenant(tenant.id)
  const token = await tenant.serviceToken()
  const send = async (method: string, path: string, body?: object) => {
    const answer = await service.call(method, path, { token, ...(body && { body }) })
    assert.ok(answer.status < 300, answer.text)
    return answer.body
  }
  const create = async (name: string): Promise<string> => (await send('POST', '/contacts', { accountId: 'A', name })).id
  const rename = (id: string, name: string) => send('PATCH', `/contacts/${id}`, { accountId: 'A', name })
  return { tenant, scope, token, send, create, rename, by: { tenant: scope, author: operator } }
}

/** A tenant with one endpoint. */
const subscribed = async (events?: WebhookEventType[]) => {
  const receiver = await startReceiver()
  const made = await newTenant()
  const { id } = await subscribe(service, made.tenant, receiver, events)
  const endpoint = async () => {
    const found = await findEndpoint(made.scope.read, id)
    assert.ok(found)
    return found
  }
  const deliveries = () => listDeliveries(made.scope.read, id, { most: 1_000 })
  const actions = async () => {
    const entries = await made.scope.transaction((query) => entriesAfter(query, 0, 1_000))
    return entries
      .filter(({ resource }) => resource === 'webhook_endpoints')
      .map((one) => `${one.action} ${one.author.kind}`)
  }
  return { ...made, receiver, endpointId: id, endpoint, deliveries, actions }
}

const namesOf = (received: readonly Received[], id: string) =>
  received.filter(({ message }) => message.data.id === id).map(({ message }) => message.data.name)

const settled = async ({ deliveries }: { deliveries: () => Promise<{ state: string }[]> }) =>
  until('nothing waits', async () => !(await deliveries()).some(({ state }) => state === 'waiting'), 60_000)

const untilNothingIsInFlight = (tenant: TestTenant) =>
  until('every attempt is noted', async () => {
    const text = 'select from webhook_deliveries where tenant_id = $1 and claimed_until is not null'
    return (await service.owner.query(text, [tenant.id])).rowCount === 0
  })

describe('an endpoint', () => {
  test('is told of the events that it asked for, as the API shows the record, each under one id for all endpoints', async () => {
    const { tenant, receiver, send, create, rename } = await subscribed()
    const other = await startReceiver()
    await subscribe(service, tenant, other, ['account.created', 'contact.deleted'])
    const id = await create('Ada')
    await rename(id, 'Grace')
    await send('DELETE', `/contacts/${id}`)
    await send('POST', `/contacts/${id}/restore`)
    const account = await send('POST', '/accounts', { company: 'Acme', userId: 'U-1' })
    const task = await send('POST', '/tasks', { accountId: 'A', title: 'Call', dueDate: '2026-12-01' })
    assert.deepEqual([account.route, task.route], ['native', 'native'])
    await until('all have arrived', () => receiver.taken.length === 6 && other.taken.length === 2)
    assert.equal(receiver.unverified + other.unverified, 0)
    const byType = new Map(receiver.taken.map((received) => [received.message.type, received]))
    const types = ['contact.created', 'contact.updated', 'contact.deleted', 'contact.restored']
    assert.deepEqual([...byType.keys()].toSorted(), [...types, 'account.created', 'task.created'].toSorted())
    assert.deepEqual(byType.get('contact.restored')?.message.data, {
      ...(await send('GET', `/contacts/${id}`)),
      userId: null,
    })
    const shown = await send('GET', `/accounts/${account.accountId}`)
    assert.deepEqual(byType.get('account.created')?.message.data, { ...shown, userId: 'U-1' })
    assert.deepEqual(byType.get('task.created')?.message.data, await send('GET', `/tasks/${task.id}`))
    for (const { id: webhookId, message } of other.taken) assert.equal(byType.get(message.type)?.id, webhookId)
    const order = receiver.taken.map(({ message }) => message.type).filter((type) => type.startsWith('contact'))
    assert.deepEqual(order, types)
  })

  test('is told of an import and of its undo once, with counts by resource and the cursor from before', async () => {
    const { receiver, scope, create, send } = await subscribed()
    const id = await create('Ada')
    const contacts = `id,accountId,name\n${id},A,Grace\n${randomUUID()},A,New\n`
    const tasks = `id,accountId,title,dueDate\n${randomUUID()},A,Call,2026-12-01\n`
    const folder = await newFolder({ 'contacts.csv': contacts, 'tasks.csv': tasks })
    const { id: importId } = await importFiles(scope, [folder])
    await undoImport(scope, String(importId))
    await until('all have arrived', () => receiver.taken.length === 3)
    const [completed, undone] = receiver.taken.slice(1).map(({ message }) => message)
    assert.deepEqual([completed?.type, undone?.type], ['import.completed', 'import.undone'])
    const created = { created: 1, changed: 0 }
    assert.deepEqual(
      [completed?.data.counts, undone?.data.counts],
      [
        { contacts: { created: 1, changed: 1 }, tasks: created },
        { contacts: { removed: 1, restored: 1 }, tasks: { removed: 1, restored: 0 } },
      ],
    )
    for (const message of [completed, undone]) {
      assert.equal(message?.data.importId, importId)
      const { items } = await send('GET', `/changes?after=${message?.data.cursor}`)
      // What the import changed, added and what its undo did to that: each record once, at its latest state.
      const changes = items.map((item: { id: string; change: string }) => `${item.change} ${item.id === id}`)
      assert.deepEqual(changes.toSorted(), ['removed false', 'removed false', 'written true'])
    }
  })

  test('is told of what an interrupted import wrote by the event of the next one', async () => {
    const { receiver, scope, create, send } = await subscribed()
    const id = await create('Ada')
    const task = randomUUID()
    const files = {
      'contacts.csv': `id,accountId,name\n${id},A,Grace\n${randomUUID()},A,New\n`,
      'tasks.csv': `id,accountId,title,dueDate\n${task},A,Call,2026-12-01\n`,
    }
    const folder = await newFolder(files)
    const stopped = new AbortController()
    const interrupted = importFiles(scope, [folder], {
      signal: stopped.signal,
      onProgress: ({ step, done }) => step === 'writing' && done > 0 && stopped.abort(),
    })
    await assert.rejects(interrupted)
    const { id: importId } = await importFiles(scope, [folder])
    await until('the event of the import', () => receiver.taken.length === 2)
    const [, completed] = receiver.taken
    assert.equal(completed?.message.data.importId, importId)
    const { items } = await send('GET', `/changes?after=${completed?.message.data.cursor}`)
    const changes = items.map((item: { change: string; id: string }) => `${item.change} ${item.id === id}`)
    assert.deepEqual(changes.toSorted(), ['written false', 'written false', 'written true'])
  })

  test('is told of all that an interrupted undo did when it has been continued', async () => {
    const { receiver, scope, create, send } = await subscribed()
    const id = await create('Ada')
    const contacts = `id,accountId,name\n${id},A,Grace\n${randomUUID()},A,New\n`
    const { id: importId } = await importFiles(scope, [await newFolder({ 'contacts.csv': contacts })])
    const stopped = new AbortController()
    const interrupted = undoImport(scope, String(importId), {
      signal: stopped.signal,
      onProgress: (done) => done > 0 && stopped.abort(),
    })
    await assert.rejects(interrupted)
    await undoImport(scope, String(importId))
    await until('the event of the undo', () => receiver.taken.length === 3)
    const undone = receiver.taken[2]?.message.data
    assert.deepEqual(undone?.counts, { contacts: { removed: 1, restored: 1 } })
    const { items } = await send('GET', `/changes?after=${undone?.cursor}`)
    const changes = items.map((item: { change: string; id: string }) => `${item.change} ${item.id === id}`)
    assert.deepEqual(changes.toSorted(), ['removed false', 'written true'])
  })

  test('that refuses one record for ten minutes gets all others meanwhile, and then its events in order', async () => {
    const { tenant, receiver, create, rename, deliveries } = await subscribed()
    let refused = ''
    receiver.answer = ({ message }) => (message.data.id === refused || message.data.name === 'refused' ? 500 : 204)
    refused = await create('refused')
    await until('it is refused', () => receiver.received.length === 1)
    const others: string[] = []
    for (const [round, time] of ['8 seconds', '7 minutes', '3 minutes'].entries()) {
      await rename(refused, `refused ${round}`)
      const other = await create(`other ${round}`)
      others.push(other)
      await until('the other arrives', () => namesOf(receiver.taken, other).length === 1)
      // Time that passes ends the claim of what is in flight, which would then be sent twice.
      await untilNothingIsInFlight(tenant)
      await letPass(service, tenant, time)
      // The third attempt is the last within ten minutes.
      await until('it is tried again', () => namesOf(receiver.received, refused).length === Math.min(round + 2, 3))
    }
    for (const id of others) assert.equal(namesOf(receiver.taken, id).length, 1)
    assert.deepEqual(new Set(namesOf(receiver.received, refused)), new Set(['refused']))
    refused = 'nobody'
    receiver.answer = () => 204
    await untilNothingIsInFlight(tenant)
    await letPass(service, tenant, '1 hour')
    await settled({ deliveries })
    const taken = namesOf(receiver.taken, (await deliveries()).at(-1)?.recordId ?? '')
    assert.deepEqual(taken, ['refused', 'refused 0', 'refused 1', 'refused 2'])
    const ids = receiver.received.filter(({ message }) => message.data.name === 'refused').map(({ id }) => id)
    assert.equal(new Set(ids).size, 1)
  })

  test('gets later events of a record once the tenth attempt has failed, and the failed one when it is sent again', async () => {
    const { tenant, receiver, create, rename, deliveries, scope, endpointId, endpoint, by } = await subscribed()
    receiver.answer = ({ message }) => (message.type === 'contact.created' ? 500 : 204)
    const id = await create('Ada')
    await rename(id, 'Grace')
    const pauses = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    for (const [index, seconds] of pauses.entries()) {
      await until('it is tried', async () => (await deliveries()).at(-1)?.attempts === index + 1)
      await untilNothingIsInFlight(tenant)
      assert.deepEqual(namesOf(receiver.taken, id), [])
      // The jitter adds a quarter at most.
      await letPass(service, tenant, `${seconds * 1.26} seconds`)
    }
    await until('the later one arrives', () => namesOf(receiver.taken, id).length === 1)
    await settled({ deliveries })
    assert.deepEqual((await endpoint()).failed, 1)
    const [failed] = await listDeliveries(scope.read, endpointId, { state: 'failed', most: 10 })
    assert.ok(failed)
    assert.deepEqual(
      [failed.status, failed.error, failed.attempts, failed.nextAttemptAt],
      [500, 'answered 500', 10, null],
    )
    receiver.answer = () => 204
    const detail = await findDelivery(scope.read, endpointId, failed.id)
    assert.ok(detail)
    await resend(by, await endpoint(), detail)
    await until('it arrives', () => namesOf(receiver.taken, id).length === 2)
    assert.equal(receiver.taken.at(-1)?.id, failed.id)
    await settled({ deliveries })
    assert.equal((await endpoint()).failed, 0)
  })

  test('is asked again when it says, and left alone until then when it is overloaded', async () => {
    const { receiver, create, deliveries, endpointId } = await subscribed()
    receiver.answer = (_received, response) => {
      response.setHeader('retry-after', '1800')
      return receiver.received.length === 1 ? 500 : 429
    }
    await create('Ada')
    await until('its pause is noted', async () => (await deliveries())[0]?.error === 'answered 500')
    const wait = (await deliveries())[0]?.nextAttemptAt?.getTime() ?? 0
    assert.ok(wait > Date.now() + 1_700_000 && wait < Date.now() + 1_900_000)
    await create('Grace')
    await until('it is overloaded', async () => (await deliveries())[0]?.error === 'answered 429')
    const { rows } = await service.owner.query('select rests_until from webhook_endpoints where id = $1', [endpointId])
    assert.ok(rows[0]?.rests_until.getTime() > Date.now() + 1_700_000)
    await create('Edsger')
    await until('it is stored', async () => (await deliveries()).length === 3)
    assert.deepEqual(receiver.received.length, 2)
  })

  for (const status of [204, 500])
    test(`that asked to be left alone is, also when it answers ${status} to what was in flight then`, async () => {
      const { tenant, receiver, create, deliveries } = await subscribed()
      const held = holdFirst(receiver, (response) => {
        response.setHeader('retry-after', '1800')
        return 429
      })
      await create('in flight')
      const inFlight = await held
      await create('refused')
      await until('it is overloaded', async () => (await deliveries())[0]?.error === 'answered 429')
      inFlight.writeHead(status).end()
      await untilNothingIsInFlight(tenant)
      await create('later')
      await wakeWhereDue(service.database)
      await until('it was looked at', async () => (await wakesOf(tenant)) === 0)
      assert.equal(receiver.received.length, 2)
    })

  test('that gets a new address is judged by what that answers', async () => {
    const { tenant, receiver, create, endpoint, by } = await subscribed()
    receiver.answer = () => 500
    await create('refused')
    await until('it fails', async () => (await endpoint()).failingSince !== null)
    await untilNothingIsInFlight(tenant)
    const held = holdFirst(receiver, () => 204)
    await create('in flight')
    const inFlight = await held
    const next = await startReceiver()
    next.trust(receiver.secret)
    assert.equal((await update(by, await endpoint(), { url: next.url })).failingSince, null)
    inFlight.writeHead(410).end()
    await untilNothingIsInFlight(tenant)
    assert.deepEqual([(await endpoint()).disabledAt, (await endpoint()).failingSince], [null, null])
    await letPass(service, tenant, '10 seconds')
    await until('the new one has both', () => next.taken.length === 2)
  })

  test('is sent a second test event also where it refused the first', async () => {
    const { receiver, endpoint, deliveries, by } = await subscribed()
    receiver.answer = () => (receiver.received.length === 1 ? 500 : 204)
    await sendTestEvent(by, await endpoint())
    await until('it is refused', async () => (await deliveries())[0]?.error === 'answered 500')
    await sendTestEvent(by, await endpoint())
    await until('the second is taken', () => receiver.taken.length === 1)
  })

  test('is sent what waits behind a refused event in order, however much, and that keeps nobody else', async () => {
    const { tenant, receiver, create, deliveries, endpointId } = await subscribed()
    let isRefusing = true
    receiver.answer = ({ message }) => (isRefusing && message.data.name !== 'other' ? 500 : 204)
    const id = await create('0')
    await until('it is refused', async () => (await deliveries())[0]?.error === 'answered 500')
    // More than a worker looks through to find one that may be sent.
    const behind = 250
    await addEvents(tenant, endpointId, id, behind, null)
    const other = await create('other')
    await until('another record is told of', () => namesOf(receiver.taken, other).length === 1)
    await until('what waits is out of the way', async () => {
      const text =
        'select from webhook_deliveries where tenant_id = $1 and settled_at is null and next_attempt_at <= now()'
      return (await service.owner.query(text, [tenant.id])).rowCount === 0
    })
    isRefusing = false
    await untilNothingIsInFlight(tenant)
    await letPass(service, tenant, '8 seconds')
    await settled({ deliveries })
    const inOrder = Array.from({ length: behind + 1 }, (_, index) => String(index))
    assert.deepEqual(namesOf(receiver.taken, id), inOrder)
  })
})

/** Keeps the first delivery that arrives without a response, and answers the others so. */
const holdFirst = (receiver: Receiver, answer: (response: ServerResponse) => number): Promise<ServerResponse> => {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>()
  let isHeld = false
  receiver.answer = (_received, response) => {
    if (isHeld) return answer(response)
    isHeld = true
    resolve(response)
    return undefined
  }
  return promise
}

const wakesOf = async ({ id }: TestTenant) =>
  (await service.owner.query('select from webhook_wakes where tenant = $1 and at <= now()', [id])).rowCount

/** Events of the record as if it had been written so often; `settledAt` is when they were taken. */
const addEvents = async (tenant: TestTenant, endpointId: string, id: string, count: number, settledAt: Date | null) => {
  const numbers = await service.owner.query(
    `select nextval('webhook_events_sequence_seq') as sequence from generate_series(1, $1)`,
    [count],
  )
  const sequences = numbers.rows.map(({ sequence }) => Number(sequence))
  const events = sequences.map((sequence, index) => {
    const data = { id, name: String(index + 1) }
    return [sequence, `msg_${sequence}`, JSON.stringify({ type: 'contact.updated', timestamp: new Date(), data })]
  })
  const deliveries = sequences.map((sequence) => [sequence, endpointId, settledAt])
  await insert(
    'webhook_events (tenant_id, record_id, type, sequence, id, body)',
    [tenant.id, id, 'contact.updated'],
    events,
  )
  await insert(
    'webhook_deliveries (tenant_id, record_id, sequence, endpoint_id, settled_at)',
    [tenant.id, id],
    deliveries,
  )
}

const insert = async (into: string, first: unknown[], rows: unknown[][]) => {
  const values = rows.map((row) => [...first, ...row])
  const placed = values.map(
    (row, index) => `(${row.map((_, place) => `$${index * row.length + place + 1}`).join(', ')})`,
  )
  await service.owner.query(`insert into ${into} values ${placed.join(', ')}`, values.flat())
}

describe('a replay', () => {
  test('sends what was in flight again, so that the receiver ends at the latest state', async () => {
    const { tenant, receiver, create, rename, endpoint, deliveries, by } = await subscribed()
    const id = await create('first')
    await settled({ deliveries })
    const held = holdFirst(receiver, () => 204)
    await rename(id, 'second')
    const inFlight = await held
    assert.deepEqual(await replay(by, await endpoint(), new Date(0)), { replayed: 2 })
    inFlight.writeHead(204).end()
    await until('the first is sent again', () => namesOf(receiver.received, id).length === 3)
    // After this the claim of the attempt in flight has ended.
    await letPass(service, tenant, '20 seconds')
    await settled({ deliveries })
    assert.deepEqual(namesOf(receiver.received, id), ['first', 'second', 'first', 'second'])
  })

  test('that is interrupted has put the newest back, not the oldest', async () => {
    const { tenant, scope, create, deliveries, endpointId } = await subscribed()
    const id = await create('first')
    await settled({ deliveries })
    await addEvents(tenant, endpointId, id, 1_500, new Date())
    let transactions = 0
    const interrupted: Pick<TenantDatabase, 'transaction'> = {
      transaction: (run) => {
        if (++transactions > 2) throw new Error('the process was killed')
        return scope.transaction(run)
      },
    }
    await assert.rejects(replayDeliveries(interrupted, endpointId, new Date(0)), /killed/)
    const states = `select settled_at is null as waits, count(*), min(sequence), max(sequence) from webhook_deliveries
      where tenant_id = $1 group by 1 order by 1`
    const [kept, put] = (await service.owner.query(states, [tenant.id])).rows
    assert.deepEqual([Number(kept.count), Number(put.count)], [501, 1_000])
    assert.ok(Number(kept.max) < Number(put.min))
  })
})

test('an endpoint whose secret was changed is sent both signatures for a day', async () => {
  const { tenant, receiver, create, endpoint, by } = await subscribed()
  const { secret } = receiver
  const rotated = await rotateSecret(by, await endpoint(), installation)
  assert.notEqual(rotated.secret, secret)
  for (const [index, known] of [secret, rotated.secret].entries()) {
    receiver.trust(known)
    await create('Ada')
    await until('it verifies', () => receiver.taken.length === index + 1)
  }
  await letPass(service, tenant, '25 hours')
  await create('Grace')
  await until('it verifies by the new one', () => receiver.taken.length === 3)
  const signatures = receiver.taken.map(({ headers }) => headers['webhook-signature']?.split(' ').length)
  assert.deepEqual([signatures, receiver.unverified], [[2, 2, 1], 0])
})

describe('an endpoint that is disabled', () => {
  test('because it answered 410 is sent nothing, and what waits once it is enabled', async () => {
    const { receiver, create, rename, endpoint, deliveries, actions, by } = await subscribed()
    receiver.answer = () => 410
    const id = await create('Ada')
    await until('it is disabled', async () => (await endpoint()).disabledAt !== null)
    assert.equal((await endpoint()).disabledBecause, 'gone')
    await rename(id, 'Grace')
    await until('it goes on recording', async () => (await deliveries()).length === 2)
    assert.equal(receiver.received.length, 1)
    receiver.answer = () => 204
    const enabled = await update(by, await endpoint(), { isDisabled: false })
    assert.deepEqual([enabled.disabledAt, enabled.disabledBecause, enabled.failingSince], [null, null, null])
    await until('both arrive', () => receiver.taken.length === 2)
    assert.deepEqual(namesOf(receiver.taken, id), ['Ada', 'Grace'])
    assert.deepEqual(await actions(), ['created operator', 'disabled masthead', 'enabled operator'])
    assert.ok(worker.errors.some((message) => message.includes('is disabled: it answered 410')))
  })

  test('because it took nothing for five days, and is not after a day, or when it took anything', async () => {
    const { tenant, receiver, create, endpoint, deliveries, actions } = await subscribed()
    receiver.answer = () => 500
    await create('Ada')
    await until('it fails', async () => (await endpoint()).failingSince !== null)
    await letPass(service, tenant, '25 hours')
    await until('it is tried again', async () => (await deliveries())[0]?.attempts === 2)
    assert.equal((await endpoint()).disabledAt, null)
    receiver.answer = () => 204
    await create('Grace')
    await until('it took one', async () => (await endpoint()).failingSince === null)
    receiver.answer = () => 500
    await create('Edsger')
    await until('it fails again', async () => (await endpoint()).failingSince !== null)
    await letPass(service, tenant, '6 days')
    await until('it is disabled', async () => (await endpoint()).disabledBecause === 'failing')
    assert.deepEqual((await actions()).at(-1), 'disabled masthead')
  })

  test('for weeks gets everything in order and under the same ids by a replay', async () => {
    const { tenant, receiver, create, rename, endpoint, deliveries, by } = await subscribed()
    const records = [await create('r0 0'), await create('r1 0')]
    await until('the first arrive', () => receiver.taken.length === 2)
    receiver.answer = () => undefined
    await receiver.close()
    for (let day = 1; day <= 29; day++) {
      for (const [index, id] of records.entries()) await rename(id, `r${index} ${day}`)
      // Each attempt fails, and after five days there is none.
      if (day === 1) await until('it fails', async () => (await endpoint()).failingSince !== null, 30_000)
      await letPass(service, tenant, '1 day')
      if (day === 6) await until('it is disabled', async () => (await endpoint()).disabledBecause === 'failing', 60_000)
    }
    const back = await startReceiver()
    back.trust(receiver.secret)
    await update(by, await endpoint(), { url: back.url })
    const since = new Date(Date.now() - 31 * 86_400_000)
    assert.deepEqual(await replay(by, await endpoint(), since), { replayed: 60 })
    assert.equal(back.received.length, 0)
    await update(by, await endpoint(), { isDisabled: false })
    await settled({ deliveries })
    for (const [index, id] of records.entries())
      assert.deepEqual(
        namesOf(back.taken, id),
        Array.from({ length: 30 }, (_, day) => `r${index} ${day}`),
      )
    assert.deepEqual(
      receiver.taken.map(({ id }) => id).toSorted(),
      back.taken
        .filter(({ message }) => / 0$/.test(String(message.data.name)))
        .map(({ id }) => id)
        .toSorted(),
    )
    assert.deepEqual(new Set(back.taken.map(({ id }) => id)), new Set((await deliveries()).map(({ id }) => id)))
    assert.equal(back.taken.length, 60)
  })
})

describe('a receiver that hangs, dribbles, redirects or floods', () => {
  const hostile: Record<string, Receiver['answer']> = {
    hangs: () => undefined,
    dribbles: (_received, response) => {
      response.writeHead(500)
      const timer = setInterval(() => response.write('x'), 50)
      response.once('close', () => clearInterval(timer))
      return undefined
    },
    redirects: (_received, response) => {
      response.setHeader('location', 'http://127.0.0.1:1/elsewhere')
      return 307
    },
    floods: (_received, response) => {
      response.writeHead(500)
      const chunk = Buffer.alloc(1_048_576)
      let left = 1_024
      const write = () => void (response.destroyed || left-- === 0 || response.write(chunk, write))
      write()
      return undefined
    },
  }

  test('delays no other endpoint of its tenant and no other tenant', async () => {
    const { tenant, receiver: healthy, create } = await subscribed()
    const neighbour = await subscribed()
    const receivers = await Promise.all(
      Object.values(hostile).map(async (answer) => {
        const receiver = await startReceiver()
        receiver.answer = answer
        await subscribe(service, tenant, receiver)
        return receiver
      }),
    )
    const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`c${index}`)))
    await until('the healthy one has all', () => healthy.taken.length === ids.length)
    await neighbour.create('neighbour')
    await until('the neighbour has its own', () => neighbour.receiver.taken.length === 1)
    // By now each of the others was tried, and holds its lanes or has failed.
    for (const receiver of receivers) await until('it was tried', () => receiver.received.length > 0)
    const later = await create('later')
    await until('a later one arrives', () => namesOf(healthy.taken, later).length === 1)
    await Promise.all(receivers.map((receiver) => receiver.close()))
  })

  test('has the beginning of its response kept, and no more', async () => {
    const { receiver, create, scope, endpointId, deliveries } = await subscribed()
    receiver.answer = (_received, response) => {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(`why\0${'y'.repeat(100_000)}`)
      return undefined
    }
    await create('Ada')
    await until('it is answered', async () => (await deliveries())[0]?.status === 400)
    const found = await findDelivery(scope.read, endpointId, (await deliveries())[0]?.id ?? '')
    assert.equal(found?.response, `why�${'y'.repeat(4_092)}`)
    assert.equal(JSON.parse(found?.request.body ?? '').data.name, 'Ada')
    assert.ok(found && found.durationMs !== null && found.durationMs >= 0)
  })
})

describe('what is kept of deliveries', () => {
  test('goes after 30 days, for one that waits, too', async () => {
    const { tenant, scope, receiver, create, deliveries } = await subscribed()
    await create('old')
    await until('it arrives', () => receiver.taken.length === 1)
    await settled({ deliveries })
    await letPass(service, tenant, '29 days 23 hours')
    await deleteOldEvents(scope)
    assert.equal((await deliveries()).length, 1)
    await letPass(service, tenant, '2 hours')
    await create('new')
    await deleteOldEvents(scope)
    assert.deepEqual((await deliveries()).length, 1)
    const { rows } = await service.owner.query('select from webhook_events where tenant_id = $1', [tenant.id])
    assert.equal(rows.length, 1)
  })

  test('goes when the contact is erased, with what the receiver answered', async () => {
    const { tenant, receiver, scope, create, deliveries } = await subscribed()
    receiver.answer = (_received, response) => {
      response.writeHead(200).end('Zephyrine')
      return undefined
    }
    const [id, other] = [await create('Zephyrine'), await create('Other')]
    await settled({ deliveries })
    assert.equal((await eraseContact(scope, operator, id)).deliveries, 1)
    assert.deepEqual(
      (await deliveries()).map(({ recordId }) => recordId),
      [other],
    )
    for (const table of ['webhook_events', 'webhook_deliveries']) {
      const text = `select from ${table} as t where tenant_id = $1 and record_id = $2`
      assert.equal((await service.owner.query(text, [tenant.id, id])).rowCount, 0)
    }
  })

  test('goes with its endpoint', async () => {
    const { tenant, scope, receiver, create, endpoint, by } = await subscribed()
    await create('Ada')
    await until('it arrives', () => receiver.taken.length === 1)
    await remove(by, await endpoint())
    assert.deepEqual(await listEndpoints(scope.read), [])
    const { rowCount } = await service.owner.query('select from webhook_deliveries where tenant_id = $1', [tenant.id])
    assert.equal(rowCount, 0)
    await create('unheard')
    assert.equal(receiver.received.length, 1)
  })
})

test('a tenant without endpoints keeps no events', async () => {
  const { tenant, create }: { tenant: TestTenant; create: (name: string) => Promise<string> } = await newTenant()
  await create('Ada')
  const { rowCount } = await service.owner.query('select from webhook_events where tenant_id = $1', [tenant.id])
  assert.equal(rowCount, 0)
})
