import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { listedNames, managementApi } from '@masthead/contract'
import { ConsoleBrowser, manage } from '../../test/browsers/console-session.ts'
import { newPerson } from '../../test/browsers/oauth-browser.ts'
import {
  sampleAccount,
  sampleContact,
  samplePublication,
  sampleSubscription,
} from '../../test/records/sample-records.ts'
import { assertAnswers } from '../../test/requests/contract-responses.ts'
import { startService, type TestTenant } from '../../test/service.ts'
import { operator } from '../audit/author.ts'
import { writeRecords } from '../records/writes/write.ts'
import { eraseContact } from '../resources/contacts/erasure.ts'

const service = await startService()
const { origin, call } = service
const [acme, zenith] = [await service.newTenant('Acme'), await service.newTenant('Zenith')]
await acme.add('accounts', [sampleAccount('A1')])
await zenith.add('accounts', [sampleAccount('A1')])
const token = await acme.serviceToken()

const memberOf = async (tenant: TestTenant, role: 'admin' | 'editor' | 'viewer') => {
  const person = await newPerson(service, [tenant, role])
  const { management } = await new ConsoleBrowser(origin).signIn(person)
  const history = (path: string) => manage(origin, 'GET', `/history/${path}`, { token: management })
  return { person, history, customer: (await new ConsoleBrowser(origin).signIn(person)).customer }
}
const [admin, editor, viewer] = [
  await memberOf(acme, 'admin'),
  await memberOf(acme, 'editor'),
  await memberOf(acme, 'viewer'),
]
const stranger = await memberOf(zenith, 'admin')

const newContact = async (by = token) => {
  const { body } = await call('POST', '/contacts', { token: by, body: { accountId: 'A1', name: 'Ada Lovelace' } })
  return body.id as string // the record was created
}
const rename = (id: string, name: string, by = token) =>
  call('PATCH', `/contacts/${id}`, { token: by, body: { accountId: 'A1', name } })

