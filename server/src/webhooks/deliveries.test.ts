import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import {
  attachTo,
  type Received,
  type Receiver,
  startReceiver,
  startWorkerFor,
} from '../../test/outside/webhook-receiver.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { freeAddress, startService, type TestTenant } from '../../test/service.ts'
import { detach, retry, status } from './legacy/administration.ts'

const service = await startService()
startWorkerFor(service)

const newTenant = async (target: { url: string; secret: string }) => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('A')])
  await attachTo(service, tenant, target)
  const token = await tenant.serviceToken()
  const create = async (name: string): Promise<string> => {
    const answer = await service.call('POST', '/contacts', { token, body: { accountId: 'A', name } })
    assert.equal(answer.status, 201, answer.text)
    return answer.body.id
  }
  const update = async (id: string, title: string): Promise<void> => {
    const answer = await service.call('PATCH', `/contacts/${id}`, { token, body: { accountId: 'A', title } })
    assert.equal(answer.status, 200, answer.text)
  }
  const scope = service.database.forTenant(tenant.id)
  return { tenant, scope, token, create, update, status: () => status(scope), retry: () => retry(scope) }
}

const ofOwner = async (tenant: TestTenant, sql: string) =>
  (await service.owner.query(`${sql} where tenant_id = $1`, [tenant.id])).rows

/** What a record's deliveries said of it, in the order in which they were taken. */
const taken = ({ taken: all }: Receiver, id: string) =>
  all.filter(({ message }) => message.data.id === id).map(({ message }) => message.data.title ?? message.type)

describe('a delivery that fails', () => {
  test('comes again under the same id at another time, and holds back only what follows of its record', async () => {
    const receiver = await startReceiver()
    const { create, update, status } = await newTenant(receiver)
    receiver.answer = ({ message }) => (message.data.name === 'held' && attemptsOf('held').length === 1 ? 500 : 204)
    const attemptsOf = (name: string) => receiver.received.filter(({ message }) => message.data.name === name)
    const held = await create('held')
    await until('the first attempt', () => attemptsOf('held').length === 1)
    await update(held, 'second')
    const free = await create('free')
    await until('the other record is delivered', () => taken(receiver, free).length === 1)
    await update(free, 'again')
    await until('and goes on', () => taken(receiver, free).length === 2)
    assert.equal(attemptsOf('held').length, 1)
    await until('its error is noted', async () => (await status()).lastError === 'answered 500')
    await until('the held one comes after its pause', () => taken(receiver, held).length === 2)
    assert.deepEqual(taken(receiver, held), ['contact.created', 'second'])
    const [first, again, second] = attemptsOf('held')
    assert.ok(first && again && second)
    assert.equal(first.id, again.id)
    assert.equal(first.text, again.text)
    assert.notEqual(second.id, first.id)
    assert.match(first.id, /^msg_[0-9a-f]{32}$/)
    const seconds = (received: Received) => Number(received.headers['webhook-timestamp'])
    assert.ok(seconds(again) - seconds(first) >= 3, 'the pause is a few seconds')
  })

  test('is one that got any answer but 2xx: redirects are not followed, and Gone means nothing special', async () => {
    const receiver = await startReceiver()
    const { create, status, retry } = await newTenant(receiver)
    const id = await create('refused')
    let attempts = 0
    for (const code of [301, 307, 410, 404, 200]) {
      receiver.answer = (_received, response) => {
        response.setHeader('location', receiver.url)
        return code
      }
      attempts++
      if (attempts > 1) await retry()
      await until(`it is answered with ${code}`, () => receiver.received.length >= attempts)
      if (code !== 200) await until('it is noted', async () => (await status()).lastError === `answered ${code}`)
    }
    await until('nothing waits', async () => (await status()).waiting === 0)
    assert.equal(receiver.received.length, attempts)
    assert.deepEqual(taken(receiver, id), ['contact.created'])
  })

  test('is kept as failed after three days, until an operator lets it be tried for three more', async () => {
    const receiver = await startReceiver()
    const { tenant, create, update, status, retry, scope } = await newTenant(receiver)
    receiver.answer = () => 500
    const id = await create('late')
    await until('it was tried', async () => (await status()).lastError !== null)
    await update(id, 'behind it')
    await ofOwner(
      tenant,
      `update webhook_deliveries set waiting_since = waiting_since - interval '3 days', next_attempt_at = now()`,
    )
    await until('it has failed', async () => (await status()).failed === 1)
    const { waiting, failed, oldestWaiting, attached, url } = await status()
    assert.deepEqual([attached, url, waiting, failed], [true, receiver.url, 1, 1])
    assert.ok(oldestWaiting && Date.now() - oldestWaiting.getTime() < 60_000)
    await assert.rejects(detach(scope, false), /1 deliveries wait and 1 have failed/)
    receiver.answer = () => 204
    assert.deepEqual(await retry(), { retried: 1, hastened: 1 })
    await until('both are delivered', () => taken(receiver, id).length === 2)
    assert.deepEqual(taken(receiver, id), ['contact.created', 'behind it'])
  })

  test('says what is wrong in a line without the query of the address, which may be secret', async () => {
    const address = await freeAddress()
    const { create, status } = await newTenant({ ...(await startReceiver()), url: `${address}/in?key=hunter22` })
    await create('unreachable')
    await until('its error is noted', async () => (await status()).lastError !== null)
    const shown = await status()
    assert.deepEqual([shown.lastError, shown.url], ['no connection: ECONNREFUSED', `${address}/in?…`])
  })
})

