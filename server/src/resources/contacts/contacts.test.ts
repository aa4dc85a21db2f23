import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { basePath } from '@masthead/contract'
import { sampleAccount, sampleContact } from '../../../test/records/sample-records.ts'
import { injectRequest } from '../../../test/requests/injected-request.ts'
import { baseUrl, linksOf, secret, startService, type TestTenant, walk } from '../../../test/service.ts'
import { buildApp } from '../../app.ts'
import type { Database } from '../../database/database.ts'
import { type TenantQuery, tenantQuery } from '../../database/tenant-query.ts'

const service = await startService()
let tenant: TestTenant
let token: string

before(async () => {
  tenant = await service.newTenant()
  token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('C-1'), sampleAccount('C-2')])
})

const create = async (body: object) => {
  const answer = await service.call('POST', '/contacts', { token, body: { accountId: 'C-1', ...body } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}
const get = async (id: string) => (await service.call('GET', `/contacts/${id}`, { token })).body
const patch = (id: string, body: object, headers = {}) =>
  service.call('PATCH', `/contacts/${id}`, { token, body: { accountId: 'C-1', ...body }, headers })

/** The same database, telling the statements of a tenant's transactions. */
const recording = (database: Database, tell: (text: string) => void): Database => ({
  ...database,
  forTenant: (id) => {
    const tenant = database.forTenant(id)
    const told = ({ withoutTenant }: TenantQuery): TenantQuery =>
      tenantQuery(id, (statement) => {
        tell(statement.text)
        return withoutTenant(statement)
      })
    return {
      ...tenant,
      write: (decide) =>
        tenant.write(async (query) => {
          const last = await decide(told(query))
          return (query) => last(told(query))
        }),
    }
  },
})

describe('creating a contact', () => {
  test('answers 201 with the record, its address and its version', async () => {
    const answer = await service.call('POST', '/contacts', { token, body: { accountId: 'C-1', name: 'Grace' } })
    assert.equal(answer.status, 201)
    assert.equal(answer.headers.get('location'), `http://masthead.test/customer-api/v1/contacts/${answer.body.id}`)
    const again = await service.call('GET', `/contacts/${answer.body.id}`, { token })
    assert.deepEqual(again.body, answer.body)
    assert.equal(again.headers.get('etag'), answer.headers.get('etag'))
  })

  test('stores every field as sent, whatever the script, spaces or quotation marks', async () => {
    const given = {
      name: '  "Łukasz" \\ 東京 \u2028 \u0001 👩‍👩‍👧 é ',
      firstName: '',
      lastName: "O'Neill",
      phone: 'ask Bob',
      phone2: '+1 (555) 0100 #2',
      extension: '007',
      hideContact: false,
      subsOnly: true,
      doNotEmail: true,
      email: 'łukasz+news@bücher.example',
      title: 'Dr\tProf\r\n',
      notes: 'a'.repeat(10_000),
      deletedAt: null,
    }
    const created = await create(given)
    const { id, accountId, ownerId, createdAt, updatedAt, ...rest } = created
    assert.deepEqual(rest, given)
    assert.deepEqual([accountId, ownerId], ['C-1', null])
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.equal(createdAt, updatedAt)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  })

  test('joins the name from first and last name only when it is absent', async () => {
    assert.equal((await create({ firstName: 'Ada', lastName: 'Lovelace' })).name, 'Ada Lovelace')
    assert.equal((await create({ lastName: 'Lovelace' })).name, 'Lovelace')
    assert.equal((await create({ firstName: 'Ada', name: null })).name, null)
    assert.equal((await create({})).name, null)
    const long = await create({ firstName: 'a'.repeat(255), lastName: '🙂'.repeat(255) })
    assert.equal(long.name, 'a'.repeat(255))
    const { id, ownerId, createdAt, updatedAt, ...again } = long
    assert.equal((await patch(id, again)).status, 200, 'what was answered can be sent back')
  })

  test('gives ids that ascend, made by the clock', async () => {
    const ids = [await create({}), await create({}), await create({})].map(({ id }) => id)
    assert.deepEqual(ids, [...ids].sort())
    for (const id of ids) {
      const milliseconds = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
      assert.ok(Math.abs(Date.now() - milliseconds) < 60_000)
    }
  })

  test('takes the account by its id and shows its business identifier', async () => {
    const { body: account } = await service.call('GET', '/accounts/C-2', { token })
    assert.equal((await create({ accountId: account.id })).accountId, 'C-2')
    assert.equal((await create({ accountId: account.id.toUpperCase() })).accountId, 'C-2')
  })

  test('belongs to the acting user, and to nobody when a service token acts', async () => {
    const personal = await tenant.personalToken('editor')
    const answer = await service.call('POST', '/contacts', { token: personal, body: { accountId: 'C-1' } })
    const { rows } = await service.owner.query('select user_id from memberships where tenant_id = $1', [tenant.id])
    assert.deepEqual(
      [answer.body.ownerId],
      rows.map(({ user_id }) => user_id),
    )
    assert.equal((await create({})).ownerId, null)
  })

  test('refuses an unknown account at /accountId', async () => {
    for (const accountId of ['nobody', 'c-1', '00000000-0000-7000-8000-000000000000', '']) {
      const answer = await service.call('POST', '/contacts', { token, body: { accountId } })
      assert.equal(answer.status, 422)
      assert.equal(answer.body.errors[0].pointer, '/accountId')
    }
  })
})

describe('updating a contact', () => {
  test('leaves what is absent, clears what is null, and moves updatedAt', async () => {
    const former = sampleContact('C-1', { phone: '1', updatedAt: '2020-01-01T00:00:00.000Z' })
    const [contact = {}] = await tenant.add('contacts', [former])
    const { body: updated } = await patch(String(contact.id), { phone: null, title: 'Duchess' })
    assert.deepEqual(updated, { ...contact, phone: null, title: 'Duchess', updatedAt: updated.updatedAt })
    assert.ok(Date.now() - Date.parse(updated.updatedAt) < 60_000)
    assert.deepEqual(await get(String(contact.id)), updated)
  })

  test('that changes nothing leaves updatedAt and the version alone', async () => {
    const contact = await create({ name: 'Ada', hideContact: null })
    const answer = await patch(contact.id, { name: 'Ada', hideContact: null, deletedAt: null })
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, contact)
  })

  test('moves the contact to another account of the tenant', async () => {
    const contact = await create({})
    await patch(contact.id, { accountId: 'C-2' })
    assert.equal((await get(contact.id)).accountId, 'C-2')
    const { body } = await service.call('GET', '/contacts?accountId=C-2&pageSize=200', { token })
    assert.ok(body.items.some(({ id }: { id: string }) => id === contact.id))
  })

  test('prepares one statement, whatever fields it changes and in whatever order', async () => {
    const contact = await create({})
    const fields = ['name', 'phone', 'phone2', 'title', 'notes', 'extension']
    const texts = new Set<string>()
    const app = await buildApp({
      baseUrl,
      delegation: { issuer: baseUrl, secret },
      rateLimits: null,
      database: recording(service.database, (text) => texts.add(text)),
    })
    for (const [index, field] of fields.entries()) {
      const changes = fields
        .slice(0, index)
        .reverse()
        .map((other) => [other, `${index}`])
      const answer = await injectRequest(app, {
        method: 'PATCH',
        url: `${basePath}/contacts/${contact.id}`,
        headers: { authorization: `Bearer ${token}` },
        payload: { accountId: 'C-1', [field]: 'x', ...Object.fromEntries(changes) },
      })
      assert.equal(answer.statusCode, 200, answer.body)
    }
    await app.close()
    assert.equal([...texts].filter((text) => text.includes('update contacts')).length, 1)
  })

  test('takes a name that was joined from first and last name along with them', async () => {
    const { id } = await create({ firstName: 'Ada', lastName: 'Byron' })
    assert.equal((await patch(id, { lastName: 'Lovelace' })).body.name, 'Ada Lovelace')
    assert.equal((await patch(id, { firstName: null })).body.name, 'Lovelace')
    assert.equal((await patch(id, { lastName: null })).body.name, null)
    assert.equal((await patch(id, { firstName: 'Augusta' })).body.name, 'Augusta')
  })

  test('leaves a name of its own, and takes one that is given', async () => {
    const { id } = await create({ name: 'Lady Lovelace', firstName: 'Ada', lastName: 'Byron' })
    assert.equal((await patch(id, { lastName: 'Lovelace' })).body.name, 'Lady Lovelace')
    assert.equal((await patch(id, { firstName: 'A.', name: 'Countess' })).body.name, 'Countess')
    const unnamed = await create({ name: null, firstName: 'Ada' })
    assert.equal((await patch(unnamed.id, { firstName: 'Augusta' })).body.name, null)
  })

  test('requires the account', async () => {
    const contact = await create({})
    const answer = await service.call('PATCH', `/contacts/${contact.id}`, { token, body: { name: 'x' } })
    assert.equal(answer.status, 422)
    assert.deepEqual(answer.body.errors, [
      { pointer: '/accountId', code: 'required', detail: '`accountId` is required.' },
    ])
  })

  test('accepts application/merge-patch+json', async () => {
    const contact = await create({})
    const answer = await patch(contact.id, { name: 'merged' }, { 'content-type': 'application/merge-patch+json' })
    assert.equal(answer.body.name, 'merged')
  })

  test('of a deleted contact answers 409 unless it says what becomes of deletedAt', async () => {
    const contact = await create({})
    await service.call('DELETE', `/contacts/${contact.id}`, { token })
    const refused = await patch(contact.id, { name: 'x' })
    assert.equal(refused.status, 409)
    assert.equal(refused.body.code, 'contact_deleted')
    const restored = await patch(contact.id, { name: 'x', deletedAt: null })
    assert.equal(restored.body.deletedAt, null)
    assert.equal(restored.body.name, 'x')
  })

  test('deletes at an instant that is not in the future', async () => {
    const contact = await create({})
    const answer = await patch(contact.id, { deletedAt: '2020-02-29T12:00:00.5+02:00' })
    assert.equal(answer.body.deletedAt, '2020-02-29T10:00:00.500Z')
    for (const deletedAt of ['2999-01-01T00:00:00Z', '2021-02-29T12:00:00Z', '2020-01-01', 'yesterday', '']) {
      const refused = await patch(contact.id, { deletedAt })
      assert.equal(refused.status, 422, deletedAt)
      assert.equal(refused.body.errors[0].pointer, '/deletedAt')
    }
    assert.deepEqual(await get(contact.id), answer.body)
  })

  test('looks at the body before it looks for the contact', async () => {
    const future = { deletedAt: '2999-01-01T00:00:00Z' }
    assert.equal((await patch('00000000-0000-7000-8000-000000000000', future)).status, 422)
    const contact = await create({})
    assert.equal((await patch(contact.id, future, { 'if-match': '"other"' })).status, 422)
  })
})

describe('the e-mail address of a contact', () => {
  const possible = [
    'ada@example.com',
    'Ada.Lovelace+news@Mail.Example.CO.UK',
    "o'neill@xn--bcher-kva.example",
    'müller@bücher.example',
    'δοκιμή@παράδειγμα.δοκιμή',
    'a..b.@docomo.example',
    '"ada lovelace"@example.com',
    'ada@[192.0.2.1]',
    'ada@[IPv6:2001:db8::1]',
    '',
    null,
  ]
  const impossible: [string, RegExp][] = [
    ['ada', /no @/],
    ['n/a', /no @/],
    ['@example.com', /before/],
    ['ada@', /behind/],
    ['ada@example', /domain/],
    ['ada@example..com', /domain/],
    ['ada@-example.com', /domain/],
    ['ada@example.com.', /domain/],
    ['ada@192.0.2.1', /domain/],
    ['ada@example.123', /domain/],
    ['ada@example.com/path', /domain/],
    ['ada@example.com?subject=hello', /domain/],
    ['ada@example.com#top', /domain/],
    ['ada@ex%61mple.com', /domain/],
    ['ada@example.com／path', /domain/],
    ['ada@ex％61mple.com', /domain/],
    [' ada@example.com', /before its @ has a space/],
    ['ada@example.com ', /domain/],
    ['ada@exam ple.com', /domain/],
    ['ada lovelace@example.com', /before its @ has a space/],
    ['Ada <ada@example.com>', /before its @/],
    ['mailto:ada@example.com', /before its @/],
    ['ada@example.com, bob@example.com', /more than one/],
    ['ada@example.com;bob@example.com', /more than one/],
    ['ada@@example.com', /more than one/],
    ['ada@example.com\n', /domain/],
    ['ada\u200b@example.com', /before its @/],
  ]

  test('is taken as it was entered where it can be one', async () => {
    for (const email of possible) assert.equal((await create({ email })).email, email)
  })

  test('is refused at /email where it cannot be one, with what is wrong', async () => {
    const { id } = await create({ email: 'ada@example.com' })
    for (const [email, reason] of impossible) {
      const body = { accountId: 'C-1', email }
      for (const answer of [await service.call('POST', '/contacts', { token, body }), await patch(id, body)]) {
        const { status, body } = answer
        assert.deepEqual([status, body.code, body.errors[0].pointer], [422, 'invalid_body', '/email'], email)
        assert.match(body.errors[0].detail, reason, email)
      }
    }
    assert.equal((await get(id)).email, 'ada@example.com')
  })

  test('that an import brought stays as it is, and keeps nobody from changing the rest', async () => {
    const [imported] = await tenant.add('contacts', [sampleContact('C-1', { email: 'ask Bob' })])
    const id = String(imported?.id)
    assert.equal((await patch(id, { title: 'Countess' })).body.email, 'ask Bob')
    assert.equal((await patch(id, { title: null, email: 'ask Bob' })).status, 200, 'a form sends what it shows')
    assert.equal((await patch(id, { email: 'ask Eve' })).status, 422)
    assert.equal((await patch(id, { email: null })).body.email, null)
  })
})

describe('deleting and restoring a contact', () => {
  test('deletes once; again changes nothing', async () => {
    const contact = await create({})
    const first = await service.call('DELETE', `/contacts/${contact.id}`, { token })
    assert.equal(first.status, 200)
    assert.ok(first.body.deletedAt)
    const second = await service.call('DELETE', `/contacts/${contact.id}`, { token })
    assert.deepEqual([second.status, second.body], [200, first.body])
    assert.deepEqual(await get(contact.id), first.body)
  })

  test('restores; a live contact stays as it is', async () => {
    const contact = await create({})
    const untouched = await service.call('POST', `/contacts/${contact.id}/restore`, { token })
    assert.deepEqual([untouched.status, untouched.body], [200, contact])
    await service.call('DELETE', `/contacts/${contact.id}`, { token })
    const restored = await service.call('POST', `/contacts/${contact.id}/restore`, { token })
    assert.equal(restored.body.deletedAt, null)
  })

  test('takes an empty body with any content type, and no other', async () => {
    const { id } = await create({})
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': type, 'content-length': '0' }
      assert.equal((await service.call('POST', `/contacts/${id}/restore`, { token, headers })).status, 200, type)
      assert.equal((await service.call('DELETE', `/contacts/${id}`, { token, headers })).status, 200, type)
    }
    assert.equal((await service.call('POST', `/contacts/${id}/restore`, { token, body: { a: 1 } })).status, 422)
  })
})

