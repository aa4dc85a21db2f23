import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { sampleAccount, samplePublication } from '../../../test/records/sample-records.ts'
import { startService, type TestTenant } from '../../../test/service.ts'

const service = await startService()
let tenant: TestTenant
let token: string

before(async () => {
  tenant = await service.newTenant()
  token = await tenant.serviceToken()
  await tenant.add('publications', [samplePublication('DW')])
})

const create = (body: object, key = token) => service.call('POST', '/accounts', { token: key, body })

describe('creating an account', () => {
  test('answers 201 with the identifier, the route and the address of the account', async () => {
    const answer = await create({ company: 'Łódź Press "1"' })
    assert.equal(answer.status, 201)
    assert.deepEqual(Object.keys(answer.body), ['accountId', 'company', 'route'])
    assert.match(answer.body.accountId, /^A\d+$/)
    assert.deepEqual([answer.body.company, answer.body.route], ['Łódź Press "1"', 'native'])
    assert.equal(
      answer.headers.get('location'),
      `http://masthead.test/customer-api/v1/accounts/${answer.body.accountId}`,
    )
    const { body } = await service.call('GET', `/accounts/${answer.body.accountId}`, { token })
    assert.deepEqual([body.company, body.status], ['Łódź Press "1"', 'prospect'])
    assert.deepEqual((await service.call('GET', `/accounts/${body.id}`, { token })).body, body)
  })

  test('keeps the address, the web site and the e-mail for invoices', async () => {
    const place = { address: '1 Main St', city: 'Springfield', state: 'OR', zip: '97477' }
    const { body } = await create({ company: 'X', ...place, website: 'https://x.example', email: 'x@x.example' })
    const { body: account } = await service.call('GET', `/accounts/${body.accountId}`, { token })
    const { address, city, state, zip, webAddress, billingEmail } = account
    assert.deepEqual({ address, city, state, zip }, place)
    assert.deepEqual([webAddress, billingEmail], ['https://x.example', 'x@x.example'])
  })

  test('keeps what no answer shows: category, quality, legacy user and primary publication by code', async () => {
    const given = { company: 'X', category: 'school', quality: 'hot', userId: 'u7', primaryPublicationId: 'DW' }
    const { body } = await create(given)
    const { rows } = await service.owner.query(
      `select category, quality, user_id, code from accounts join publications on publications.id = primary_publication_id
        where account_id = $1 and accounts.tenant_id = $2`,
      [body.accountId, tenant.id],
    )
    assert.deepEqual(rows, [{ category: 'school', quality: 'hot', user_id: 'u7', code: 'DW' }])
  })

  test('that is refused takes no number', async () => {
    const numberOf = async () => Number((await create({ company: 'X' })).body.accountId.slice(1))
    const before = await numberOf()
    for (const primaryPublicationId of ['nothing', '01900000-0000-7000-8000-000000000000'])
      assert.equal((await create({ company: 'X', primaryPublicationId })).status, 422)
    assert.equal(await numberOf(), before + 1)
  })

  test('creates the first contact when a person is given, and none otherwise', async () => {
    const personal = await tenant.personalToken('admin')
    const people: [object, object | null][] = [
      [{}, null],
      [{ firstName: null, email: null }, null],
      [
        { firstName: 'Ada', lastName: 'Lovelace' },
        { name: 'Ada Lovelace', firstName: 'Ada', lastName: 'Lovelace' },
      ],
      [{ title: 'Editor' }, { name: null, title: 'Editor' }],
      [{ phone: '555' }, { phone: '555' }],
      [{ email: 'a@example.com' }, { email: 'a@example.com' }],
    ]
    for (const [given, expected] of people) {
      const { body } = await create({ company: 'X', ...given }, personal)
      const { body: page } = await service.call('GET', `/contacts?accountId=${body.accountId}`, { token })
      assert.equal(page.total, expected ? 1 : 0)
      if (!expected) continue
      assert.deepEqual({ ...page.items[0], ...expected }, page.items[0])
      const { rows } = await service.owner.query('select user_id from memberships where tenant_id = $1', [tenant.id])
      assert.deepEqual(
        [page.items[0].ownerId],
        rows.map(({ user_id }) => user_id),
      )
    }
  })

  test('passes over numbers that an import has taken', async () => {
    const own = await service.newTenant()
    const key = await own.serviceToken()
    await own.add(
      'accounts',
      Array.from({ length: 1_500 }, (_, index) => sampleAccount(`A${index + 2}`)),
    )
    assert.equal((await create({ company: 'X' }, key)).body.accountId, 'A1')
    assert.equal((await create({ company: 'X' }, key)).body.accountId, 'A1502')
  })

  test('gives parallel creations different identifiers', async () => {
    const own = await service.newTenant()
    const key = await own.serviceToken()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create({ company: 'X', email: 'x@example.com' }, key)),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(20).fill(201),
    )
    assert.equal(new Set(answers.map(({ body }) => body.accountId)).size, 20)
    assert.equal((await service.call('GET', '/contacts', { token: key })).body.total, 20)
  })

  test('refuses a publication that does not exist, and stores nothing', async () => {
    const before = (await service.call('GET', '/accounts', { token })).body.total
    const answer = await create({ company: 'X', email: 'x@example.com', primaryPublicationId: 'NOPE' })
    assert.equal(answer.status, 422)
    assert.equal(answer.body.errors[0].pointer, '/primaryPublicationId')
    assert.equal((await service.call('GET', '/accounts', { token })).body.total, before)
  })
})

