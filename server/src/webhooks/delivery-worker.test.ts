import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { attachTo, startReceiver, startWorkerFor } from '../../test/outside/webhook-receiver.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { startService } from '../../test/service.ts'
import { status } from './legacy/administration.ts'

const newTenant = async (service: Awaited<ReturnType<typeof startService>>) => {
  const [tenant, receiver] = [await service.newTenant(), await startReceiver()]
  await tenant.add('accounts', [sampleAccount('A')])
  await attachTo(service, tenant, receiver)
  const token = await tenant.serviceToken()
  const create = async () => {
    const { status } = await service.call('POST', '/contacts', { token, body: { accountId: 'A' } })
    return status
  }
  return { receiver, create, status: () => status(service.database.forTenant(tenant.id)) }
}

describe('a worker', () => {
  test('stops in a few seconds while an attempt is in flight, which the next begins anew at once', async () => {
    const service = await startService()
    const { receiver, create, status } = await newTenant(service)
    receiver.answer = () => undefined
    const first = startWorkerFor(service)
    await create()
    await until('an attempt is in flight', () => receiver.received.length === 1)
    const begun = Date.now()
    await first.stop()
    assert.ok(Date.now() - begun < 12_000, `${Date.now() - begun} ms`)
    assert.deepEqual([(await status()).waiting, (await status()).lastError], [1, null])
    receiver.answer = () => 204
    startWorkerFor(service)
    await until('it is delivered', async () => (await status()).waiting === 0)
    assert.equal(receiver.received[0]?.id, receiver.received[1]?.id)
  })

  test('lets an attempt end that is answered meanwhile', async () => {
    const service = await startService()
    const { receiver, create, status } = await newTenant(service)
    let answer = () => {}
    receiver.answer = (_received, response) => {
      answer = () => response.writeHead(204).end()
      return undefined
    }
    const { stop } = startWorkerFor(service)
    await create()
    await until('an attempt is in flight', () => receiver.received.length === 1)
    const stopped = stop()
    answer()
    await stopped
    assert.equal((await status()).waiting, 0)
  })

  test('goes on after every connection to the database was lost', async () => {
    const service = await startService()
    const { receiver, create, status } = await newTenant(service)
    startWorkerFor(service)
    const database = new URL(service.connectionString).pathname.slice(1)
    const administrator = new pg.Client(process.env.TEST_DATABASE_SERVER)
    await administrator.connect()
    after(() => administrator.end())
    const ended = Promise.withResolvers<unknown>()
    // In the middle of an attempt, whose outcome cannot be noted then. Nothing is sent over a connection that has yet to end.
    receiver.answer = () => {
      receiver.answer = () => 204
      const ending = administrator.query(
        `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1 and application_name ~ '^masthead [0-9.]+$'`,
        [database],
      )
      ended.resolve(ending)
      return 204
    }
    await until('a write is answered', async () => (await create()) === 201)
    await ended.promise
    await until('nothing waits', async () => (await status().catch(() => ({ waiting: 1 }))).waiting === 0, 60_000)
    assert.equal(await create(), 201)
    await until('the next is delivered too', () => new Set(receiver.taken.map(({ id }) => id)).size >= 2)
  })

  test('says clearly when it has another secret than the one with which the system was attached', async () => {
    const service = await startService()
    const { receiver, create, status } = await newTenant(service)
    startWorkerFor(service, { secret: 'another secret that is long enough too' })
    await create()
    await until('its error is noted', async () => (await status()).lastError !== null)
    assert.match((await status()).lastError ?? '', /^MASTHEAD_SECRET is not the one/)
    assert.equal(receiver.received.length + receiver.unverified, 0)
  })

  test('connects to no loopback or private address, and to none without https, unless it is allowed to', async () => {
    const service = await startService()
    const tenants = await Promise.all(
      Object.entries({
        'https://127.0.0.1': 'not a public address; set ALLOW_PRIVATE_ADDRESSES=true to allow it',
        'https://localhost': 'not a public address; set ALLOW_PRIVATE_ADDRESSES=true to allow it',
        'http://localhost': 'not an https address; set ALLOW_PRIVATE_ADDRESSES=true to allow it',
      }).map(async ([address, error]) => {
        const made = await newTenant(service)
        const text = `update webhook_endpoints set url = replace(url, 'http://127.0.0.1', $1) where url = $2`
        await service.owner.query(text, [address, made.receiver.url])
        return { ...made, error }
      }),
    )
    startWorkerFor(service, { allowPrivate: false })
    for (const { receiver, create, status, error } of tenants) {
      await create()
      await until('its error is noted', async () => (await status()).lastError !== null)
      assert.equal((await status()).lastError, error)
      assert.equal(receiver.received.length, 0)
    }
  })
})
