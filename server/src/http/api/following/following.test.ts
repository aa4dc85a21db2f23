import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { basePath, mostFollowedByToken } from '@masthead/contract'
import { until } from '../../../../test/processes/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../../../test/records/sample-records.ts'
import { openEventStream, refusalOf, take } from '../../../../test/requests/event-stream.ts'
import { assertProblem } from '../../../../test/requests/problem-response.ts'
import { baseUrl, callAt, generous, openPort, secret, startService, type TestTenant } from '../../../../test/service.ts'
import { buildApp } from '../../../app.ts'
import { operator } from '../../../audit/author.ts'
import type { TenantDatabase } from '../../../database/database.ts'
import { perTenant } from '../../../database/per-tenant.ts'
import { tenantQuery } from '../../../database/tenant-query.ts'
import { listMembers, removeMember } from '../../../identity/people/members.ts'
import { findTokens, revokeToken } from '../../../identity/tokens/access-tokens.ts'
import { callerLeft, type FinishedRequest } from '../../connections/watched-requests.ts'
import { Followers, mostOfTenant } from './followers.ts'

const atOnce = 12
const service = await startService({ rateLimits: { ...generous, atOnce } })
const { database, origin } = service

const newTenant = async () => {
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('A-1')])
  const { body } = await service.call('GET', '/changes', { token })
  return { tenant, token, after: `after=${body.cursor}`, cursor: String(body.cursor) }
}

const add = (tenant: TestTenant, ...names: string[]) =>
  tenant.add(
    'contacts',
    names.map((name) => sampleContact('A-1', { name })),
  )

const revokeAll = async (tenant: TestTenant): Promise<void> => {
  for (const { id } of await findTokens(database.query, tenant.id, null))
    await database.transaction((query) => revokeToken(query, operator, id))
}

const openStream = (token: string, query = '', headers = {}) =>
  openEventStream(origin, `/changes${query}`, { token, headers })

const nameIn = (data: string): string => JSON.parse(data).record.name

/** What a call gets while which this is done, most likely when it waits already. */
const waiting = async (path: string, token: string, act: () => Promise<unknown>) => {
  const answer = service.call('GET', path, { token })
  await service.call('GET', '/accounts', { token })
  await act()
  return answer
}

describe('a call that waits', () => {
  test('is answered as soon as something is written', async () => {
    const { tenant, token, after } = await newTenant()
    const { status, body } = await waiting(`/changes?${after}&wait=30`, token, () => add(tenant, 'Ada'))
    assert.deepEqual([status, body.items.length, body.items[0].record.name], [200, 1, 'Ada'])
  })

  test('is answered at once where something is there, and after its time where nothing comes', async () => {
    const { token, after, cursor } = await newTenant()
    assert.equal((await service.call('GET', '/changes?wait=30', { token })).body.items.length, 1)
    const { body } = await service.call('GET', `/changes?${after}&wait=1`, { token })
    assert.deepEqual(body, { items: [], cursor, hasMore: false })
  })

  test('waits on where something is written that it did not ask for', async () => {
    const { tenant, token, after } = await newTenant()
    const { body } = await waiting(`/changes?${after}&wait=30&resources=contacts`, token, async () => {
      await tenant.add('accounts', [sampleAccount('A-2')])
      await add(tenant, 'Ada')
    })
    assert.deepEqual(
      body.items.map(({ resource }: { resource: string }) => resource),
      ['contacts'],
    )
  })

  test('counts among those that wait, and not among those in flight', async () => {
    const { tenant, token, after } = await newTenant()
    const call = (path: string) => service.call('GET', path, { token })
    const calls = Array.from({ length: mostFollowedByToken + 1 }, () => call(`/changes?${after}&wait=30`))
    const refused = await Promise.race(calls)
    assertProblem(refused, 'too_many_requests')
    assert.equal(refused.body.detail, 'This token may have 10 waiting calls at once.')
    const others = await Promise.all(Array.from({ length: atOnce }, () => call('/accounts')))
    assert.ok(others.every(({ status }) => status === 200))
    await add(tenant, 'Ada')
    const answers = (await Promise.all(calls)).filter((answer) => answer !== refused)
    assert.ok(answers.every(({ body }) => body.items.length === 1))
  })

  test('ends with its token', async () => {
    const { tenant, token, after } = await newTenant()
    assertProblem(await waiting(`/changes?${after}&wait=30`, token, () => revokeAll(tenant)), 'invalid_token')
  })
})

