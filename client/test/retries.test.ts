import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sampleAccount, sampleContact } from '../../server/test/records/sample-records.ts'
import { generous, startService } from '../../server/test/service.ts'
import { type ComingRetry, ConnectionError, isProblem, Masthead, type MastheadOptions } from '../src/index.ts'
import { type Mishap, startFlakyProxy } from './flaky-proxy.ts'

const service = await startService()
const proxy = await startFlakyProxy(service.origin)
const tenant = await service.newTenant()
await tenant.add('accounts', [sampleAccount('A1')])
const token = await tenant.serviceToken()

const retries: ComingRetry[] = []
const client = (more: Partial<MastheadOptions> = {}) =>
  new Masthead({ baseUrl: proxy.origin, token, hooks: { retry: (retry) => retries.push(retry) }, ...more })
const masthead = client()

/** What came to the proxy while these mishaps happened one after the other, and how it ended. */
const meet = async <T>(mishaps: Mishap[], work: () => PromiseLike<T>) => {
  proxy.mishaps.splice(0, Number.POSITIVE_INFINITY, ...mishaps)
  proxy.seen.length = 0
  retries.length = 0
  const outcome = await work().then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  )
  assert.deepEqual(proxy.mishaps, [], 'not every mishap was met')
  return { ...outcome, seen: [...proxy.seen] }
}

const unavailable: Mishap = { status: 503, headers: { 'retry-after': '0' } }
const contactsNamed = async (name: string) =>
  (await new Masthead({ baseUrl: service.origin, token }).contacts.list({ search: name })).total

describe('a read', () => {
  test('is repeated after 429, 503, a gateway that fails and a broken connection', async () => {
    for (const mishap of [unavailable, { ...unavailable, status: 429 }, { status: 502 }, 'reset before'] as const) {
      const { result, seen } = await meet([mishap], () => masthead.contacts.list())
      assert.ok(result)
      assert.equal(seen.length, 2)
    }
  })

  test('is repeated three times, with pauses that may grow and differ, then fails as it last did', async () => {
    const { error, seen } = await meet(Array(4).fill(unavailable), () => masthead.contacts.list())
    assert.ok(error instanceof Error && 'status' in error && error.status === 503)
    assert.equal(seen.length, 4)
    const pauses = retries.map(({ pauseMilliseconds }) => pauseMilliseconds)
    assert.equal(new Set(pauses).size, 3)
    for (const [index, longest] of [500, 1_000, 2_000].entries()) assert.ok((pauses[index] ?? longest) < longest)
    const once = client({ retries: 0 })
    assert.equal((await meet([unavailable], () => once.contacts.list())).seen.length, 1)
  })

  test('is not repeated when the service says no for good', async () => {
    const { error, seen } = await meet([], () => masthead.contacts.get('nobody'))
    assert.ok(isProblem(error, 'not_found'))
    assert.equal(seen.length, 1)
    const failed: Mishap = { status: 500 }
    assert.equal((await meet([failed], () => masthead.contacts.list())).seen.length, 1)
  })

  test('waits as long as Retry-After says, in seconds or until a date', async () => {
    const inSeconds = () => '1'
    const untilDate = () => new Date(Date.now() + 2_000).toUTCString()
    for (const retryAfter of [inSeconds, untilDate]) {
      const mishap = { status: 503, headers: { 'retry-after': retryAfter() } }
      const { seen } = await meet([mishap], () => masthead.contacts.list())
      const [first, second] = seen
      // A timer may be a millisecond early; a date has no parts of a second.
      assert.ok(first && second && second.at - first.at >= 990, 'it came too early')
    }
  })

  test('of page after page goes on where it was', async () => {
    const { accountId } = await masthead.accounts.create({ company: 'Walks' })
    const contacts = Array.from({ length: 7 }, (_, n) => sampleContact(accountId, { name: `Contact ${n}` }))
    const ids = (await tenant.add('contacts', contacts)).map(({ id }) => id)
    const mishaps: Mishap[] = ['none', 'reset after', 'none', unavailable, 'none', 'reset before']
    const { result } = await meet(mishaps, () => Array.fromAsync(masthead.contacts.list({ accountId, pageSize: 2 })))
    assert.deepEqual(
      result?.map(({ id }) => id),
      ids,
    )
  })

  test('does not begin a pause that would outlast its time', async () => {
    const begun = performance.now()
    const mishap = { status: 429, headers: { 'retry-after': '30' } }
    const { error, seen } = await meet([mishap], () => masthead.contacts.list({}, { timeoutMilliseconds: 20_000 }))
    assert.ok(error instanceof Error && 'retryAfterMilliseconds' in error)
    assert.equal(error.retryAfterMilliseconds, 30_000)
    assert.deepEqual([seen.length, performance.now() - begun < 15_000], [1, true])
  })

  test('obeys the limits of a real service', async () => {
    const strict = await startService({ rateLimits: { ...generous, atOnce: 1 } })
    const refusals: unknown[] = []
    // Whichever comes first waits for the table until the other was refused.
    await strict.owner.query('begin; lock table contacts in access exclusive mode')
    const retry = async ({ error, pauseMilliseconds }: ComingRetry) => {
      refusals.push(error)
      assert.ok(isProblem(error, 'too_many_requests'))
      assert.ok(pauseMilliseconds >= (error.retryAfterMilliseconds ?? Number.NaN))
      await strict.owner.query('rollback')
    }
    const token = await (await strict.newTenant()).serviceToken()
    const limited = client({ baseUrl: strict.origin, token, hooks: { retry } })
    const pages = await Promise.all([limited.contacts.list(), limited.contacts.list()])
    assert.deepEqual(
      pages.map(({ total }) => total),
      [0, 0],
    )
    assert.equal(refusals.length, 1)
  })
})

