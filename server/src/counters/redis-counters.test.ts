import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mostFollowedByToken } from '@masthead/contract'
import { startRedis, withoutRedis } from '../../test/outside/redis-server.ts'
import { startServing, temporaryDataDirectory, until } from '../../test/processes/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../test/records/sample-records.ts'
import { type EventStream, openEventStream } from '../../test/requests/event-stream.ts'
import { freeAddress, generous, type Service, secret, startService } from '../../test/service.ts'
import { newToken } from '../identity/token-format.ts'

const password = 'a-password-of-redis'
/** When a stream is sent something at the latest, and keeps its seat. */
const commentMilliseconds = 15_000

describe('services with one Redis', { skip: withoutRedis }, async () => {
  const redis = await startRedis(password)
  const limits = {
    rateLimits: { ...generous, token: 4, atOnce: 3, unknownTokens: 6 },
    counting: { redisUrl: redis.url },
  }
  const one = await startService(limits)
  const other = await startService({ ...limits, connectionString: one.connectionString })
  const dataDirectory = await temporaryDataDirectory()
  const tenant = await one.newTenant()
  await tenant.add('accounts', [sampleAccount('A')])
  await tenant.add('contacts', [sampleContact('A')])

  const get = async ({ call }: Service, token: string, headers = {}) => {
    const response = await call('GET', '/contacts', { token, headers })
    return { ...response, left: Number(/"token";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]) }
  }

  test('share the minute of a token, and the one that refuses says when it ends', async () => {
    const token = await tenant.serviceToken()
    const seen = []
    for (const service of [one, other, other, one, other, one]) {
      const { status, left } = await get(service, token)
      seen.push([status, left])
    }
    assert.deepEqual(seen, [
      [200, 3],
      [200, 2],
      [200, 1],
      [200, 0],
      [429, 0],
      [429, 0],
    ])
    const { headers } = await get(one, token)
    assert.match(headers.get('retry-after') ?? '', /^(60|59|58|57|56|55)$/)
  })

  test('charge nothing for a 304 from memory', async () => {
    // While it is not known what other nodes wrote, nothing comes from memory.
    await until('five in a row are free', async () => {
      const token = await tenant.serviceToken()
      const etag = (await get(one, token)).headers.get('etag') ?? ''
      const seen = []
      for (let number = 0; number < 5; number++) {
        const { status, left } = await get(one, token, { 'if-none-match': etag, 'cache-control': 'max-age=0' })
        seen.push(`${status} ${left}`)
      }
      return seen.every((one) => one === '304 3') && (await get(one, token)).left === 2
    })
  })

  test('count unknown tokens of an address together, and let those that one of them knows go on', async () => {
    const inUse = await tenant.serviceToken()
    assert.equal((await get(one, inUse)).status, 200)
    const statuses = []
    for (let number = 0; number < 8; number++) {
      const service = number % 2 === 0 ? one : other
      statuses.push((await get(service, newToken('service'))).status)
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 401, 429, 429])
    const unseen = await tenant.serviceToken()
    for (const service of [one, other]) {
      assert.equal((await get(service, inUse)).status, 200)
      assert.equal((await get(service, unseen)).status, 429)
    }
    // For the tests that follow.
    await redis.ask((client) => client.flushAll())
  })

  /** The requests in flight by Redis; the tests look at one token at a time. */
  const leases = () =>
    redis.ask(async (client) => {
      const [key = ''] = await client.keys('masthead:running:*')
      return { key, members: await client.zRangeWithScores(key, 0, -1) }
    })

  /** Holds the creates of contacts until it is released. */
  const holdCreates = async () => {
    await one.owner.query('begin')
    await one.owner.query('select from heads where tenant_id = $1 for update', [tenant.id])
    return () => one.owner.query('commit')
  }
  const create = async ({ call }: Pick<Service, 'call'>, token: string) =>
    (await call('POST', '/contacts', { token, body: { accountId: 'A' } })).status

  test('share the requests in flight of a token', async () => {
    const token = await tenant.serviceToken()
    const release = await holdCreates()
    const waiting = [one, other, one, other].map((service) => create(service, token))
    assert.equal(await Promise.race(waiting), 429)
    await release()
    assert.deepEqual((await Promise.all(waiting)).sort(), [201, 201, 201, 429])
  })

  test('end as many streams of a token as were opened beyond its seats because Redis had forgotten the others', async (context) => {
    const token = await tenant.serviceToken()
    const open = ({ origin }: Service) => openEventStream(origin, '/changes', { token })
    const streams: EventStream[] = []
    for (const service of [one, other])
      for (let count = 0; count < mostFollowedByToken; count++) {
        streams.push(await open(service))
        // As after a restart: it knows of none.
        await redis.ask((client) => client.sendCommand(['FLUSHALL']))
      }
    context.after(() => {
      for (const stream of streams) stream.close()
    })
    assert.ok(streams.every(({ status }) => status === 200))
    const now = performance.now.bind(performance)
    let passed = 0
    context.mock.method(performance, 'now', () => now() + passed)
    const ended = new Set<EventStream>()
    const heard = new Set<EventStream>()
    for (const stream of streams)
      stream.response.once('end', () => ended.add(stream)).on('data', () => heard.add(stream))
    passed += commentMilliseconds
    await until('half of them have ended', () => ended.size === mostFollowedByToken)
    heard.clear()
    passed += commentMilliseconds
    await until('the others go on', () => heard.size === mostFollowedByToken)
    assert.equal(ended.size, mostFollowedByToken)
  })

  test('forget a client that disconnects while Redis is asked, also where the response is cached', async () => {
    const token = await tenant.serviceToken()
    assert.equal((await get(one, token)).status, 200)
    await redis.ask((client) => client.sendCommand(['CLIENT', 'PAUSE', '1000', 'ALL']))
    const calls = [1, 2, 3].map(async () => {
      // Before the service gives Redis up, which is in this process, too: of two timers the earlier one is told first.
      const signal = AbortSignal.timeout(20)
      await assert.rejects(one.call('GET', '/contacts', { token, signal }))
    })
    await Promise.all(calls)
    await until('no request is in flight', async () => (await leases()).members.length === 0)
  })

  test('heal from a node that was killed with requests in flight', async () => {
    const token = await tenant.serviceToken()
    const url = await freeAddress('localhost')
    const node = await startServing(['--no-work', '--port', new URL(url).port], {
      DATABASE_URL: one.connectionString,
      REDIS_URL: redis.url,
      MASTHEAD_SECRET: secret,
      MASTHEAD_DATA_DIR: dataDirectory,
      RATE_LIMIT_AT_ONCE: '3',
    })
    const release = await holdCreates()
    const body = JSON.stringify({ accountId: 'A' })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const lost = [1, 2, 3].map(() => fetch(`${node.announced.api}/contacts`, { method: 'POST', headers, body }))
    const outcomes = Promise.allSettled(lost)
    await until('three requests are in flight', async () => (await leases()).members.length === 3)
    await node.kill()
    await release()
    await outcomes
    assert.equal((await get(one, token)).status, 429)
    const { key, members } = await leases()
    const now = Date.now()
    for (const { value, score } of members) {
      assert.ok(score > now && score <= now + 30_000, `${score - now} ms`)
      await redis.ask((client) => client.zAdd(key, { value, score: score - 30_000 }))
    }
    assert.equal((await get(one, token)).status, 200)
  })

  test('do not count what ended while Redis hung', async () => {
    // A node that got no answer in time, in the test before or on a busy machine, counts alone until it has connected again.
    await until('Redis counts the requests of this node', async () => {
      const token = await tenant.serviceToken()
      const release = await holdCreates()
      const waiting = [1, 2, 3].map(() => create(one, token))
      const counted = until('they are counted', async () => (await leases()).members.length === 3, 1_000)
      const isCounted = await counted.then(
        () => true,
        () => false,
      )
      if (isCounted) {
        redis.pause()
        assert.equal((await get(one, token)).status, 200)
      }
      await release()
      assert.deepEqual(await Promise.all(waiting), [201, 201, 201])
      return isCounted
    })
    redis.resume()
    await until('Redis has heard of it', async () => (await leases()).members.length === 0)
  })

  test('leave nothing in Redis that names a token, a tenant or an address', async () => {
    const keys = await redis.ask((client) => client.keys('*'))
    assert.ok(keys.length > 0)
    for (const key of keys) assert.match(key, /^masthead:(probe|(window|running):[\w-]{22})$/)
    for (const key of keys) assert.ok((await redis.ask((client) => client.pTTL(key))) > 0, `${key} stays for ever`)
  })
})

