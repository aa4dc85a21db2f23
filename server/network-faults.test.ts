import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { basePath } from '@masthead/contract'
import {
  authorizationRequest,
  Browser,
  form,
  newApplication,
  newPerson,
  newVerifier,
  obtainCode,
} from './test/browsers/oauth-browser.ts'
import { faultyNetwork } from './test/outside/faulty-network.ts'
import { attachTo, startReceiver, startWorkerFor } from './test/outside/webhook-receiver.ts'
import { until } from './test/processes/masthead-process.ts'
import { MixedLoad } from './test/records/mixed-load.ts'
import { sampleAccount } from './test/records/sample-records.ts'
import { assertTallies } from './test/records/tallies.ts'
import { assertProblem } from './test/requests/problem-response.ts'
import { cloneTemplate, startService } from './test/service.ts'

const connectionString = await cloneTemplate()
const network = await faultyNetwork(connectionString)
const service = await startService({ connectionString, reachedBy: network.connectionString })
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
const nothing = { lost: [], doubled: [], different: [], invented: [], miscounted: [], unanswered: [] }

const loadOf = async () => {
  const fresh = await service.newTenant()
  const tenants = [{ slug: fresh.slug, token: await fresh.serviceToken() }]
  return new MixedLoad({ nodes: [service.origin + basePath], tenants, callers: 12, pauseMilliseconds: 30 })
}

const assertOnlyUnavailable = ({ attempts }: MixedLoad): void => {
  const refusals = attempts.filter(({ status }) => status === null || status >= 300)
  for (const { status, code, retryAfter } of refusals)
    assert.deepEqual([status, code, retryAfter], [503, 'unavailable', '1'])
}
const writesAnswered = ({ attempts }: MixedLoad): number =>
  attempts.filter(({ isWrite, status }) => isWrite && status !== null && status < 300).length

describe('while the way to the database is cut off', async () => {
  after(network.mend)
  const person = await newPerson(service, [tenant, 'admin'])
  const application = await newApplication(service)
  const exchange = await obtainCode(service.origin, { application, person })
  const browser = new Browser(service.origin)
  await browser.answer(authorizationRequest(application, newVerifier()), { person })
  const { location: interaction } = await browser.visit(authorizationRequest(application, newVerifier()))

  test('callers are told so, at once when it lasts', async () => {
    const before = await service.call('GET', '/contacts', { token })
    assert.equal(before.status, 200)
    network.cut()
    const headers = { 'cache-control': 'no-cache' }
    assertProblem(await service.call('GET', '/contacts', { token, headers }), 'unavailable')
    const read = () => service.call('GET', '/contacts', { token })
    await until('nothing is told from memory any more', async () => (await read()).status === 503)
    const began = performance.now()
    for (let call = 0; call < 10; call++) {
      const answer = await service.call('POST', '/accounts', { token, body: { company: 'Nobody' } })
      assertProblem(answer, 'unavailable')
      assert.equal(answer.headers.get('retry-after'), '1')
    }
    // Each would wait three seconds for it to come back.
    assert.ok(performance.now() - began < 15_000)
  })

  test('the service is alive and not ready', async () => {
    assert.equal((await service.call('GET', '//healthz')).status, 200)
    assert.equal((await service.call('GET', '//readyz')).status, 503)
  })

  for (const [path, fields] of Object.entries({
    '/oauth2/token': exchange,
    '/oauth2/revoke': { client_id: application.clientId, token: 'x' },
    '/oauth2/userinfo': { access_token: 'x' },
  })) {
    test(`${path} answers 503 as OAuth has it`, async () => {
      const response = await fetch(service.origin + path, { method: 'POST', body: form(fields) })
      assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1'])
      assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
      const body = await response.json()
      assert.deepEqual(body, {
        error: 'temporarily_unavailable',
        error_description: 'the service cannot reach its data right now',
      })
    })
  }

  test('a person sees a page that says so', async () => {
    for (const path of [authorizationRequest(application, newVerifier()), interaction, '/oauth2/logout']) {
      const { status, headers, page } = await browser.visit(path)
      assert.deepEqual([path, status, headers.get('retry-after')], [path, 503, '1'])
      assert.match(headers.get('content-type') ?? '', /^text\/html/)
      assert.match(page, /<h1>/)
    }
  })

  test('keys and metadata are served all the same', async () => {
    for (const path of ['/oauth2/jwks', '/.well-known/openid-configuration'])
      assert.equal((await service.call('GET', `/${path}`)).status, 200)
  })

  test('and back, everything goes on', async () => {
    network.mend()
    await until('the service is ready', async () => (await service.call('GET', '//readyz')).status === 200)
    const response = await fetch(`${service.origin}/oauth2/token`, { method: 'POST', body: form(exchange) })
    assert.equal(response.status, 200)
  })
})

test('readers do not notice connections that break for a moment', async (context) => {
  context.after(network.mend)
  const statuses: number[] = []
  let over = false
  const readers = Array.from({ length: 8 }, async () => {
    while (!over) statuses.push((await service.call('GET', '/contacts', { token })).status)
  })
  const moreReads = (count: number) => {
    const enough = statuses.length + count
    return until(`${count} more reads are answered`, () => statuses.length >= enough)
  }
  try {
    for (let cut = 0; cut < 3; cut++) {
      await moreReads(20)
      network.cut()
      await delay(200)
      network.mend()
    }
    await moreReads(20)
  } finally {
    over = true
  }
  await Promise.all(readers)
  assert.deepEqual([...new Set(statuses)], [200])
})

