import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { until } from '../../../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../../../test/records/sample-records.ts'
import { type CallResponse, generous, startService } from '../../../../test/service.ts'
import { MemoryCounters, newCounterMemory } from '../../../counters/memory-counters.ts'
import type { Principal } from '../../../identity/principal.ts'
import { RateLimiter } from './rate-limit.ts'

/** What `RateLimit` says is left, by the name of the limit. */
const leftOf = (headers: Headers): Record<string, number> =>
  Object.fromEntries(
    [...(headers.get('ratelimit') ?? '').matchAll(/"(\w+)";r=(\d+);t=\d+/g)].map(([, name = '', left]) => [
      name,
      Number(left),
    ]),
  )

describe('requests of a token', () => {
  test('are counted on every answer, also on refusals, and refused with 429 when they are too many', async () => {
    const service = await startService({ rateLimits: { ...generous, token: 4, tenant: 100 } })
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken(['contacts:read'])
    const answers = []
    for (const path of ['/contacts', '/contacts/nobody', '/accounts', '/nowhere', '/contacts']) {
      answers.push(await service.call('GET', path, { token }))
    }
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, leftOf(headers).token]),
      [
        [200, 3],
        [404, 2],
        [403, 1],
        [404, 0],
        [429, 0],
      ],
    )
    const last = answers.at(-1)
    assert.equal(last?.body.code, 'too_many_requests')
    assert.match(last?.headers.get('retry-after') ?? '', /^(60|59|58)$/)
    assert.equal(last?.headers.get('ratelimit-policy'), '"token";q=4;w=60, "tenant";q=100;w=60')
    assert.equal(leftOf(last?.headers ?? new Headers()).tenant, 96, 'what is refused is not charged to the tenant')
    const other = await tenant.serviceToken(['contacts:read'])
    assert.equal((await service.call('GET', '/contacts', { token: other })).status, 200)
  })

  test('that are answered 304 from memory cost nothing', async () => {
    const service = await startService()
    const token = await (await service.newTenant()).serviceToken()
    const first = await service.call('GET', '/contacts', { token })
    // Without one of its own fetch says `no-cache` beside a tag.
    const headers = { 'if-none-match': first.headers.get('etag') ?? '', 'cache-control': 'max-age=0' }
    const ask = async () => {
      const again = await service.call('GET', '/contacts', { token, headers })
      assert.equal(again.status, 304)
      return leftOf(again.headers)
    }
    // While it is not known what other nodes wrote, nothing comes from memory.
    await until('five in a row are free', async () => {
      const left: Record<string, number>[] = []
      for (let number = 0; number < 6; number++) left.push(await ask())
      return left.every(({ token, tenant }) => token === left[0]?.token && tenant === left[0]?.tenant)
    })
  })

  test('that are answered 304 from the database cost as much as others', async () => {
    const service = await startService({ rateLimits: { ...generous, token: 10 } })
    const token = await (await service.newTenant()).serviceToken()
    const etag = (await service.call('GET', '/contacts', { token })).headers.get('etag') ?? ''
    const unchanged = { 'if-none-match': etag, 'cache-control': 'no-cache' }
    const asks: [method: string, path: string, headers: Record<string, string>][] = [
      ['GET', '/contacts', unchanged],
      ['HEAD', '/contacts', unchanged],
      ['GET', '/contacts?search=never', unchanged],
      ['GET', '/contacts?search=seen', { 'if-none-match': '*', 'cache-control': 'max-age=0' }],
      ['HEAD', '/contacts?search=before', { 'if-none-match': '*', 'cache-control': 'max-age=0' }],
    ]
    const left = []
    for (const [method, path, headers] of asks) {
      const answer = await service.call(method, path, { token, headers })
      assert.equal(answer.status, 304)
      left.push(leftOf(answer.headers).token)
    }
    assert.deepEqual(left, [8, 7, 6, 5, 4])
  })

  test('of all tokens of a tenant count for the tenant, and leave others alone', async () => {
    const service = await startService({ rateLimits: { ...generous, tenant: 3 } })
    const [tenant, other] = [await service.newTenant(), await service.newTenant()]
    const statuses = []
    for (let number = 0; number < 4; number++) {
      statuses.push((await service.call('GET', '/contacts', { token: await tenant.serviceToken() })).status)
    }
    assert.deepEqual(statuses, [200, 200, 200, 429])
    assert.equal((await service.call('GET', '/contacts', { token: await other.serviceToken() })).status, 200)
  })

  test('are refused when too many are in flight at once, and accepted again afterwards', async () => {
    const service = await startService({ rateLimits: { ...generous, atOnce: 2 } })
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken()
    await tenant.add('accounts', [sampleAccount('A')])
    await tenant.add('contacts', [])
    const create = () => service.call('POST', '/contacts', { token, body: { accountId: 'A' } })
    assert.equal((await create()).status, 201)
    // What is in flight waits for this lock.
    await service.owner.query('begin')
    await service.owner.query('select from heads where tenant_id = $1 for update', [tenant.id])
    const waiting = [create(), create(), create()]
    const refused = await Promise.race(waiting)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1'])
    await service.owner.query('commit')
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [201, 201, 429])
    assert.equal((await create()).status, 201)
  })

  test('are nobody else’s when the token is not known', async () => {
    const service = await startService()
    const { status, headers } = await service.call('GET', '/contacts', { token: 'nonsense' })
    assert.deepEqual([status, headers.get('ratelimit')], [401, null])
  })
})