describe('an answer', () => {
  test('counts by its status, however long its body is, and however it ends', async () => {
    const endless = createServer((_request, response) => {
      response.writeHead(200)
      const chunk = Buffer.alloc(65_536)
      const write = () => void (response.destroyed || response.write(chunk, write))
      write()
    })
    const url = await freeAddress()
    endless.listen(Number(new URL(url).port), '127.0.0.1')
    await once(endless, 'listening')
    after(() => endless.close())
    const { create, status } = await newTenant({ ...(await startReceiver()), url })
    await create('flooded')
    await until('it is delivered', async () => (await status()).waiting === 0)
  })
})

describe('a legacy system that is away', () => {
  test('is tried by few of the many that wait, and gets them all in order once it is back', async () => {
    const receiver = await startReceiver()
    receiver.answer = () => 503
    const { create, update, status } = await newTenant(receiver)
    const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`c${index}`)))
    for (const id of ids) await update(id, 'second')
    await until('its error is noted', async () => (await status()).lastError === 'answered 503')
    await until('it is tried again', () => receiver.received.length > 4)
    const tried = new Set(receiver.received.map(({ id }) => id)).size
    assert.ok(tried < 10, `${tried} of 40 were tried`)
    receiver.answer = () => 204
    await until('everything is delivered', async () => (await status()).waiting === 0, 60_000)
    for (const id of ids) assert.deepEqual(taken(receiver, id), ['contact.created', 'second'])
  })

  test('holds up neither the deliveries of other tenants nor the answers of the API', async () => {
    const [silent, healthy] = [await startReceiver(), await startReceiver()]
    let [open, most] = [0, 0]
    silent.answer = (_received, response) => {
      most = Math.max(most, ++open)
      response.once('close', () => open--)
      return undefined
    }
    const away = await Promise.all(Array.from({ length: 3 }, () => newTenant(silent)))
    await Promise.all(away.flatMap(({ create }) => Array.from({ length: 10 }, (_, index) => create(`c${index}`))))
    await until('it keeps attempts waiting', () => silent.received.length >= 12)
    const { create } = await newTenant(healthy)
    const begun = Date.now()
    await create('prompt')
    await until('it is delivered', () => healthy.taken.length === 1)
    // The silent one is waited for up to 15 s.
    assert.ok(Date.now() - begun < 12_000)
    const answerTimes: number[] = []
    for (let write = 0; write < 20; write++) {
      const started = performance.now()
      await away[0]?.create('while it is away')
      answerTimes.push(performance.now() - started)
    }
    const median = answerTimes.toSorted((one, other) => one - other)[10] ?? 0
    assert.ok(median < 5_000, `${median} ms`)
    assert.ok(most <= 12, 'no more than four at a time for each of the three tenants')
    await silent.close()
  })

  test('gives up what has waited for three days, also what was never tried', async () => {
    const address = await freeAddress()
    const { tenant, create, status, retry } = await newTenant({ ...(await startReceiver()), url: address })
    await Promise.all(Array.from({ length: 10 }, (_, index) => create(`c${index}`)))
    await until('it was tried', async () => (await status()).lastError !== null)
    await ofOwner(tenant, `update webhook_deliveries set waiting_since = waiting_since - interval '3 days'`)
    await until('all have failed', async () => (await status()).failed === 10)
    assert.equal((await status()).waiting, 0)
    assert.deepEqual(await retry(), { retried: 10, hastened: 0 })
  })
})