describe('versions of a contact', () => {
  test('If-Match lets the current version through and refuses another with 412', async () => {
    const contact = await create({ name: 'one' })
    const { headers } = await service.call('GET', `/contacts/${contact.id}`, { token })
    const tag = headers.get('etag') ?? ''
    assert.equal((await patch(contact.id, { name: 'two' }, { 'if-match': `"other", ${tag}` })).status, 200)
    for (const [method, path] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/restore'],
    ] as const) {
      const body = method === 'PATCH' ? { body: { accountId: 'C-1', name: 'three' } } : {}
      const call = (given: string) =>
        service.call(method, `/contacts/${contact.id}${path}`, { token, ...body, headers: { 'if-match': given } })
      assert.equal((await call(tag)).status, 412)
      assert.equal((await call(`W/${tag}`)).status, 412)
      assert.equal((await call('unquoted')).status, 400)
    }
    assert.equal((await get(contact.id)).name, 'two')
    assert.equal((await patch(contact.id, { name: 'four' }, { 'if-match': '*' })).status, 200)
  })

  test('If-None-Match answers 304 without a body while nothing changed', async () => {
    const contact = await create({ name: 'one' })
    for (const path of [`/contacts/${contact.id}`, '/contacts?accountId=C-1&pageSize=1']) {
      const first = await service.call('GET', path, { token })
      const tag = first.headers.get('etag') ?? ''
      for (const given of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const again = await service.call('GET', path, { token, headers: { 'if-none-match': given } })
        assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', tag])
      }
      const other = await service.call('GET', path, { token, headers: { 'if-none-match': '"other"' } })
      assert.equal(other.status, 200)
    }
  })
})