test('calls of a tenant that would wait behind too many others are refused at once', async () => {
  const service = await startService()
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('A')])
  // With a key each has a transaction of its own.
  const create = () =>
    service.call('POST', '/contacts', {
      token,
      body: { accountId: 'A' },
      headers: { 'idempotency-key': randomUUID() },
    })
  assert.equal((await create()).status, 201)
  await service.owner.query('begin')
  await service.owner.query('select from heads where tenant_id = $1 for update', [tenant.id])
  const refused: CallResponse[] = []
  const waiting = Array.from({ length: 120 }, async () => {
    const answer = await create()
    if (answer.status !== 201) refused.push(answer)
  })
  const tooMany = () => refused.filter(({ body }) => body.detail === 'Too many calls wait already.')
  await until('all but six at work and a hundred that wait are refused', () => tooMany().length >= 14)
  await service.owner.query('commit')
  const [first] = tooMany()
  assert.deepEqual([first?.status, first?.body.code, first?.headers.get('retry-after')], [503, 'unavailable', '1'])
  await Promise.all(waiting)
})

describe('a token that is refused', async () => {
  const service = await startService({ rateLimits: { ...generous, token: 1 } })
  const tenant = await service.newTenant()
  const call = async (token: string) => (await service.call('GET', '/contacts', { token })).status

  test('is refused again without a look at the database', async () => {
    const token = await tenant.serviceToken()
    assert.equal(await call(token), 200)
    // On a machine that is too slow it has to be looked up again, which is right.
    await until('it is refused while nobody can look it up', async () => {
      assert.equal(await call(token), 429)
      await service.owner.query('begin')
      await service.owner.query('lock access_tokens')
      const statuses = [await call(token), await call(token)]
      await service.owner.query('rollback')
      return statuses.every((status) => status === 429)
    })
  })

  test('and then revoked is told so soon', async () => {
    const token = await tenant.serviceToken()
    assert.deepEqual([await call(token), await call(token)], [200, 429])
    await service.owner.query('update access_tokens set revoked_at = now(); select stamp_identity()')
    await until('it is not known any more', async () => (await call(token)) === 401)
  })
})

test('a client that disconnects while its token is looked up is no longer in flight', async () => {
  const service = await startService({ rateLimits: { ...generous, atOnce: 1 } })
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  const hangUp = new AbortController()
  await service.owner.query('begin')
  await service.owner.query('lock access_tokens')
  const gone = service.call('GET', '/contacts', { token, signal: hangUp.signal })
  await until('the token is looked up', async () => {
    const waiting = `select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`
    return (await service.owner.query(waiting)).rows.length > 0
  })
  const { server } = service.app
  hangUp.abort()
  await assert.rejects(gone)
  const connections = promisify(server.getConnections.bind(server))
  await until('the connection is closed', async () => (await connections()) === 0)
  await service.owner.query('commit')
  assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
})

describe('a window', () => {
  const principal: Principal = {
    kind: 'service',
    tokenId: 't',
    tenantId: 'x',
    userId: null,
    role: null,
    tokenScopes: new Set(),
    assignee: '',
    legacyUserId: null,
    applicationId: null,
    grantId: null,
    lineage: 'service t',
  }

  test('begins with the first request and ends after a minute', async () => {
    let now = 1_000
    const counters = new MemoryCounters(newCounterMemory(), 0, () => now)
    const limiter = new RateLimiter({ ...generous, token: 1 }, counters)
    assert.equal((await limiter.call(principal)).refused, null)
    now += 59_999
    assert.equal((await limiter.call(principal)).refused?.seconds, 1)
    now += 1
    assert.equal((await limiter.call(principal)).refused, null)
  })

  test('of a delegated token is that of its grant', async () => {
    const limiter = new RateLimiter({ ...generous, token: 1 }, new MemoryCounters())
    const delegated = { ...principal, kind: 'delegated' as const, lineage: 'grant g' }
    assert.equal((await limiter.call({ ...delegated, tokenId: 'first' })).refused, null)
    assert.notEqual((await limiter.call({ ...delegated, tokenId: 'second' })).refused, null)
  })
})
