import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sampleAccount, sampleContact } from '../../test/records/sample-records.ts'
import { cloneTemplate, startService } from '../../test/service.ts'
import { BatchedReads } from './batched-reads.ts'
import { serviceRole } from './connections/address.ts'
import { openDatabase } from './database.ts'
import { tenantQuery } from './tenant-query.ts'

const service = await startService()

const newTenant = async (prefix: string) => {
  const tenant = await service.newTenant()
  const accounts = await tenant.add(
    'accounts',
    Array.from({ length: 60 }, (_, number) => sampleAccount(`${prefix}-${number}`)),
  )
  const contacts = await tenant.add(
    'contacts',
    Array.from({ length: 60 }, (_, number) => sampleContact(`${prefix}-0`, { name: `${prefix} ${number}` })),
  )
  return { token: await tenant.serviceToken(), accounts, contacts }
}

describe('records that many ask for at once', async () => {
  const [first, second] = await Promise.all([newTenant('A'), newTenant('B')])
  const read = (token: string, path: string) =>
    service.call('GET', path, { token, headers: { 'cache-control': 'no-cache' } })

  test('go to who asked for them, by whichever name', async () => {
    const asked = [first, second].flatMap(({ token, accounts, contacts }) => [
      ...contacts.map((contact) => ({ token, path: `/contacts/${contact.id}`, is: contact.name })),
      ...contacts.map((contact) => ({
        token,
        path: `/contacts/${String(contact.id).toUpperCase()}`,
        is: contact.name,
      })),
      ...accounts.map((account) => ({ token, path: `/accounts/${account.accountId}`, is: account.company })),
      ...accounts.map((account) => ({ token, path: `/accounts/${account.id}`, is: account.company })),
    ])
    const answers = await Promise.all(asked.map(({ token, path }) => read(token, path)))
    const names = answers.map(({ body }) => body.name ?? body.company)
    assert.deepEqual(
      names,
      asked.map(({ is }) => is),
    )
  })

  test('have names that no array of PostgreSQL takes for something else', async () => {
    const names = ['NULL', 'null', 'a"b', 'c\\d', '{e,f}', 'g, h', ' i ', "j'k", 'ünï', '東京', '%6C', '$1', '\\']
    const tenant = await service.newTenant()
    await tenant.add(
      'accounts',
      names.map((name) => sampleAccount(name)),
    )
    const token = await tenant.serviceToken()
    const answers = await Promise.all(names.map((name) => read(token, `/accounts/${encodeURIComponent(name)}`)))
    assert.deepEqual(
      answers.map(({ body }) => body.accountId),
      names,
    )
  })

  test('are found or not each for itself, and never in another tenant', async () => {
    const asked = first.contacts.flatMap(({ id }, number) => [
      { token: first.token, id, status: 200 },
      { token: second.token, id, status: 404 },
      { token: second.token, id: second.contacts[number]?.id, status: 200 },
      { token: first.token, id: randomUUID(), status: 404 },
      { token: first.token, id: 'nobody', status: 404 },
    ])
    const answers = await Promise.all(asked.map(({ token, id }) => read(token, `/contacts/${id}`)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      asked.map(({ status }) => status),
    )
  })
})

test('keys of one turn of the event loop share a statement, fifty at most', async (context) => {
  const database = openDatabase({ connectionString: await cloneTemplate(), role: serviceRole })
  context.after(database.close)
  const { tenantId, read } = database.forTenant(randomUUID())
  const asked: number[] = []
  const keyed = new BatchedReads(
    tenantQuery(tenantId, (statement) => {
      asked.push((statement.values ?? []).slice(1).flat().length)
      return read.withoutTenant(statement)
    }),
  )
  const text = 'select key, key as body from unnest($2::text[]) as key where $1::uuid is not null'
  const bodyOf = (key: string) => keyed.bodyOf({ text, key })
  const keys = Array.from({ length: 70 }, (_, number) => `key ${number}`)
  assert.deepEqual((await Promise.all(keys.map(bodyOf))).map(String), keys)
  assert.equal(String(await bodyOf('later')), 'later')
  assert.deepEqual(asked, [50, 20, 1])
})
