import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { resourceNames, resources } from '@masthead/contract'
import { populatedTenant } from '../../../test/records/populated-tenant.ts'
import { linksOf, type Service, startService } from '../../../test/service.ts'
import { useInternals } from './switch.ts'

describe('a service that uses no private parts of pg', async () => {
  after(() => useInternals(true))
  const one = await startService()
  const { token, records } = await populatedTenant(one)
  useInternals(false)
  const other = await startService({ connectionString: one.connectionString })

  /** What a service answers from the database. */
  const read = async (service: Service, path: string) => {
    useInternals(service === one)
    const { status, headers, text } = await service.call('GET', path, {
      token,
      headers: { 'cache-control': 'no-cache' },
    })
    return { status, text, etag: headers.get('etag'), links: linksOf(headers) }
  }

  test('answers reads with the same bytes', async () => {
    const { account, contact } = records
    const lists = resourceNames
      .filter((name) => resources[name].listing)
      .flatMap((name) => [`/${name}`, `/${name}?pageSize=1`])
    const paths = [
      ...lists,
      `/contacts/${contact.id}`,
      `/accounts/${account.id}`,
      `/contacts?accountId=${account.accountId}`,
      `/contacts?search=${encodeURIComponent(String(contact.lastName))}`,
      '/contacts?sort=-name&pageSize=1',
      '/contacts?page=7',
      '/changes',
    ]
    for (const path of paths) {
      const expected = await read(one, path)
      assert.equal(expected.status, 200, `${path}: ${expected.text}`)
      assert.deepEqual(comparable(await read(other, path)), comparable(expected), path)
    }
  })

  test('writes, also what fails and what is sent again, and shows it to its tenant alone', async () => {
    useInternals(false)
    const create = (body: object, key: string) =>
      other.call('POST', '/contacts', { token, body, headers: { 'idempotency-key': key } })
    const input = { accountId: records.account.accountId, name: 'Plainly sent', email: 'plain@example.com' }
    const created = await create(input, 'plain')
    assert.equal(created.status, 201, created.text)
    assert.equal((await create(input, 'plain')).text, created.text)
    assert.equal((await create({ ...input, accountId: 'NONE' }, 'fails')).status, 422)
    const path = `/contacts/${created.body.id}`
    const changed = await other.call('PATCH', path, { token, body: { ...input, name: 'Changed' } })
    assert.deepEqual([changed.status, changed.body.name], [200, 'Changed'], changed.text)
    assert.deepEqual(await read(other, path), await read(one, path))
    const stranger = await (await one.newTenant()).serviceToken()
    useInternals(false)
    assert.equal((await other.call('GET', path, { token: stranger })).status, 404)
    assert.equal((await other.call('GET', '/contacts', { token: stranger })).body.total, 0)
  })
})

/** Cursors are sealed with another number each time. */
const comparable = ({ links, ...response }: { links: Record<string, string> }) => ({
  ...response,
  links: Object.keys(links),
})