describe('a POST', () => {
  test('is done once when the connection breaks after it was done', async () => {
    const { result, seen } = await meet(['reset after'], () =>
      masthead.contacts.create({ accountId: 'A1', name: 'Onlyonce' }),
    )
    assert.equal(result?.name, 'Onlyonce')
    assert.deepEqual(
      seen.map(({ status }) => status),
      [201, 201],
    )
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    assert.ok(keys[0] && keys[0] === keys[1])
    assert.equal(await contactsNamed('Onlyonce'), 1)
  })

  test('has a key of its own each time, or the one that is given', async () => {
    const contact = { accountId: 'A1', name: 'Keyed' }
    const idempotencyKey = 'order 7'
    const { seen } = await meet([], async () => {
      for (const options of [{}, {}, { idempotencyKey }, { idempotencyKey }])
        await masthead.contacts.create(contact, options)
    })
    const keys = seen.map(({ headers }) => String(headers['idempotency-key']))
    assert.equal(new Set(keys).size, 3)
    assert.deepEqual(keys.slice(2), [idempotencyKey, idempotencyKey])
    assert.equal(await contactsNamed('Keyed'), 3)
  })

  test('waits for the same request that is still running', async () => {
    const problem = {
      type: 'about:blank',
      title: '',
      status: 409,
      detail: '',
      code: 'request_in_progress',
      requestId: '1',
    }
    const running = {
      status: 409,
      headers: { 'content-type': 'application/problem+json' },
      body: JSON.stringify(problem),
    }
    const { result } = await meet(['reset after', running], () =>
      masthead.contacts.create({ accountId: 'A1', name: 'Ran' }),
    )
    assert.equal(result?.name, 'Ran')
    assert.equal(await contactsNamed('Ran'), 1)
  })
})

describe('an update or deletion', () => {
  test('is repeated: done twice, it does the same', async () => {
    const { id } = await masthead.contacts.create({ accountId: 'A1', name: 'Ada' })
    const updated = await meet(['reset after'], () => masthead.contacts.update(id, { accountId: 'A1', name: 'Grace' }))
    assert.deepEqual([updated.result?.name, updated.seen.length], ['Grace', 2])
    const deleted = await meet(['reset after'], () => masthead.contacts.delete(id))
    assert.ok(deleted.result?.deletedAt)
    assert.equal(deleted.seen.length, 2)
  })

  test('with ifMatch is repeated only when it was certainly not done', async () => {
    const contact = await masthead.contacts.create({ accountId: 'A1', name: 'Ada' })
    const update = () => masthead.contacts.update(contact.id, { accountId: 'A1', name: 'G' }, { ifMatch: contact })
    const limited = { ...unavailable, status: 429 }
    const lost = await meet([limited, 'reset after'], update)
    assert.ok(lost.error instanceof ConnectionError)
    assert.equal(lost.seen.length, 2)
    // A third would have been refused, as if somebody else had changed it.
    assert.ok(isProblem((await meet([], update)).error, 'precondition_failed'))
  })
})
