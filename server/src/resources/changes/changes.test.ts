import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changesRelation } from '@masthead/contract'
import { sampleAccount, sampleContact, sampleRecord } from '../../../test/records/sample-records.ts'
import { assertProblem } from '../../../test/requests/problem-response.ts'
import { type CallResponse, linksOf, startService, type TestTenant } from '../../../test/service.ts'
import { operator } from '../../audit/author.ts'
import { eraseContact } from '../contacts/erasure.ts'

const service = await startService()

type Change = {
  resource: string
  id: string
  externalId: string | null
  change: string
  record: { name?: string } | null
}
type Page = { items: Change[]; cursor: string; hasMore: boolean }

const newTenant = async () => {
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('A-1')])
  return { tenant, token }
}

const read = async (token: string, query = ''): Promise<Page> => {
  const { status, body, text } = await service.call('GET', `/changes${query}`, { token })
  assert.equal(status, 200, text)
  return body
}

const addContacts = (tenant: TestTenant, ...names: string[]) =>
  tenant.add(
    'contacts',
    names.map((name) => sampleContact('A-1', { name })),
  )

const namesOf = ({ items }: Page) => items.map(({ record }) => record?.name)

const rename = async (token: string, id: unknown, name: string): Promise<void> => {
  const body = { accountId: 'A-1', name }
  assert.equal((await service.call('PATCH', `/contacts/${id}`, { token, body })).status, 200)
}

const assertInvalidCursor = (answer: CallResponse) => assertProblem(answer, 'invalid_cursor', [{ parameter: 'after' }])

describe('changes', () => {
  test('come in the order of the lists, and then no more', async () => {
    const { tenant, token } = await newTenant()
    await tenant.add('contacts', [sampleContact('A-1', { externalId: 'E "1"' }), sampleContact('A-1')])
    await tenant.add('publications', [sampleRecord('publications')])
    const { items, cursor, hasMore } = await read(token)
    assert.deepEqual(
      items.map(({ resource, externalId, change }) => [resource, externalId, change]),
      [
        ['publications', null, 'written'],
        ['accounts', null, 'written'],
        ['contacts', 'E "1"', 'written'],
        ['contacts', null, 'written'],
      ],
    )
    assert.equal(hasMore, false)
    const contact = items[2]
    assert.deepEqual(contact?.record, (await service.call('GET', `/contacts/${contact?.id}`, { token })).body)
    assert.deepEqual(await read(token, `?after=${cursor}`), { items: [], cursor, hasMore: false })
  })

  test('show hidden and deleted records, and each record once, as it is now', async () => {
    const { tenant, token } = await newTenant()
    const [ada, bob] = await addContacts(tenant, 'Ada', 'Bob')
    await tenant.add('contacts', [sampleContact('A-1', { name: 'Cyd', hideContact: true })])
    await rename(token, ada?.id, 'Adele')
    assert.equal((await service.call('DELETE', `/contacts/${bob?.id}`, { token })).status, 200)
    const { items } = await read(token, '?resources=contacts')
    assert.deepEqual(
      items.map(({ record }) => record?.name),
      ['Cyd', 'Adele', 'Bob'],
    )
  })

  test('tell of a record that is gone for good, without a word of what it was', async () => {
    const { tenant, token } = await newTenant()
    const [ada] = await tenant.add('contacts', [sampleContact('A-1', { externalId: 'E-1' })])
    const { cursor } = await read(token)
    await eraseContact(service.database.forTenant(tenant.id), operator, String(ada?.id))
    const removed = { resource: 'contacts', id: ada?.id, externalId: null, change: 'removed', record: null }
    assert.deepEqual((await read(token, `?after=${cursor}`)).items, [removed])
    assert.deepEqual((await read(token, '?resources=contacts')).items, [removed])
  })

  test('come in pages of any size, whatever is written meanwhile', async () => {
    const { tenant, token } = await newTenant()
    const [ada] = await addContacts(tenant, 'Ada', 'Bob', 'Cyd')
    const first = await read(token, '?limit=2')
    assert.deepEqual([namesOf(first), first.hasMore], [[undefined, 'Ada'], true])
    await rename(token, ada?.id, 'Adele')
    const second = await read(token, `?limit=2&after=${first.cursor}`)
    assert.deepEqual([namesOf(second), second.hasMore], [['Bob', 'Cyd'], true])
    const third = await read(token, `?limit=2&after=${second.cursor}`)
    assert.deepEqual([namesOf(third), third.hasMore], [['Adele'], false])
  })

  test('of a write that changed nothing are none', async () => {
    const { tenant, token } = await newTenant()
    const [ada] = await addContacts(tenant, 'Ada')
    const { cursor } = await read(token)
    await rename(token, ada?.id, 'Ada')
    assert.deepEqual((await read(token, `?after=${cursor}`)).items, [])
  })
})

describe('the lists that are asked for', () => {
  test('are those that the token may read, also where the same was read by another', async () => {
    const { tenant, token } = await newTenant()
    await addContacts(tenant, 'Ada')
    const narrow = await tenant.serviceToken(['accounts:read', 'contacts:write'])
    assert.equal((await read(token)).items.length, 2)
    assert.deepEqual(
      (await read(narrow)).items.map(({ resource }) => resource),
      ['accounts'],
    )
    assertProblem(await service.call('GET', '/changes?resources=contacts', { token: narrow }), 'insufficient_scope')
    assert.equal((await read(token, '?resources=contacts')).items.length, 1)
    assertProblem(await service.call('GET', '/changes?resources=contacts', { token: narrow }), 'insufficient_scope')
  })

  test('must be lists that can be read', async () => {
    const { token } = await newTenant()
    for (const asked of ['contact', 'task', '', 'contacts,,accounts', 'heads']) {
      const answer = await service.call('GET', `/changes?resources=${asked}`, { token })
      assertProblem(answer, 'invalid_parameter', [{ parameter: 'resources' }])
    }
  })

  test('may be others at each call, and what a cursor does not know begins at its beginning', async () => {
    const { tenant, token } = await newTenant()
    await addContacts(tenant, 'Ada')
    const { cursor } = await read(token, '?resources=contacts')
    const both = await read(token, `?resources=contacts,accounts&after=${cursor}`)
    assert.deepEqual(
      both.items.map(({ resource }) => resource),
      ['accounts'],
    )
    assert.deepEqual((await read(token, `?after=${both.cursor}`)).items, [])
  })
})

