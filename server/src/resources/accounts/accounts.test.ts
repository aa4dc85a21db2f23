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
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ company: 'X', email: 'x' }, key)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(20).fill(201),
    )
    assert.equal(new Set(answers.map(({ body }) => body.accountId)).size, 20)
    assert.equal((await service.call('GET', '/contacts', { token: key })).body.total, 20)
  })

  test('refuses a publication that does not exist, and stores nothing', async () => {
    const before = (await service.call('GET', '/accounts', { token })).body.total
    const answer = await create({ company: 'X', email: 'x', primaryPublicationId: 'NOPE' })
    assert.equal(answer.status, 422)
    assert.equal(answer.body.errors[0].pointer, '/primaryPublicationId')
    assert.equal((await service.call('GET', '/accounts', { token })).body.total, before)
  })
})