describe('a stream', () => {
  test('brings what is there and what comes, each with the cursor after it', async () => {
    const { tenant, token } = await newTenant()
    const stream = await openStream(token)
    assert.equal(stream.status, 200)
    assert.equal(stream.headers['content-type'], 'text/event-stream; charset=utf-8')
    assert.equal(stream.headers['content-encoding'], undefined)
    const [account] = await take(stream, 1)
    assert.equal(account?.name, 'change')
    await add(tenant, 'Ada', 'Bob')
    const [ada] = await take(stream, 2)
    stream.close()
    const { body } = await service.call('GET', `/changes?after=${ada?.id}`, { token })
    assert.deepEqual(
      body.items.map(({ record }: { record: { name: string } }) => record.name),
      ['Bob'],
    )
    const resumed = await openStream(token, `?after=${account?.id}`, { 'last-event-id': ada?.id ?? '' })
    assert.deepEqual(
      (await take(resumed, 1)).map(({ data }) => nameIn(data)),
      ['Bob'],
    )
    resumed.close()
  })

  test('brings more than a page, in order', async () => {
    const { tenant, token, after } = await newTenant()
    const names = Array.from({ length: 250 }, (_, index) => `Contact ${index}`)
    await add(tenant, ...names)
    const stream = await openStream(token, `?${after}`)
    assert.deepEqual(
      (await take(stream, names.length)).map(({ data }) => nameIn(data)),
      names,
    )
    stream.close()
  })

  test('is refused like any call, before it begins', async () => {
    const { tenant, token } = await newTenant()
    const problemOf = async (query: string, bearer = token) =>
      JSON.parse(await refusalOf(await openStream(bearer, query))).code
    assert.equal(await problemOf('?after=x'), 'invalid_cursor')
    assert.equal(await problemOf('?resources=x'), 'invalid_parameter')
    assert.equal(await problemOf('', 'x'), 'invalid_token')
    assert.equal(await problemOf('', await tenant.serviceToken(['tasks:write'])), 'insufficient_scope')
  })

  test('is a stream only for who would rather have one', async () => {
    const { token } = await newTenant()
    for (const accept of ['*/*', 'application/json, text/event-stream;q=0.5', 'text/html'])
      assert.match((await openStream(token, '', { accept })).headers['content-type'] ?? '', /^application\/json/)
  })

  test('ends when its token is revoked, and when its member leaves', async () => {
    const { tenant, token } = await newTenant()
    const personal = await tenant.personalToken('viewer')
    const streams = [await openStream(token), await openStream(personal)]
    for (const stream of streams) await take(stream, 1)
    const ended = streams.map(({ events }) => events.next())
    await revokeAll(tenant)
    assert.equal((await ended[0])?.done, true)
    for (const { email } of await listMembers(database.query, tenant.id))
      await database.transaction((query) => removeMember(query, operator, tenant.id, email))
    assert.equal((await ended[1])?.done, true)
  })

  test('is one of ten of its token', async () => {
    const { tenant, token } = await newTenant()
    const streams = []
    for (let count = 0; count < mostFollowedByToken; count++) {
      const stream = await openStream(token)
      await take(stream, 1)
      streams.push(stream)
    }
    const one = await openStream(token)
    assert.equal(one.status, 429)
    assert.equal(JSON.parse(await refusalOf(one)).detail, 'This token may have 10 streams at once.')
    const other = await openStream(await tenant.serviceToken())
    assert.equal(other.status, 200)
    streams.pop()?.close()
    await until('another may take its seat', async () => {
      const stream = await openStream(token)
      if (stream.status === 200) streams.push(stream)
      return stream.status === 200
    })
    for (const stream of [...streams, other]) stream.close()
  })
})

/**
 * Another node on the same database, what became of its requests, and how often it read and asked for versions. The n-th read waits
 * for `before(n)`.
 */
const newNode = async (context: TestContext) => {
  const finished: FinishedRequest[] = []
  const node = { finished, reads: 0, looks: 0, before: async (_read: number): Promise<void> => {} }
  const counted = ({ read, ...door }: TenantDatabase): TenantDatabase => ({
    ...door,
    read: tenantQuery(door.tenantId, async (statement) => {
      await node.before(++node.reads)
      return read.withoutTenant(statement)
    }),
  })
  const app = await buildApp({
    database: {
      ...database,
      forTenant: perTenant((id) => counted(database.forTenant(id))),
      readVersions: (statement) => {
        node.looks++
        return database.readVersions(statement)
      },
    },
    baseUrl,
    delegation: { issuer: baseUrl, secret },
    rateLimits: generous,
    watchers: [{ arrived: () => {}, finished: (one) => finished.push(one) }],
  })
  context.after(() => app.close())
  return Object.assign(node, { app, url: await openPort(app) })
}