/** What becomes of a list when its database is restored to before the work, which adds contacts. */
const whichIsLost = async <T>({ id }: TestTenant, work: () => Promise<T>): Promise<T> => {
  await service.owner.query('create table saved_heads as select * from heads')
  const done = await work()
  for (const table of ['contacts', 'search_texts'])
    await service.owner.query(
      `delete from ${table} where tenant_id = $1 and position > (
        select last from saved_heads where tenant_id = $1 and resource = 'contacts')`,
      [id],
    )
  await service.owner.query('truncate heads; insert into heads select * from saved_heads; drop table saved_heads')
  return done
}

describe('a cursor', () => {
  test('is refused when it was changed, or is of another tenant', async () => {
    const [own, other] = [await newTenant(), await newTenant()]
    const { cursor } = await read(own.token)
    const tampered = (cursor.startsWith('A') ? 'B' : 'A') + cursor.slice(1)
    for (const after of [tampered, `${cursor}A`, '', 'AAAA', (await read(other.token)).cursor])
      assertInvalidCursor(await service.call('GET', `/changes?after=${after}`, { token: own.token }))
  })

  test('of what a restored database has lost is refused for good, and one of what it has kept goes on', async () => {
    const { tenant, token } = await newTenant()
    await addContacts(tenant, 'Ada', 'Bob')
    const kept = await read(token)
    const lost = await whichIsLost(tenant, async () => {
      await addContacts(tenant, 'Lost', 'Lost, too')
      return read(token)
    })
    assertInvalidCursor(await service.call('GET', `/changes?after=${lost.cursor}`, { token }))
    await addContacts(tenant, 'New', 'Newer', 'Newest')
    assertInvalidCursor(await service.call('GET', `/changes?after=${lost.cursor}`, { token }))
    assert.deepEqual(namesOf(await read(token, `?after=${kept.cursor}`)), ['New', 'Newer', 'Newest'])
  })
})

describe('a walk', () => {
  /** The path of the link below the base path. */
  const changesIn = ({ headers }: CallResponse) => {
    const links = (headers.get('link') ?? '').split(', ').filter((link) => link.endsWith(`; rel="${changesRelation}"`))
    return links.map((link) => /^<[^>]*(\/changes[^>]*)>/.exec(link)?.[1])[0]
  }

  test('ends with a link to what has changed since its first page', async () => {
    const { tenant, token } = await newTenant()
    const [ada] = await addContacts(tenant, 'Ada', 'Bob', 'Cyd', 'Dan', 'Eve')
    const first = await service.call('GET', '/contacts?pageSize=2', { token })
    assert.equal(changesIn(first), undefined)
    await rename(token, ada?.id, 'Adele')
    let page = first
    for (let next = linksOf(page.headers).next; next; next = linksOf(page.headers).next) {
      page = await service.call('GET', next, { token })
      assert.equal(changesIn(page) === undefined, linksOf(page.headers).next !== undefined)
    }
    await addContacts(tenant, 'Fay')
    const { body } = await service.call('GET', changesIn(page) ?? '', { token })
    assert.deepEqual(namesOf(body), ['Adele', 'Fay'])
  })

  test('of a page that a restored database shows as before leads on from what that has', async () => {
    const { tenant, token } = await newTenant()
    await addContacts(tenant, 'Kept')
    const readPage = () => service.call('GET', '/contacts?search=kept', { token })
    const before = await whichIsLost(tenant, async () => {
      await addContacts(tenant, 'Lost')
      return readPage()
    })
    const again = await readPage()
    assert.equal(again.text, before.text)
    await addContacts(tenant, 'New')
    const followed = await service.call('GET', changesIn(again) ?? '', { token })
    assert.deepEqual([followed.status, namesOf(followed.body)], [200, ['New']])
  })

  test('that does not begin with the first page has no such link', async () => {
    const { tenant, token } = await newTenant()
    await addContacts(tenant, 'Ada', 'Bob', 'Cyd')
    const last = await service.call('GET', '/contacts?pageSize=2&page=2', { token })
    assert.deepEqual([last.body.items.length, changesIn(last)], [1, undefined])
  })

  test('of one page, of none and by a search does so as well', async () => {
    const { tenant, token } = await newTenant()
    const links: string[] = []
    const walk = async (path: string) => links.push(changesIn(await service.call('GET', path, { token })) ?? '')
    await walk('/contacts')
    await addContacts(tenant, 'Ada')
    const seen: (string | undefined)[][] = []
    await walk('/contacts')
    await walk('/contacts?search=nobody')
    await walk('/contacts?accountId=A-1&includeHidden=true')
    await walk('/contacts?accountId=unknown')
    await addContacts(tenant, 'Bob')
    for (const link of links) seen.push(namesOf((await service.call('GET', link, { token })).body))
    assert.deepEqual(seen, [['Ada', 'Bob'], ['Bob'], ['Bob'], ['Bob'], ['Bob']])
  })
})
