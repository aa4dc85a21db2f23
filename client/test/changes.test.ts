import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { operator } from '../../server/src/audit/author.ts'
import { findTokens, revokeToken } from '../../server/src/identity/tokens/access-tokens.ts'
import { eraseContact } from '../../server/src/resources/contacts/erasure.ts'
import { until } from '../../server/test/processes/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../server/test/records/sample-records.ts'
import { freeAddress, type Service, startService } from '../../server/test/service.ts'
import {
  type Change,
  type ComingRetry,
  type Contact,
  type FollowOptions,
  isProblem,
  type ListedName,
  Masthead,
  type MastheadOptions,
  type SentRequest,
  UnexpectedAnswerError,
} from '../src/index.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { startFlakyProxy } from './flaky-proxy.ts'

const service = await startService()

const newTenant = async (at: Service = service) => {
  const tenant = await at.newTenant()
  const token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('A1')])
  const masthead = new Masthead({ baseUrl: at.origin, token })
  const add = (...names: string[]) =>
    tenant.add(
      'contacts',
      names.map((name) => sampleContact('A1', { name })),
    )
  const client = (more: Partial<MastheadOptions> = {}) => new Masthead({ baseUrl: at.origin, token, ...more })
  return { tenant, token, masthead, add, client }
}

/** What somebody has got who follows contacts, as it comes. */
class Follower {
  readonly names: (string | null | undefined)[] = []
  readonly cursors: string[] = []
  readonly #stop = new AbortController()
  /** How it ended: undefined by the signal, else with an error. */
  readonly end: Promise<unknown>

  constructor(masthead: Masthead, options: FollowOptions<'contacts'> = {}) {
    this.end = this.#follow(masthead, options).catch((error: unknown) => error)
  }

  async #follow(masthead: Masthead, options: FollowOptions<'contacts'>): Promise<void> {
    const followed = { resources: ['contacts'] as const, signal: this.#stop.signal, ...options }
    for await (const { items, cursor } of masthead.changes.follow(followed)) {
      this.names.push(...items.map(({ record }) => record?.name))
      this.cursors.push(cursor)
    }
  }

  async has(count: number): Promise<void> {
    const failed = this.end.then((error) => {
      throw error ?? new Error('it has ended')
    })
    await Promise.race([failed, until(`${count} have come`, () => this.names.length >= count)])
  }

  stop(): Promise<unknown> {
    this.#stop.abort()
    return this.end
  }
}

const numbered = (count: number, name = 'Contact') => Array.from({ length: count }, (_, index) => `${name} ${index}`)

describe('a walk over changes', () => {
  test('brings everything up to now in batches, each with the cursor that covers it', async () => {
    const { masthead, add } = await newTenant()
    await add(...numbered(7))
    const batches = await Array.fromAsync(masthead.changes.walk({ limit: 3 }))
    assert.deepEqual(
      batches.map(({ items }) => items.length),
      [3, 3, 2],
    )
    const all = batches.flatMap(({ items }) => items)
    for (const [index, { cursor }] of batches.entries()) {
      const rest = await Array.fromAsync(masthead.changes.walk({ after: cursor }))
      assert.deepEqual(
        rest.flatMap(({ items }) => items),
        all.slice(3 * (index + 1)),
      )
    }
    const [account] = all
    assert.deepEqual([account?.resource, account?.change, account?.externalId], ['accounts', 'written', null])
  })

  test('brings what has changed since a cursor, of some lists, and nothing where nothing has', async () => {
    const { tenant, masthead, add } = await newTenant()
    const [ada, bob] = await add('Ada', 'Bob')
    let after: string | undefined
    for await (const { cursor } of masthead.changes.walk()) after = cursor
    assert.deepEqual(await Array.fromAsync(masthead.changes.walk({ after })), [])
    await tenant.add('accounts', [sampleAccount('A2')])
    await masthead.contacts.delete(String(bob?.id))
    await eraseContact(service.database.forTenant(tenant.id), operator, String(ada?.id))
    const items: Change<'contacts'>[] = []
    for await (const batch of masthead.changes.walk({ after, resources: ['contacts'] })) items.push(...batch.items)
    assert.deepEqual(
      items.map(({ id, change, record }) => [id, change, record?.name]),
      [
        [bob?.id, 'written', 'Bob'],
        [ada?.id, 'removed', undefined],
      ],
    )
  })

  test('types each record by its list', async () => {
    const { masthead, add } = await newTenant()
    await add('Ada')
    const contacts: Contact[] = []
    const companies: (string | null)[] = []
    for await (const { items } of masthead.changes.walk())
      for (const item of items) {
        if (item.resource === 'contacts' && item.change === 'written') contacts.push(item.record)
        if (item.resource === 'accounts') companies.push(item.record?.company ?? null)
      }
    assert.deepEqual([contacts.length, companies.length], [1, 1])
  })

  test('is refused a cursor that was changed, and a list that the token may not read', async () => {
    const { tenant, masthead, client } = await newTenant()
    await assert.rejects(Array.fromAsync(masthead.changes.walk({ after: 'x' })), (error) =>
      isProblem(error, 'invalid_cursor'),
    )
    const reader = client({ token: await tenant.serviceToken(['contacts:read']) })
    const walk = (resources: ListedName[]) => Array.fromAsync(reader.changes.walk({ resources }))
    await assert.rejects(walk(['contacts', 'accounts']), (error) => isProblem(error, 'insufficient_scope'))
    assert.deepEqual(await walk(['contacts']), [])
  })
})