test('all that follow a tenant from the same cursor have it read once', async (context) => {
  const node = await newNode(context)
  const { tenant, after } = await newTenant()
  const tokens = [await tenant.serviceToken(), await tenant.serviceToken()]
  const streams = await Promise.all(
    tokens.flatMap((token) =>
      Array.from({ length: mostFollowedByToken }, () => openEventStream(node.url, `/changes?${after}`, { token })),
    ),
  )
  const before = node.reads
  await add(tenant, 'Ada')
  for (const stream of streams)
    assert.deepEqual(
      (await take(stream, 1)).map(({ data }) => nameIn(data)),
      ['Ada'],
    )
  assert.equal(node.reads - before, 1)
  for (const stream of streams) stream.close()
})

test('a tenant takes a quarter of the seats of a thread at most', async (context) => {
  const followers = new Followers(async () => ({ source: '', identity: '', records: '', lists: null }))
  context.after(() => followers.stop())
  const follower = () => ({ tenantId: 'a', look: () => {}, stop: () => {} })
  const first = follower()
  followers.add(first)
  for (let count = 1; count < mostOfTenant; count++) followers.add(follower())
  assert.deepEqual([followers.hasRoomFor('a'), followers.hasRoomFor('b')], [false, true])
  followers.remove(first)
  assert.equal(followers.hasRoomFor('a'), true)
})

test('a reader that leaves while its stream reads gives its seat back', async (context) => {
  const node = await newNode(context)
  const { token } = await newTenant()
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  for (let count = 1; count <= mostFollowedByToken; count++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    node.before = () => promise
    const leaving = new AbortController()
    const asked = fetch(`${node.url}${basePath}/changes`, { headers, signal: leaving.signal }).catch(() => null)
    await until('it reads', () => node.reads === count)
    leaving.abort()
    await asked
    await until('the node knows', () => node.finished.length === count)
    resolve()
  }
  await until('there is a seat', async () => {
    const stream = await openEventStream(node.url, '/changes', { token })
    stream.close()
    return stream.status === 200
  })
})

test('a stream that has much to bring ends with its token, too', async (context) => {
  const node = await newNode(context)
  const { tenant, token, after } = await newTenant()
  const count = 1_000
  await add(tenant, ...Array.from({ length: count }, (_, index) => `Contact ${index}`))
  const { promise, resolve } = Promise.withResolvers<void>()
  node.before = async (read) => (read === 1 ? undefined : promise)
  const stream = await openEventStream(node.url, `/changes?${after}`, { token })
  await take(stream, 1)
  await until('it reads the second page', () => node.reads === 2)
  await revokeAll(tenant)
  const looks = node.looks
  // The first may have been sent before, and what it found is checked when a later one begins.
  await until('the node has looked', () => node.looks > looks + 3)
  resolve()
  let brought = 1
  for await (const _event of stream.events) brought++
  assert.ok(brought < count, `${brought} of ${count} events were brought`)
})

test('changes of permissions elsewhere keep nobody from news', async (context) => {
  const node = await newNode(context)
  const { tenant, token, after } = await newTenant()
  const elsewhere = await service.newTenant()
  const waiting = callAt(node.url, 'GET', `/changes?${after}&wait=20`, { token })
  let isOver = false
  waiting.finally(() => {
    isOver = true
  })
  await until('it waits', () => node.reads === 1)
  const changing = (async () => {
    while (!isOver) await elsewhere.serviceToken()
  })()
  await add(tenant, 'Ada')
  assert.equal((await waiting).body.items.length, 1)
  await changing
})

test('a reader that takes nothing is dropped, and what it was sent is not kept for it', async (context) => {
  const node = await newNode(context)
  const { tenant, token, after } = await newTenant()
  const large = () => sampleContact('A-1', { notes: 'n'.repeat(10_000) })
  for (let count = 0; count < 20; count++) await tenant.add('contacts', Array.from({ length: 200 }, large))
  const { response } = await openEventStream(node.url, `/changes?${after}`, { token })
  response.pause()
  await until('it was dropped', () => node.finished.some(({ status }) => status === callerLeft))
  response.destroy()
  // What the systems on both sides hold for it was read, and no more.
  assert.ok(node.reads < 20, `${node.reads} of 40 pages were read`)
})

test('a stop answers who waits and ends streams, and neither looks like a slow request', async (context) => {
  const { app, url, finished } = await newNode(context)
  const { token, after, cursor } = await newTenant()
  const begun = performance.now()
  const answer = callAt(url, 'GET', `/changes?${after}&wait=30`, { token })
  const stream = await openEventStream(url, '/changes', { token })
  await take(stream, 1)
  const end = stream.events.next()
  await until('a second has passed', () => performance.now() - begun > 1_000)
  await app.close()
  assert.deepEqual((await answer).body, { items: [], cursor, hasMore: false })
  assert.equal((await end).done, true)
  assert.ok(performance.now() - begun < 7_000, 'the stop waited for them')
  assert.deepEqual(
    finished.map(({ status, milliseconds }) => [status, milliseconds < 900]),
    [
      [200, true],
      [200, true],
    ],
  )
})