describe('a service whose Redis', { skip: withoutRedis }, async () => {
  const redis = await startRedis(password)
  const service = await startService({ rateLimits: { ...generous, token: 3 }, counting: { redisUrl: redis.url } })
  const tenant = await service.newTenant()
  const environment = {
    DATABASE_URL: service.connectionString,
    REDIS_URL: redis.url,
    MASTHEAD_SECRET: secret,
    MASTHEAD_DATA_DIR: await temporaryDataDirectory(),
    RATE_LIMIT_TOKEN: '3',
  }

  const replicate = (...of: [string, string]) => redis.ask((client) => client.sendCommand(['REPLICAOF', ...of]))
  const connectionsSoFar = async () =>
    Number(/total_connections_received:(\d+)/.exec(await redis.ask((client) => client.info('stats')))?.[1])
  /** Until the services must have tried to come back, and we were the only others. */
  const whileTheyTry = async () => {
    const before = await connectionsSoFar()
    let looks = 0
    await until('they try to connect', async () => (await connectionsSoFar()) - before > ++looks + 3)
  }
  const faults = {
    'is gone': { harm: () => redis.kill(), meanwhile: async () => {}, mend: () => redis.start() },
    hangs: { harm: async () => redis.pause(), meanwhile: async () => {}, mend: async () => redis.resume() },
    'is a replica by now': {
      harm: () => replicate('127.0.0.1', '1'),
      meanwhile: whileTheyTry,
      mend: () => replicate('no', 'one'),
    },
  }

  for (const [what, { harm, meanwhile, mend }] of Object.entries(faults)) {
    test(`${what} goes on and counts alone, says so once, and counts with the others once it is back`, async () => {
      const node = await startServing(['--no-work', '--port', '0'], environment)
      const call = async (api: string, token: string) => {
        const start = performance.now()
        const response = await fetch(`${api}/contacts`, { headers: { authorization: `Bearer ${token}` } })
        await response.text()
        return { status: response.status, milliseconds: performance.now() - start }
      }
      const [here, there] = [`${service.origin}/customer-api/v1`, node.announced.api]
      const token = await tenant.serviceToken()
      assert.equal((await call(there, token)).status, 200)
      await harm()
      const statuses = []
      for (let number = 0; number < 4; number++) {
        const { status, milliseconds } = await call(there, token)
        statuses.push(status)
        assert.ok(milliseconds < 5_000, `it took ${milliseconds} ms`)
      }
      assert.deepEqual(statuses, [200, 200, 200, 429])
      await meanwhile()
      assert.equal((await call(there, token)).status, 429)
      await mend()
      await until('it counts with the others', () => /Redis answers again/.test(node.said.stderr))
      const fresh = await tenant.serviceToken()
      await until('the other one does too', async () => {
        // Each token has three; seen here is what was used there.
        const probe = await tenant.serviceToken()
        for (let number = 0; number < 3; number++) await call(there, probe)
        return (await call(here, probe)).status === 429
      })
      for (let number = 0; number < 3; number++) assert.equal((await call(here, fresh)).status, 200)
      assert.equal((await call(there, fresh)).status, 429)
      const { stderr } = await node.stop()
      assert.equal(stderr.match(/Redis does not answer/g)?.length, 1, stderr)
      assert.equal(stderr.match(/Redis answers again/g)?.length, 1, stderr)
      assert.doesNotMatch(stderr, new RegExp(password))
    })
  }

  test('was never there starts all the same, and tells nobody its password', async () => {
    const { port } = new URL(await freeAddress())
    const REDIS_URL = `redis://:${password}@127.0.0.1:${port}`
    const node = await startServing(['--no-work', '--port', '0'], { ...environment, REDIS_URL })
    const headers = { authorization: `Bearer ${await tenant.serviceToken()}` }
    assert.equal((await fetch(`${node.announced.api}/contacts`, { headers })).status, 200)
    const { code, stderr } = await node.stop()
    assert.deepEqual([code, stderr.match(/Redis does not answer/g)?.length], [0, 1])
    assert.doesNotMatch(stderr, new RegExp(password))
  })
})