describe('a walk over a list', () => {
  test('ends with the cursor from which its changes go on', async () => {
    const { masthead, add } = await newTenant()
    await add(...numbered(5))
    const list = masthead.contacts.list({ pageSize: 2 })
    const walked: (string | null)[] = []
    for await (const { name } of list) {
      // What is written meanwhile is in the changes, whether the walk meets it or not.
      if (walked.length === 0) await add('Meanwhile')
      assert.equal(list.changesCursor, null)
      walked.push(name)
    }
    assert.deepEqual(walked, [...numbered(5), 'Meanwhile'])
    await add('Later')
    const follower = new Follower(masthead, { after: list.changesCursor })
    await follower.has(2)
    await follower.stop()
    assert.deepEqual(follower.names, ['Meanwhile', 'Later'])
  })

  test('has it on its last page alone', async () => {
    const { masthead, add } = await newTenant()
    await add('Ada', 'Bob')
    const first = await masthead.contacts.list({ pageSize: 1 })
    const last = await first.next()
    assert.equal(first.changesCursor, null)
    const { changesCursor = null } = last ?? {}
    assert.notEqual(changesCursor, null)
    const resources = ['contacts'] as const
    assert.deepEqual(await Array.fromAsync(masthead.changes.walk({ after: changesCursor, resources })), [])
  })
})