test('a system that was away when the clock of the database was set back is tried by the next write', async () => {
  const receiver = await startReceiver()
  const { tenant, create } = await newTenant(receiver)
  await ofOwner(tenant, `update webhook_endpoints set silences = 3, resumes_at = now() + interval '2 hours'`)
  const id = await create('after')
  await until('it is delivered', () => taken(receiver, id).length === 1)
})

describe('attaching again', () => {
  test('replaces address and secret, and what waits goes to the new one', async () => {
    const [old, next] = [await startReceiver(), await startReceiver()]
    old.answer = () => 500
    const { tenant, create, status, scope } = await newTenant(old)
    const since = (await status()).attachedAt
    const id = await create('moved')
    await until('the old one was tried', () => old.received.length === 1)
    await until('its error is noted', async () => (await status()).lastError !== null)
    await attachTo(service, tenant, next)
    await retry(scope)
    await until('the new one has it', () => taken(next, id).length === 1)
    assert.equal(next.unverified, 0)
    assert.equal(next.received[0]?.id, old.received[0]?.id)
    assert.deepEqual((await status()).attachedAt, since)
  })
})

describe('detaching', () => {
  test('is refused while something waits, unless it is to be discarded, and then nothing comes any more', async () => {
    const receiver = await startReceiver()
    receiver.answer = () => 500
    const { create, scope, status } = await newTenant(receiver)
    await create('unwanted')
    await until('it was tried', async () => (await status()).lastError !== null)
    await assert.rejects(detach(scope, false), /1 deliveries wait and 0 have failed.*--discard/)
    assert.deepEqual(await detach(scope, true), { discarded: 1 })
    assert.deepEqual(await status(), {
      attached: false,
      waiting: 0,
      failed: 0,
      oldestWaiting: null,
      lastError: null,
      lastErrorAt: null,
    })
    await assert.rejects(detach(scope, false), /no legacy system attached/)
    await assert.rejects(retry(scope), /no legacy system attached/)
  })

  test('beside writes leaves none of them half delivered', async () => {
    const receiver = await startReceiver()
    for (let round = 0; round < 5; round++) {
      const { tenant, scope, token, status } = await newTenant(receiver)
      const writes = Array.from({ length: 6 }, () =>
        service.call('POST', '/accounts', { token, body: { company: 'Acme' } }),
      )
      const [, ...answers] = await Promise.all([detach(scope, true), ...writes])
      for (const { status, body } of answers)
        assert.deepEqual([status, /^(legacy|native)$/.test(body.route)], [201, true])
      assert.deepEqual([(await status()).attached, (await status()).waiting], [false, 0])
      const { rows } = await service.owner.query(
        'select 1 from webhook_deliveries where tenant_id = $1 and settled_at is null',
        [tenant.id],
      )
      assert.equal(rows.length, 0)
    }
  })
})

describe('several workers', () => {
  test('deliver many writes of a few records, each once and in order', async () => {
    const receiver = await startReceiver()
    const { create, update, status } = await newTenant(receiver)
    const second = startWorkerFor(service)
    const ids = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(create))
    await Promise.all(
      ids.map(async (id) => {
        for (let number = 0; number < 30; number++) await update(id, String(number))
      }),
    )
    await until('nothing waits', async () => (await status()).waiting === 0)
    for (const id of ids) {
      assert.deepEqual(taken(receiver, id), ['contact.created', ...Array.from({ length: 30 }, (_, n) => String(n))])
    }
    assert.equal(receiver.received.length, 155)
    assert.deepEqual(second.errors, [])
    await second.stop()
  })
})