describe('listing contacts', () => {
  test('leaves out hidden, subscription-only and deleted ones unless asked', async () => {
    const own = await service.newTenant()
    const key = await own.serviceToken()
    await own.add('accounts', [sampleAccount('C-1')])
    const flags = [false, true].flatMap((hide) =>
      [false, true].flatMap((subs) => [false, true].map((del) => ({ hide, subs, del }))),
    )
    await own.add(
      'contacts',
      flags.map(({ hide, subs, del }) =>
        sampleContact('C-1', {
          hideContact: hide || null,
          subsOnly: subs,
          deletedAt: del ? '2026-01-01T00:00:00.000Z' : null,
          name: `${hide}${subs}${del}`,
        }),
      ),
    )
    for (const { hide, subs, del } of flags) {
      const expected = flags.filter((one) => (hide || !one.hide) && (subs || !one.subs) && (del || !one.del))
      for (const more of ['', '&accountId=C-1', '&search=e', '&search=true', '&accountId=C-1&search=ada%20e']) {
        const path = `/contacts?includeHidden=${hide}&includeSubsOnly=${subs}&includeDeleted=${del}${more}`
        const items = await walk(service, key, `${path}&pageSize=3`)
        const matching = more === '&search=true' ? expected.filter((one) => one.hide || one.subs || one.del) : expected
        assert.deepEqual(
          items.map(({ name }) => name),
          matching.map((one) => `${one.hide}${one.subs}${one.del}`),
          path,
        )
        assert.equal((await service.call('GET', path, { token: key })).body.total, matching.length)
      }
    }
  })

  test('links to first, prev, next and last, and the last page has no next', async () => {
    const own = await service.newTenant()
    const key = await own.serviceToken()
    await own.add('accounts', [sampleAccount('C-1')])
    await own.add(
      'contacts',
      Array.from({ length: 5 }, () => sampleContact('C-1')),
    )
    const middle = await service.call('GET', '/contacts?page=2&pageSize=2', { token: key })
    const links = linksOf(middle.headers)
    assert.equal(links.first, '/contacts?pageSize=2&page=1')
    assert.equal(links.prev, '/contacts?pageSize=2&page=1')
    assert.equal(links.last, '/contacts?pageSize=2&page=3')
    const last = await service.call('GET', links.next ?? '', { token: key })
    assert.deepEqual([last.body.page, last.body.items.length, last.body.total], [3, 1, 5])
    assert.deepEqual(Object.keys(linksOf(last.headers)), ['first', 'prev', 'last'])
    const beyond = await service.call('GET', '/contacts?page=2147483647&pageSize=200', { token: key })
    assert.deepEqual(beyond.body, { items: [], page: 2147483647, pageSize: 200, total: 5 })
  })

  test('refuses a cursor that was changed, is of other filters, another list or another tenant, or comes with a page', async () => {
    const own = await service.newTenant()
    const key = await own.serviceToken()
    await own.add('accounts', [sampleAccount('C-1'), sampleAccount('C-2')])
    await own.add(
      'contacts',
      Array.from({ length: 3 }, () => sampleContact('C-1')),
    )
    const first = await service.call('GET', '/contacts?pageSize=1', { token: key })
    const cursor = new URLSearchParams(linksOf(first.headers).next?.split('?')[1]).get('cursor') ?? ''
    assert.equal((await service.call('GET', `/contacts?pageSize=2&cursor=${cursor}`, { token: key })).status, 200)
    const wrong = [
      `/contacts?cursor=${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`,
      `/contacts?cursor=B${cursor.slice(1)}`,
      `/contacts?cursor=${cursor}=`,
      '/contacts?cursor=',
      `/contacts?cursor=${cursor}&accountId=C-1`,
      `/contacts?cursor=${cursor}&includeHidden=true`,
      `/accounts?cursor=${cursor}`,
    ]
    for (const path of wrong) {
      const answer = await service.call('GET', path, { token: key })
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_cursor'], path)
      assert.equal(answer.body.errors[0].parameter, 'cursor')
    }
    const both = await service.call('GET', `/contacts?cursor=${cursor}&page=2`, { token: key })
    assert.deepEqual([both.status, both.body.code], [400, 'invalid_parameter'])
    assert.equal((await service.call('GET', `/contacts?cursor=${cursor}`, { token })).status, 400)
  })
})