describe('correcting an account', () => {
  const patch = (name: string, body: object, headers = {}) =>
    service.call('PATCH', `/accounts/${name}`, { token, body, headers })
  const newAccount = async (): Promise<string> =>
    (await create({ company: 'Acme', city: 'Köln', category: 'school', email: 'acme@example.com' })).body.accountId

  test('sets what is given, clears what is null and leaves the rest, by either identifier', async () => {
    const accountId = await newAccount()
    const { body: before } = await service.call('GET', `/accounts/${accountId}`, { token })
    const given = { company: 'Acme & Söhne', suite: '2', city: null, status: 'Active', doNotEmail: true }
    const { status, body, headers } = await patch(accountId, given)
    assert.equal(status, 200)
    assert.deepEqual(body, { ...before, ...given, updatedAt: body.updatedAt })
    assert.ok(body.updatedAt >= before.updatedAt)
    const read = await service.call('GET', `/accounts/${accountId}`, { token })
    assert.deepEqual([read.body, read.headers.get('etag')], [body, headers.get('etag')])
    assert.equal((await patch(body.id, { zip: '50667' })).body.zip, '50667')
    const { rows } = await service.owner.query('select category from accounts where id = $1', [body.id])
    assert.deepEqual(rows, [{ category: 'school' }], 'what no response shows stays')
  })

  test('is found by what it is now: by status and by search', async () => {
    const accountId = await newAccount()
    await patch(accountId, { company: 'Zwiebelfisch', status: 'On_Hold' })
    const found = async (query: string) =>
      (await service.call('GET', `/accounts?${query}`, { token })).body.items.map(
        (one: { accountId: string }) => one.accountId,
      )
    assert.deepEqual(await found('search=zwiebelfisch'), [accountId])
    assert.deepEqual(await found('status=on_hold'), [accountId])
  })

  test('that changes nothing leaves updatedAt alone; a stale `If-Match` is 412', async () => {
    const accountId = await newAccount()
    const first = await service.call('GET', `/accounts/${accountId}`, { token })
    const stale = { 'if-match': first.headers.get('etag') ?? '' }
    assert.deepEqual((await patch(accountId, { city: 'Köln' }, stale)).body, first.body)
    assert.equal((await patch(accountId, { city: 'Bonn' }, stale)).status, 200)
    assert.equal((await patch(accountId, { city: 'Trier' }, stale)).status, 412)
  })

  test('never changes a key, nor takes the name away', async () => {
    const accountId = await newAccount()
    for (const property of [
      'id',
      'accountId',
      'createdAt',
      'updatedAt',
      'userId',
      'category',
      'primaryPublicationId',
    ]) {
      const { status, body } = await patch(accountId, { [property]: 'x' })
      assert.deepEqual([status, body.errors[0].pointer], [422, `/${property}`])
    }
    for (const company of [null, ''])
      assert.deepEqual((await patch(accountId, { company })).body.errors[0].pointer, '/company')
    assert.equal((await patch('nobody', { city: 'Bonn' })).status, 404)
  })

  test('takes the status away by null, never by an empty text', async () => {
    const accountId = await newAccount()
    const { status, body } = await patch(accountId, { status: '' })
    assert.deepEqual([status, body.errors[0].pointer], [422, '/status'])
    assert.equal((await patch(accountId, { status: 'active' })).body.status, 'active')
    assert.equal((await patch(accountId, { status: null })).body.status, null)
  })

  test('refuses a billing address that cannot be one, save one that is stored already', async () => {
    const { status, body } = await create({ company: 'X', email: 'x' })
    assert.deepEqual([status, body.errors[0].pointer], [422, '/email'])
    const [imported] = await tenant.add('accounts', [
      sampleAccount('L-1', { billingEmail: 'a@x.example; b@x.example' }),
    ])
    assert.equal((await patch('L-1', { city: 'Bonn', billingEmail: imported?.billingEmail })).status, 200)
    const refused = await patch('L-1', { billingEmail: 'a@x.example; b@x.example; c@x.example' })
    assert.deepEqual([refused.status, refused.body.errors[0].pointer], [422, '/billingEmail'])
    assert.equal((await patch('L-1', { billingEmail: 'a@x.example' })).body.billingEmail, 'a@x.example')
  })
})