test('a database that falls silent under load is told within seconds, and costs no answered write', async (context) => {
  context.after(network.mend)
  using load = await loadOf()
  load.start()
  await until('writes are answered', () => writesAnswered(load) > 50)
  network.swallow()
  const fell = performance.now()
  const areTold = () => load.attempts.every(({ sentAt, milliseconds }) => sentAt > fell || milliseconds !== null)
  await until('those in flight are told', areTold)
  await until('those who come later are told', () =>
    load.attempts.some(({ sentAt, status }) => sentAt > fell && status),
  )
  network.mend()
  const before = writesAnswered(load)
  await until('writes are answered again', () => writesAnswered(load) > before + 50)
  await load.stop()
  assertOnlyUnavailable(load)
  assert.deepEqual(await load.compare(), nothing)
  await assertTallies(service.owner)
})

test('a database that falls silent during searches is told to all who search, soon', async (context) => {
  context.after(network.mend)
  const search = (words: string) => service.call('GET', `/contacts?search=${words}`, { token })
  // Who calls is known, and every connection for searches is open.
  const others = await Promise.all(Array.from({ length: 3 }, async () => (await service.newTenant()).serviceToken()))
  const searches = [token, ...others].map((token) => service.call('GET', '/contacts?search=any', { token }))
  for (const { status } of await Promise.all(searches)) assert.equal(status, 200)
  network.swallow()
  const fell = performance.now()
  const answers = await Promise.all(Array.from({ length: 6 }, (_, number) => search(`words-${number}`)))
  for (const answer of answers) assertProblem(answer, 'unavailable')
  // One after the other they would wait twice twelve seconds.
  assert.ok(performance.now() - fell < 20_000, `it took ${performance.now() - fell} ms`)
  network.mend()
  await until('searches are answered again', async () => (await search('again')).status === 200)
})

describe('a write', async () => {
  after(network.mend)
  const [account] = await tenant.add('accounts', [sampleAccount(randomUUID().slice(0, 8))])
  const newWrite = () => {
    const body = { accountId: account?.accountId, name: randomUUID() }
    return {
      send: () => service.call('POST', '/contacts', { token, body, headers: { 'idempotency-key': body.name } }),
      found: async () => (await service.call('GET', `/contacts?search=${body.name}`, { token })).body.items,
    }
  }

  test('whose connection breaks before its commit is done all the same', async () => {
    const { send, found } = newWrite()
    network.cutBefore('insert into idempotency_records')
    const answer = await send()
    assert.deepEqual([answer.status, answer.headers.get('idempotency-replayed')], [201, null])
    assert.deepEqual(await found(), [answer.body])
  })

  for (const [what, fail, replayed] of [
    ['did not arrive', network.cutBefore, null],
    ['was not confirmed', network.loseAnswersTo, 'true'],
  ] as const) {
    test(`whose commit ${what} is refused, and is there once when it was sent again`, async () => {
      const { send, found } = newWrite()
      fail('commit')
      assertProblem(await send(), 'unavailable')
      network.mend()
      const again = await send()
      assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, replayed])
      assert.deepEqual(await found(), [again.body])
    })
  }
})

describe('deliveries to a legacy system', async () => {
  // The worker runs from here on, also while the tests above run. On a way that they share, its commits would meet their faults.
  const ways = [network, await faultyNetwork(connectionString)] as const
  const onBothWays = (what: 'cut' | 'mend' | 'strand') => {
    for (const way of ways) way[what]()
  }
  after(() => onBothWays('mend'))
  const receiver = await startReceiver()
  const attached = await service.newTenant()
  const its = await attached.serviceToken()
  await attachTo(service, attached, receiver)
  startWorkerFor({ ...service, connectionString: ways[1].connectionString })
  const open = () => service.call('POST', '/accounts', { token: its, body: { company: 'Acme' } })
  const isTaken = (count: number) => until(`${count} are taken`, () => receiver.taken.length >= count)

  test('go on after an outage in the middle of one', async () => {
    receiver.answer = (received, response) => {
      receiver.answer = () => 204
      receiver.taken.push(received)
      onBothWays('cut')
      response.writeHead(204).end()
      return undefined
    }
    await open()
    await isTaken(1)
    // So long that whoever tries again for some time gives up.
    await delay(8_000)
    onBothWays('mend')
    await until('another account is opened', async () => (await open()).status === 201)
    await isTaken(2)
  })

  test('go on, and so do callers, when every connection hangs for ever and new ones work', async () => {
    const before = receiver.taken.length
    onBothWays('strand')
    await until('an account is opened', async () => (await open()).status === 201)
    await isTaken(before + 1)
  })
})

test('a read costs one round trip to the database, whether or not the response is cached', async (context) => {
  context.after(network.mend)
  const [account] = await tenant.add('accounts', [sampleAccount(randomUUID().slice(0, 8))])
  const get = (cache: string) =>
    service.call('GET', `/accounts/${account?.accountId}`, { token, headers: { 'cache-control': cache } })
  // All connections are open, and all statements prepared.
  await Promise.all(Array.from({ length: 20 }, () => get('no-cache')))
  network.delay(100)
  const roundTrips = async (cache: string): Promise<number> => {
    const took: number[] = []
    for (let call = 0; call < 10; call++) {
      const began = performance.now()
      assert.equal((await get(cache)).status, 200)
      took.push(performance.now() - began)
    }
    return Math.round(Math.min(...took) / 200)
  }
  const [past, through] = [await roundTrips('no-cache'), await roundTrips('max-age=0')]
  network.mend()
  assert.deepEqual([past, through], [1, 1])
})