describe('the history of a record', () => {
  test('tells every role who changed what and when, the newest first', async () => {
    const id = await newContact(editor.customer)
    await rename(id, 'Ada King', admin.customer)
    await call('DELETE', `/contacts/${id}`, { token })
    for (const { history } of [admin, editor, viewer]) {
      const answer = await history(`contacts/${id}`)
      const operation = managementApi.operations.find(({ name }) => name === 'GetHistory')
      assert.ok(operation)
      assertAnswers(operation, answer)
      const told = answer.body.items.map(
        // biome-ignore lint/suspicious/noExplicitAny: the contract was checked above
        ({ action, author, before, after }: any) => [action, author.name, before?.name, after?.name],
      )
      assert.deepEqual(told, [
        ['deleted', 'test', 'Ada King', 'Ada King'],
        ['updated', admin.person.email, 'Ada Lovelace', 'Ada King'],
        ['created', editor.person.email, undefined, 'Ada Lovelace'],
      ])
      assert.equal(answer.body.next, null)
    }
  })

  test('is found by either identifier', async () => {
    await call('PATCH', '/accounts/A1', { token, body: { city: 'Lyon' } })
    const { body: account } = await call('GET', '/accounts/A1', { token })
    const [byNumber, byId] = [await viewer.history('accounts/A1'), await viewer.history(`accounts/${account.id}`)]
    assert.deepEqual(byNumber.body, byId.body)
    assert.equal(byId.body.items[0].after.city, 'Lyon')
  })

  test('comes page by page', async () => {
    const id = await newContact()
    for (let at = 1; at <= 24; at++) await rename(id, `Ada ${at}`)
    const first = await viewer.history(`contacts/${id}`)
    assert.equal(first.body.items.length, 20)
    const second = await viewer.history(`contacts/${id}?before=${first.body.next}`)
    assert.equal(second.body.next, null)
    const names = [...first.body.items, ...second.body.items].map(({ after }) => after.name)
    const renamed = Array.from({ length: 24 }, (_, at) => `Ada ${24 - at}`)
    assert.deepEqual(names, [...renamed, 'Ada Lovelace'])
  })

  test('tells nobody from where calls came, nor what no response shows', async () => {
    const id = await newContact()
    await rename(id, 'Ada King')
    const { rows } = await service.owner.query('select author from audit_entries where record_id = $1', [id])
    const { text } = await admin.history(`contacts/${id}`)
    for (const { author } of rows)
      for (const secret of [author.address, author.requestId, author.token]) assert.ok(!text.includes(secret), secret)
    const { body: contact } = await call('GET', `/contacts/${id}`, { token })
    for (const { before, after } of JSON.parse(text).items)
      for (const values of [before, after])
        for (const field of Object.keys(values ?? {})) assert.ok(Object.hasOwn(contact, field), field)
  })

  test('names an import, and shows its numbers as responses do', async () => {
    const [paper] = await acme.add('publications', [samplePublication('NEWS')])
    const given = sampleSubscription('A1', String(paper?.id), { subscriptionId: 'S1' })
    const [subscription] = await acme.add('subscriptions', [given])
    const id = String(subscription?.id)
    const author = { kind: 'import', import: randomUUID(), operator: 'somebody' } as const
    const before = { ...given, id }
    const image = { ...before, copies: '7', updatedAt: '2026-11-02 10:00:00+00' }
    await service.database
      .forTenant(acme.id)
      .transaction((query) => writeRecords(query, 'subscriptions', [{ before, after: image, author }]))
    const { body } = await viewer.history('subscriptions/S1')
    const [{ author: by, after }] = body.items
    assert.deepEqual([by, after.copies], [{ kind: 'import', name: null, application: null }, 7])
    assert.equal(after.updatedAt, '2026-11-02T10:00:00.000Z')
  })

  test('is there for records of every list, and for nothing else', async () => {
    for (const name of listedNames) assert.equal((await viewer.history(`${name}/${randomUUID()}`)).status, 404)
    for (const name of ['tokens', 'members', 'users', 'sign_ins', 'constructor'])
      for (const { history } of [admin, viewer]) assert.equal((await history(`${name}/${randomUUID()}`)).status, 404)
  })

  test('of other tenants is not found, also under an identifier that both have', async () => {
    const id = await newContact()
    assert.equal((await stranger.history(`contacts/${id}`)).status, 404)
    await call('PATCH', '/accounts/A1', { token, body: { city: 'Paris' } })
    assert.deepEqual((await stranger.history('accounts/A1')).body, { items: [], next: null })
  })

  test('is gone with a contact that was erased, also for one that comes back under its id', async () => {
    const id = await newContact()
    await rename(id, 'Augusta Byron')
    await eraseContact(service.database.forTenant(acme.id), operator, id)
    assert.equal((await admin.history(`contacts/${id}`)).status, 404)
    await acme.add('contacts', [sampleContact('A1', { id, name: 'Somebody Else' })])
    await rename(id, 'Somebody New')
    const { text, body } = await editor.history(`contacts/${id}`)
    assert.ok(!text.includes('Byron'))
    assert.deepEqual(
      body.items.map(({ action, isErased }: { action: string; isErased: boolean }) => [action, isErased]),
      [
        ['updated', false],
        ['erased', false],
        ['updated', true],
        ['created', true],
      ],
    )
  })

  test('is refused to tokens of the customer API', async () => {
    const statusFor = async (token: string) => (await manage(origin, 'GET', '/history/accounts/A1', { token })).status
    assert.equal(await statusFor(await acme.personalToken('admin')), 403)
    assert.equal(await statusFor(await acme.serviceToken()), 403)
    assert.equal(await statusFor(editor.customer), 401)
  })

  test('is found along an index, however long the log is', async () => {
    const { rows } = await service.owner.query(`explain select * from audit_entries
      where tenant_id = '${acme.id}' and record_id = 'x' and resource = 'contacts' and number < 1000000
      order by number desc limit 21`)
    assert.match(JSON.stringify(rows), /audit_entries_tenant_id_record_id_number_idx/)
  })
})