describe('who follows changes', () => {
  test('gets what is there and what comes, until the signal ends the loop', async () => {
    const { masthead, add } = await newTenant()
    await add('Ada')
    const follower = new Follower(masthead)
    await follower.has(1)
    await add('Bob', 'Cyd')
    await follower.has(3)
    assert.equal(await follower.stop(), undefined)
    assert.deepEqual(follower.names, ['Ada', 'Bob', 'Cyd'])
    const again = new Follower(masthead, { after: follower.cursors[0] })
    await again.has(2)
    assert.equal(await again.stop(), undefined)
    assert.deepEqual(again.names, ['Bob', 'Cyd'])
  })

  test('gets nothing, and sends nothing, by a signal that was aborted before', async () => {
    const sent: SentRequest[] = []
    const { client } = await newTenant()
    const watched = client({ hooks: { request: (request) => sent.push(request) } })
    assert.deepEqual(await Array.fromAsync(watched.changes.follow({ signal: AbortSignal.abort() })), [])
    assert.deepEqual(sent, [])
  })

  test('misses nothing and gets nothing twice over connections that break in the middle', async () => {
    const proxy = await startCuttingProxy(service.origin)
    const { client, add } = await newTenant()
    const names = numbered(60)
    await add(...names.slice(0, 30))
    proxy.mishap = { afterBytes: 5_000, is: 'cut' }
    const retries: ComingRetry[] = []
    const follower = new Follower(client({ baseUrl: proxy.origin, hooks: { retry: (retry) => retries.push(retry) } }))
    for (const name of names.slice(30)) await add(name)
    await follower.has(names.length)
    assert.equal(await follower.stop(), undefined)
    assert.deepEqual(follower.names, names)
    assert.ok(retries.length > 5, `${retries.length} connections broke`)
    assert.ok(
      retries.every(({ operation, pauseMilliseconds }) => operation === 'ListChanges' && pauseMilliseconds < 8_000),
    )
  })

  test('leaves a connection that has gone silent', async () => {
    const proxy = await startCuttingProxy(service.origin)
    const { client, add } = await newTenant()
    await add(...numbered(20))
    proxy.mishap = { afterBytes: 6_000, is: 'silence' }
    const follower = new Follower(client({ baseUrl: proxy.origin }), { timeoutMilliseconds: 1_500 })
    await follower.has(1)
    proxy.mishap = null
    await follower.has(20)
    await follower.stop()
    assert.deepEqual(follower.names, numbered(20))
    assert.ok(proxy.connections() >= 2)
  })

  test('closes its connection when the loop is left', async () => {
    const proxy = await startCuttingProxy(service.origin)
    const { client, add } = await newTenant()
    await add('Ada')
    for await (const { items } of client({ baseUrl: proxy.origin }).changes.follow()) {
      assert.equal(items.length, 2)
      break
    }
    await until('the connection is closed', () => proxy.open() === 0)
  })

  test('may take long over a batch', async () => {
    const { client, add } = await newTenant()
    await add('Ada')
    const stop = new AbortController()
    const names: (string | null | undefined)[] = []
    const options = { resources: ['contacts'] as const, signal: stop.signal, timeoutMilliseconds: 5_000 }
    const begun = performance.now()
    let requests = 0
    const masthead = client({ hooks: { request: () => requests++ } })
    for await (const { items } of masthead.changes.follow(options)) {
      names.push(...items.map(({ record }) => record?.name))
      if (names.length > 1) stop.abort()
      await add('Bob')
      await until('it took longer than the stream may be silent', () => performance.now() - begun > 5_500)
    }
    assert.deepEqual([names, requests], [['Ada', 'Bob'], 1])
  })

  test('goes on when the service is stopped and started again', async () => {
    const baseUrl = await freeAddress()
    const before = await startService({ baseUrl })
    const { client, add } = await newTenant(before)
    await add('Before')
    const follower = new Follower(client())
    await follower.has(1)
    await before.app.close()
    await add('Between')
    await startService({ baseUrl, connectionString: before.connectionString })
    await add('Later')
    await follower.has(3)
    assert.equal(await follower.stop(), undefined)
    assert.deepEqual(follower.names, ['Before', 'Between', 'Later'])
  })

  test('is told when the token is revoked, lacks a scope, or the cursor is refused', async () => {
    const { tenant, masthead, add, client } = await newTenant()
    await add('Ada')
    const follower = new Follower(masthead)
    await follower.has(1)
    const writer = client({ token: await tenant.serviceToken(['tasks:write']) })
    assert.ok(isProblem(await new Follower(writer).end, 'insufficient_scope'))
    assert.ok(isProblem(await new Follower(masthead, { after: 'x' }).end, 'invalid_cursor'))
    for (const { id } of await findTokens(service.database.query, tenant.id, null))
      await service.database.transaction((query) => revokeToken(query, operator, id))
    assert.ok(isProblem(await follower.end, 'invalid_token'))
    assert.deepEqual(follower.names, ['Ada'])
  })

  test('goes on with another token where the source has one', async () => {
    const { tenant, token, client, add } = await newTenant()
    const [{ id } = { id: '' }] = await findTokens(service.database.query, tenant.id, null)
    const second = await tenant.serviceToken()
    const asked: (string | undefined)[] = []
    const renewing = (refused?: string) => {
      asked.push(refused)
      return refused === undefined && asked.length < 4 ? token : second
    }
    const follower = new Follower(client({ token: renewing }))
    await add('Ada')
    await follower.has(1)
    await service.database.transaction((query) => revokeToken(query, operator, id))
    await add('Bob')
    await follower.has(2)
    assert.equal(await follower.stop(), undefined)
    assert.deepEqual(asked, [undefined, undefined, token])
  })

  test('waits as long as Retry-After says, and takes no other answer for a stream', async () => {
    const proxy = await startFlakyProxy(service.origin)
    const { client, add } = await newTenant()
    await add('Ada')
    const pauses: number[] = []
    const behind = client({
      baseUrl: proxy.origin,
      hooks: { retry: ({ pauseMilliseconds }) => pauses.push(pauseMilliseconds) },
    })
    proxy.mishaps.push(
      { status: 503, headers: { 'retry-after': '1' } },
      { status: 429, headers: { 'retry-after': '0' } },
    )
    proxy.mishaps.push('reset before')
    const follower = new Follower(behind)
    await follower.has(1)
    await follower.stop()
    assert.equal(pauses.length, 3)
    const [first, second] = proxy.seen
    // A timer may be a millisecond early.
    assert.ok((pauses[0] ?? 0) >= 1_000 && first && second && second.at - first.at >= 990)
    const json = { 'content-type': 'application/json' }
    proxy.mishaps.push({ status: 200, headers: json, body: '{"items":[],"cursor":"x","hasMore":false}' })
    assert.ok((await new Follower(behind).end) instanceof UnexpectedAnswerError)
  })
})
