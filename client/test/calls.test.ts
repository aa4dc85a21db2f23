import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { sampleAccount, sampleContact } from '../../server/test/records/sample-records.ts'
import { startService } from '../../server/test/service.ts'
import {
  ConnectionError,
  type Contact,
  etagOf,
  isProblem,
  Masthead,
  type MastheadOptions,
  ProblemError,
  type ReceivedAnswer,
  type SentRequest,
  TimeoutError,
  UnexpectedAnswerError,
} from '../src/index.ts'
import { startFlakyProxy } from './flaky-proxy.ts'

const service = await startService()
const proxy = await startFlakyProxy(service.origin)
const tenant = await service.newTenant()
await tenant.add('accounts', [sampleAccount('A1'), sampleAccount('A2')])
const token = await tenant.serviceToken()

const client = (more: Partial<MastheadOptions> = {}) => new Masthead({ baseUrl: service.origin, token, ...more })
const masthead = client()

/** The error with which it fails, which it must. */
const failure = async (work: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

describe('a resource', () => {
  test('creates, gets, updates, deletes and restores', async () => {
    const created = await masthead.contacts.create({ accountId: 'A1', firstName: 'Ada', phone: '1' })
    assert.equal(created.name, 'Ada')
    const updated = await masthead.contacts.update(created.id, { accountId: 'A1', phone: null, title: undefined })
    assert.deepEqual([updated.phone, updated.firstName], [null, 'Ada'])
    assert.deepEqual(await masthead.contacts.get(created.id), updated)
    const deleted = await masthead.contacts.delete(created.id)
    assert.ok(deleted.deletedAt)
    assert.equal((await masthead.contacts.restore(created.id)).deletedAt, null)
    const account = await masthead.accounts.create({ company: 'Acme' })
    assert.equal((await masthead.accounts.get(account.accountId)).company, 'Acme')
    const task = await masthead.tasks.create({ accountId: account.accountId, title: 'Call', dueDate: '2026-12-01' })
    assert.equal(task.route, 'native')
  })

  test('is reached behind a path and with a slash at the end of the address', async () => {
    const sent: SentRequest[] = []
    const behind = client({ baseUrl: `${service.origin}/api/`, hooks: { request: (request) => sent.push(request) } })
    assert.ok(isProblem(await failure(behind.contacts.get('x')), 'not_found'))
    assert.equal(sent[0]?.url, `${service.origin}/api/customer-api/v1/contacts/x`)
  })

  test('is asked for nothing else by a strange identifier', async () => {
    for (const id of ['', '.', '..']) assert.ok((await failure(masthead.contacts.get(id))) instanceof TypeError)
    assert.ok(isProblem(await failure(masthead.contacts.get('../accounts/A1')), 'not_found'))
    assert.ok(isProblem(await failure(masthead.contacts.get('a?b#c')), 'not_found'))
  })
})

describe('a list', () => {
  test('gives its first page when it is awaited, and the next ones until there is none', async () => {
    const { accountId } = await masthead.accounts.create({ company: 'Pages' })
    await tenant.add(
      'contacts',
      Array.from({ length: 5 }, (_, n) => sampleContact(accountId, { name: `Contact ${n}` })),
    )
    const first = await masthead.contacts.list({ accountId, pageSize: 2 })
    assert.deepEqual([first.items.length, first.page, first.pageSize, first.total], [2, 1, 2, 5])
    const second = await first.next()
    const third = await second?.next()
    assert.deepEqual([second?.page, third?.page, third?.items.length], [2, 3, 1])
    assert.deepEqual([await third?.next(), third?.nextCursor], [null, null])
    const resumed = await masthead.contacts.list({ accountId, pageSize: 2, cursor: first.nextCursor ?? '' })
    assert.deepEqual(resumed.items, second?.items)
    const fromSecond = await Array.fromAsync(masthead.contacts.list({ accountId, pageSize: 2, page: 2 }))
    assert.deepEqual(fromSecond, [...(second?.items ?? []), ...(third?.items ?? [])])
  })

  test('can be caught and ended like any promise', async () => {
    const ended: string[] = []
    const page = await masthead.accounts.list({ pageSize: 1 }).finally(() => ended.push('first'))
    assert.equal(page.items.length, 1)
    const caught = await masthead.accounts.list({ pageSize: 0 }).catch((error: unknown) => error)
    assert.ok(isProblem(caught, 'invalid_parameter'))
    const refused = masthead.accounts.list({ pageSize: 0 }).finally(() => ended.push('second'))
    assert.ok(isProblem(await failure(refused), 'invalid_parameter'))
    assert.deepEqual(ended, ['first', 'second'])
  })

  test('is walked over without a record missed or repeated while others are added and deleted', async () => {
    const { accountId } = await masthead.accounts.create({ company: 'Walks' })
    const early = await tenant.add(
      'contacts',
      Array.from({ length: 60 }, (_, n) => sampleContact(accountId, { name: `Early ${n}` })),
    )
    const ids = early.map(({ id }) => String(id))
    const deleted = new Set<string>()
    const walked: string[] = []
    for await (const { id } of masthead.contacts.list({ accountId, pageSize: 7 })) {
      walked.push(id)
      if (walked.length % 5 !== 0) continue
      // One that was walked over already, one that is yet to come, and a new one at the end.
      const coming = ids.findLast((one) => !walked.includes(one) && !deleted.has(one))
      for (const gone of [ids[walked.length - 5] ?? '', coming ?? '']) {
        if (gone === '' || deleted.has(gone)) continue
        await masthead.contacts.delete(gone)
        if (!walked.includes(gone)) deleted.add(gone)
      }
      if (walked.length < 40) await masthead.contacts.create({ accountId, name: 'Late' })
    }
    assert.equal(new Set(walked).size, walked.length, 'some came twice')
    const stayed = ids.filter((id) => !deleted.has(id))
    assert.deepEqual(
      stayed.filter((id) => !walked.includes(id)),
      [],
    )
    assert.ok(deleted.size > 5 && walked.length > stayed.length, 'nothing was written meanwhile')
  })

  test('sends its filters, and none that is undefined', async () => {
    const { accountId } = await masthead.accounts.create({ company: 'Filters' })
    await tenant.add('contacts', [sampleContact(accountId), sampleContact(accountId, { hideContact: true })])
    const count = async (query: { includeHidden?: boolean | undefined }) =>
      (await masthead.contacts.list({ accountId, ...query })).total
    assert.deepEqual([await count({ includeHidden: undefined }), await count({ includeHidden: true })], [1, 2])
  })

  test('sends the token nowhere but to its own address, whatever `next` names', async () => {
    const named: string[] = []
    const watched = client({ hooks: { request: ({ url }) => named.push(new URL(url).origin) } })
    assert.ok((await Array.fromAsync(watched.contacts.list({ pageSize: 50 }))).length > 50)
    // The service of the tests calls itself otherwise, in every link.
    assert.deepEqual([...new Set(named)], [service.origin])
  })
})

describe('an error', () => {
  test('of the service carries code, places and request id', async () => {
    // @ts-expect-error: a field that does not exist, as JavaScript would let through
    const error = await failure(masthead.contacts.create({ accountId: 'nobody', fistName: 'Ada' }))
    assert.ok(isProblem(error, 'invalid_body', 'not_found'))
    assert.ok(error instanceof ProblemError && error instanceof Error)
    const code: 'invalid_body' | 'not_found' = error.code
    assert.deepEqual([code, error.status, error.name], ['invalid_body', 422, 'ProblemError'])
    assert.equal(error.errors[0]?.pointer, '/fistName')
    assert.match(error.requestId, /^[\w.-]+$/)
    assert.ok(error.message.includes(error.requestId) && error.message.includes(error.detail))
    assert.equal(isProblem(error, 'not_found'), false)
    assert.equal(isProblem(new Error('no'), 'not_found'), false)
  })

  test('tells a refused token, scope and record apart', async () => {
    const reader = client({ token: await tenant.serviceToken(['contacts:read']) })
    const codeOf = async (work: PromiseLike<unknown>) => {
      const error = await failure(work)
      return isProblem(error) ? error.code : error
    }
    assert.equal(await codeOf(client({ token: 'mh_svc_wrong' }).contacts.list()), 'invalid_token')
    assert.equal(await codeOf(reader.accounts.list()), 'insufficient_scope')
    assert.equal(await codeOf(reader.contacts.get('nobody')), 'not_found')
    assert.equal(await codeOf(reader.contacts.list({ pageSize: 1_000 })), 'invalid_parameter')
    const { id } = await masthead.contacts.create({ accountId: 'A1', name: 'Ada' })
    await masthead.contacts.delete(id)
    assert.equal(await codeOf(masthead.contacts.update(id, { accountId: 'A1', name: 'B' })), 'contact_deleted')
  })

  test('says when something else than Masthead answers, or nobody', async () => {
    const behind = client({ baseUrl: proxy.origin, retries: 0 })
    proxy.mishaps.push({ status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Welcome' })
    const strange = await failure(behind.contacts.list({ search: 'Lovelace' }))
    assert.ok(strange instanceof UnexpectedAnswerError && strange.status === 200)
    assert.match(strange.message, /baseUrl/)
    proxy.mishaps.push('reset before')
    const broken = await failure(behind.contacts.list({ search: 'Lovelace' }))
    assert.ok(broken instanceof ConnectionError && broken.cause instanceof Error)
    assert.match(broken.message, /ECONNRESET|socket|closed/)
    for (const { message } of [strange, broken]) assert.ok(!message.includes('Lovelace'))
  })

  test('of a missing or broken token does not show it', async () => {
    for (const wrong of ['', 'mh_svc_secret\nHost: x', 'mh svc secret']) {
      const error = await failure(client({ token: wrong }).contacts.list())
      assert.ok(error instanceof TypeError)
      assert.doesNotMatch(error.message, /secret/)
    }
    // @ts-expect-error: an environment variable that is not set, as JavaScript would let through
    assert.ok((await failure(client({ token: undefined }).contacts.list())) instanceof TypeError)
  })
})

describe('an entity tag', () => {
  const statuses: number[] = []
  const watched = client({ hooks: { answer: ({ status }: ReceivedAnswer) => statuses.push(status) } })
  const statusesOf = async (work: () => Promise<unknown>): Promise<number[]> => {
    statuses.length = 0
    await work()
    return [...statuses]
  }

  test('brings what was kept when nothing has changed, and what is new when it has', async () => {
    const { id } = await masthead.contacts.create({ accountId: 'A2', name: 'Ada' })
    const seen: Contact[] = []
    const get = async () => seen.push(await watched.contacts.get(id))
    assert.deepEqual(await statusesOf(get), [200])
    for (let again = 0; again < 2; again++) {
      // What a caller does with an answer is nothing to the next.
      for (const contact of seen) contact.name = 'changed by the caller'
      assert.deepEqual(await statusesOf(get), [304])
      assert.equal(seen.at(-1)?.name, 'Ada')
    }
    await masthead.contacts.update(id, { accountId: 'A2', name: 'Grace' })
    assert.deepEqual(await statusesOf(get), [200])
    assert.equal(seen.at(-1)?.name, 'Grace')
  })

  test('asks whether something has changed in a way that may be answered from memory', async () => {
    const { id } = await masthead.contacts.create({ accountId: 'A2', name: 'Ada' })
    const seen: unknown[] = []
    const note = ({ headers }: IncomingMessage) => seen.push([headers['if-none-match'], headers['cache-control']])
    service.app.server.on('request', note)
    const contact = await watched.contacts.get(id)
    await watched.contacts.get(id)
    service.app.server.off('request', note)
    assert.deepEqual(seen, [
      [undefined, undefined],
      [etagOf(contact), 'max-age=0'],
    ])
  })

  test('brings kept pages too, of which the walk goes on', async () => {
    const walk = async () =>
      assert.equal((await Array.fromAsync(watched.contacts.list({ pageSize: 40 }))).length, count)
    const { total: count } = await masthead.contacts.list()
    const first = await statusesOf(walk)
    assert.ok(first.length > 1)
    assert.deepEqual(
      await statusesOf(walk),
      first.map(() => 304),
    )
  })

  test('belongs to one token', async () => {
    const { id } = await masthead.contacts.create({ accountId: 'A2', name: 'Ada' })
    const tokens = [token, token, await tenant.serviceToken(), token]
    const changing = client({
      token: () => tokens.shift() ?? '',
      hooks: { answer: ({ status }) => statuses.push(status) },
    })
    const getAll = async () => {
      for (let n = 0; n < 4; n++) await changing.contacts.get(id)
    }
    assert.deepEqual(await statusesOf(getAll), [200, 304, 200, 304])
  })

  test('is kept within bounds: what was used longest ago goes first', async () => {
    const ids: string[] = []
    const large = { accountId: 'A2', notes: 'x'.repeat(5_000) }
    for (let n = 0; n < 3; n++) ids.push((await masthead.contacts.create(large)).id)
    const [a = '', b = '', c = ''] = ids
    // Room for two.
    const small = client({ cacheBytes: 30_000, hooks: { answer: ({ status }) => statuses.push(status) } })
    const getAll = async () => {
      for (const id of [a, b, a, c, a, b]) await small.contacts.get(id)
    }
    assert.deepEqual(await statusesOf(getAll), [200, 200, 304, 200, 304, 200])
    const none = client({ cacheBytes: 0, hooks: { answer: ({ status }) => statuses.push(status) } })
    assert.deepEqual(
      await statusesOf(async () => {
        for (const id of [a, a]) await none.contacts.get(id)
      }),
      [200, 200],
    )
  })

  test('lets a write through only while the record is as it came', async () => {
    const { id } = await masthead.contacts.create({ accountId: 'A2', name: 'Ada' })
    const mine = await masthead.contacts.get(id)
    const theirs = await masthead.contacts.update(id, { accountId: 'A2', name: 'Grace' }, { ifMatch: mine })
    const late = await failure(masthead.contacts.update(id, { accountId: 'A2', name: 'Ada' }, { ifMatch: mine }))
    assert.ok(isProblem(late, 'precondition_failed'))
    assert.ok(isProblem(await failure(masthead.contacts.delete(id, { ifMatch: mine })), 'precondition_failed'))
    const deleted = await masthead.contacts.delete(id, { ifMatch: etagOf(theirs) })
    assert.equal((await masthead.contacts.restore(id, { ifMatch: deleted })).name, 'Grace')
  })

  test('is not guessed for a record of a list', async () => {
    const { items } = await masthead.contacts.list({ pageSize: 1 })
    const [listed] = items
    assert.ok(listed)
    const error = await failure(masthead.contacts.delete(listed.id, { ifMatch: listed }))
    assert.ok(error instanceof TypeError && /get/.test(error.message))
  })
})

describe('a call', () => {
  const behind = client({ baseUrl: proxy.origin })

  test('ends by the signal of its caller, with its reason', async () => {
    const reason = new Error('the user left')
    const controller = new AbortController()
    proxy.mishaps.push('silence')
    const work = behind.contacts.list({}, { signal: controller.signal })
    const ended = failure(work)
    const before = proxy.seen.length
    while (proxy.seen.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort(reason)
    assert.equal(await ended, reason)
    // One that is aborted already sends nothing.
    assert.equal(await failure(behind.contacts.get('x', { signal: controller.signal })), reason)
    assert.equal(proxy.seen.length, before + 1)
  })

  test('is not repeated once its caller has left', async () => {
    const controller = new AbortController()
    const leaving = client({ baseUrl: proxy.origin, hooks: { retry: () => controller.abort() } })
    proxy.mishaps.push({ status: 503, headers: { 'retry-after': '1' } })
    const before = proxy.seen.length
    const error = await failure(leaving.contacts.list({}, { signal: controller.signal }))
    assert.ok(error instanceof DOMException && error.name === 'AbortError')
    assert.equal(proxy.seen.length, before + 1)
  })

  test('ends when its time is over', async () => {
    proxy.mishaps.push('silence', 'silence')
    const begun = performance.now()
    const byCall = await failure(behind.contacts.get('x', { timeoutMilliseconds: 100 }))
    const byClient = client({ baseUrl: proxy.origin, timeoutMilliseconds: 100 })
    for (const error of [byCall, await failure(byClient.contacts.list())]) assert.ok(error instanceof TimeoutError)
    assert.ok(performance.now() - begun < 20_000)
  })

  test('may take as long as it likes', async () => {
    assert.ok(await masthead.contacts.list({}, { timeoutMilliseconds: Number.POSITIVE_INFINITY }))
  })

  test('is told to hooks, without its token', async () => {
    const told: unknown[] = []
    const watched = client({
      hooks: { request: (request) => told.push(request), answer: (answer) => told.push(answer) },
    })
    await watched.contacts.list({ pageSize: 1 })
    const url = `${service.origin}/customer-api/v1/contacts?pageSize=1`
    const sent = { operation: 'GetContacts', method: 'GET', url, attempt: 1 }
    assert.deepEqual(told[0], sent)
    const { requestId, milliseconds, ...answer } = told[1] as ReceivedAnswer // the second hook
    assert.deepEqual(answer, { ...sent, status: 200 })
    assert.ok(requestId && milliseconds > 0)
    assert.ok(!JSON.stringify(told).includes(token))
  })
})
