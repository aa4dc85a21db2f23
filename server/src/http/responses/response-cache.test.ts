import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startServing, until } from '../../../test/processes/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../../test/records/sample-records.ts'
import { decoders } from '../../../test/requests/raw-connection.ts'
import { callAt, linksOf, type Service, secret, startService, type TestTenant } from '../../../test/service.ts'
import { serviceRole } from '../../database/connections/address.ts'
import { openDatabase } from '../../database/database.ts'
import { versionsFrom } from '../../database/versions.ts'
import { hashToken } from '../../identity/token-format.ts'
import { getRecord } from '../../records/identifiers.ts'
import { lockHead, writeRecords } from '../../records/writes/write.ts'
import { bodyOf } from './encoding.ts'
import { ResponseCache } from './response-cache.ts'

/** Two nodes on one database: one in this process, and one in a process of its own. */
type Node = Pick<Service, 'call'>
const here = await startService()
const serving = await startServing(['--port', '0', '--no-work'], {
  DATABASE_URL: here.connectionString,
  MASTHEAD_SECRET: secret,
  RATE_LIMIT: 'off',
})
after(() => serving.kill())
const there: Node = { call: (...sent) => callAt(serving.announced.url, ...sent) }

const furnished = async () => {
  const tenant = await here.newTenant()
  await tenant.add('accounts', [sampleAccount('C-1')])
  const contacts = await tenant.add('contacts', [sampleContact('C-1', { name: '0' })])
  const token = await tenant.serviceToken()
  const id = String(contacts[0]?.id)
  const write = async ({ call }: Node, name: string) => {
    const answer = await call('PATCH', `/contacts/${id}`, { token, body: { accountId: 'C-1', name } })
    assert.equal(answer.status, 200, answer.text)
  }
  const paths = [`/contacts/${id}`, '/contacts', '/contacts?accountId=C-1&pageSize=1', '/contacts?search=ada']
  const read = async ({ call }: Node, path = paths[0] ?? '', headers = {}): Promise<string> => {
    const { body, status, text } = await call('GET', path, { token, headers })
    assert.equal(status, 200, text)
    return (body.items?.[0] ?? body).name
  }
  return { tenant, token, id, paths, write, read }
}

test('a page whose bytes stay the same gets the link to a page that follows by now', async () => {
  const tenant = await here.newTenant()
  const token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('L-1')])
  const [first] = await tenant.add(
    'contacts',
    [1, 2, 3].map(() => sampleContact('L-1')),
  )
  let last = '/contacts?pageSize=1'
  const get = () => here.call('GET', last, { token })
  for (let page = 1; page < 3; page++) last = linksOf((await get()).headers).next ?? ''
  const before = await get()
  assert.equal(linksOf(before.headers).next, undefined)
  assert.equal((await here.call('DELETE', `/contacts/${first?.id}`, { token })).status, 200)
  assert.equal((await here.call('POST', '/contacts', { token, body: { accountId: 'L-1' } })).status, 201)
  const later = await get()
  assert.equal(later.text, before.text)
  assert.ok(linksOf(later.headers).next)
})

describe('an answer from memory', () => {
  test('shows what the same node wrote, at once', async () => {
    const { write, read, paths } = await furnished()
    for (let count = 1; count <= 20; count++) {
      for (const path of paths) await read(here, path)
      await write(here, String(count))
      for (const path of paths) assert.equal(await read(here, path), String(count), path)
    }
  })

  test('shows what another node wrote, at once', async () => {
    const { write, read, paths } = await furnished()
    for (let count = 1; count <= 50; count++) {
      const [writer, reader] = count % 2 ? [here, there] : [there, here]
      for (const path of paths) await read(reader, path)
      await write(writer, String(count))
      for (const path of paths) assert.equal(await read(reader, path), String(count), path)
    }
  })

  test('shows at its commit what a transaction wrote that was open for long', async () => {
    const { tenant, id, read, paths } = await furnished()
    const other = openDatabase({ connectionString: here.connectionString, role: serviceRole })
    after(() => other.close())
    await other.forTenant(tenant.id).transaction(async (query) => {
      await lockHead(query, 'contacts')
      const { record: before } = await getRecord(query, 'contacts', id)
      await writeRecords(query, 'contacts', [{ before, after: { ...before, name: 'late' }, author: null }])
      for (let turn = 0; turn < 8; turn++) {
        await here.newTenant()
        for (const path of paths) assert.equal(await read(here, path), '0')
      }
    })
    for (const path of paths) assert.equal(await read(here, path), 'late', path)
  })

  test('is not given for another source of the same number, such as a table that was restored', async () => {
    const { tenant } = await furnished()
    const askVersions = versionsFrom(here.database.readVersions, 0)
    const before = await askVersions(tenant.id)
    await here.owner.query(`
      begin; create table copied (like heads including all); insert into copied select * from heads;
      alter table heads rename to former_heads; alter table copied rename to heads; commit`)
    const restored = await askVersions(tenant.id)
    await here.owner.query(
      'begin; alter table heads rename to copied; alter table former_heads rename to heads; drop table copied; commit',
    )
    assert.equal(before.records.split(' ').at(-1), restored.records.split(' ').at(-1))
    assert.notEqual(before.records, restored.records)
    assert.notEqual(before.identity, restored.identity)
  })

  test('is compared with the version of its own tenant, however many are asked for together', async () => {
    const tenants = await Promise.all(Array.from({ length: 10 }, () => here.newTenant()))
    // Each has as many as stand before it, so another version.
    const accounts = tenants.map((_tenant, number) => sampleAccount(`C-${number}`))
    await Promise.all(tenants.slice(1).map((tenant, index) => tenant.add('accounts', accounts.slice(0, index + 1))))
    const askVersions = versionsFrom(here.database.readVersions, 0)
    const expected = tenants.map((_tenant, index) => `${index}`)
    const versionOf = async ({ id }: TestTenant) => (await askVersions(id)).records.split(' ').at(-1)
    assert.deepEqual(await Promise.all(tenants.map(versionOf)), expected)
    for (const [index, tenant] of tenants.entries()) assert.equal(await versionOf(tenant), expected[index])
  })

  test('is passed by for whoever sends `Cache-Control: no-cache`', async () => {
    const { write, read, paths } = await furnished()
    for (let count = 1; count <= 10; count++) {
      for (const path of paths) await read(here, path)
      await write(there, String(count))
      for (const path of paths) assert.equal(await read(here, path, { 'cache-control': 'No-Cache' }), String(count))
    }
  })

  test('is never given while nobody can tell what is current', async (context) => {
    const { token, read, paths } = await furnished()
    for (const path of paths) await read(here, path)
    await here.owner.query('alter table identity_revision rename to hidden_revision')
    context.after(() => here.owner.query('alter table hidden_revision rename to identity_revision'))
    for (const path of paths) assert.equal((await here.call('GET', path, { token })).status, 500)
  })

  test('may be as old as the operator allows, and no older', async () => {
    const { write, read } = await furnished()
    const lax = await startService({ connectionString: here.connectionString, cacheMilliseconds: 600 })
    let older = 0
    for (let count = 1; count <= 5; count++) {
      await read(lax)
      await write(here, String(count))
      const written = performance.now()
      if ((await read(lax)) !== String(count)) older++
      await delay(written + 600 - performance.now())
      assert.equal(await read(lax), String(count))
    }
    assert.ok(older > 0)
  })

  test('does not outlive the right to read it', async () => {
    const { tenant, token, read } = await furnished()
    for (const node of [here, there]) await read(node)
    const another = await here.newTenant()
    const stranger = await another.serviceToken()
    const narrow = await tenant.serviceToken(['accounts:read'])
    assert.equal((await here.call('GET', '/contacts', { token })).body.total, 1)
    assert.equal((await here.call('GET', '/contacts', { token: stranger })).body.total, 0)
    assert.equal((await here.call('GET', '/contacts', { token: narrow })).status, 403)
    await here.owner.query('update access_tokens set revoked_at = now() where tenant_id = $1', [tenant.id])
    await here.owner.query('select stamp_identity()')
    for (const node of [here, there]) assert.equal((await node.call('GET', '/contacts', { token })).status, 401)
  })

  test('is never older than what was answered before, while both nodes write and read as they like', async () => {
    const { write, read, paths } = await furnished()
    const nodes = [here, there]
    let [next, answered] = [1, 0]
    /** Writes come one after another, so that a larger number is a later one. */
    const writing = async () => {
      for (; next <= 300; next++) {
        await write(next % 3 === 0 ? here : there, String(next))
        answered = next
      }
    }
    const reading = async (node: Node, path: string) => {
      while (next <= 300) {
        const least = answered
        const seen = Number(await read(node, path))
        assert.ok(seen >= least, `${path} showed ${seen} after ${least} was answered`)
      }
    }
    await Promise.all([writing(), ...nodes.flatMap((node) => paths.map((path) => reading(node, path)))])
  })
})

describe('what is read while the database is asked whether the token is still good', () => {
  test('is asked for at the same time', async (context) => {
    const { id, token, read } = await furnished()
    await read(here)
    await here.owner.query('begin; lock identity_revision; lock contacts')
    context.after(() => here.owner.query('rollback'))
    const answer = here.call('GET', `/contacts/${id}?`, { token })
    const waiting = `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await until('two statements wait', async () => (await here.owner.query(waiting)).rows[0].count >= 2)
    await here.owner.query('commit')
    assert.equal((await answer).status, 200)
  })

  test('is given to nobody whose token has ended, or who may see it no longer', async () => {
    const { tenant, id, token, read } = await furnished()
    const narrow = await tenant.serviceToken(['contacts:read', 'accounts:read'])
    await read(here)
    const get = async (path: string, by: string) => (await here.call('GET', path, { token: by })).status
    assert.equal(await get('/accounts', narrow), 200)
    const change = async (what: string, whose: string) => {
      await here.owner.query(`update access_tokens set ${what} where secret_hash = $1`, [hashToken(whose)])
      await here.owner.query('select stamp_identity()')
    }
    await change(`scopes = '{accounts:read}'`, narrow)
    await change('revoked_at = now()', token)
    for (const path of [`/contacts/${id}?`, '/contacts?pageSize=7', '/contacts?search=ada', '/contacts?pageSize=no'])
      assert.deepEqual([await get(path, token), await get(path, narrow)], [401, 403], path)
  })

  test('is refused as ever where the request is wrong, and counted as ever', async () => {
    const { token, read } = await furnished()
    await read(here)
    const status = async (path: string) => (await here.call('GET', path, { token })).status
    assert.deepEqual(
      [await status('/contacts?pageSize=no'), await status('/contacts/none'), await status('/nowhere')],
      [400, 404, 404],
    )
  })

  test('is never older than what was answered before, at an address that nobody has asked for', async () => {
    const { write, read } = await furnished()
    const nodes = [here, there]
    for (let count = 1; count <= 40; count++) {
      const [writer = here, reader = here] = count % 2 ? nodes : nodes.toReversed()
      const path = `/contacts?accountId=C-1&pageSize=${count}`
      const [early] = await Promise.all([read(reader, path), write(writer, String(count))])
      assert.ok(Number(early) === count - 1 || Number(early) === count)
      assert.equal(await read(reader, path), String(count))
      assert.equal(await read(writer, path), String(count))
    }
  })
})

describe('the response cache', () => {
  const plain = (length: number) => ({ status: 200, headers: {}, body: bodyOf(Buffer.from('x'.repeat(length))) })
  const keep = (cache: ResponseCache, tenantId: string, url: string, length = 500, version = '1') =>
    cache.keep({ tenantId, url, source: '', version, next: null }, plain(length).body, () => plain(length))

  test('has the headers of today where the next page begins elsewhere, though the bytes are the same', () => {
    const cache = new ResponseCache()
    const keepAt = (version: string, next: number) => {
      const made = () => ({ ...plain(500), headers: { link: `after ${next}` } })
      const read = { tenantId: 'tenant', url: '/', source: '', version, next }
      return cache.keep(read, plain(500).body, made).plain.headers.link
    }
    assert.deepEqual([keepAt('1', 2), keepAt('2', 5), keepAt('3', 5)], ['after 2', 'after 5', 'after 5'])
  })

  /** What is made for the first time is kept where there is room, and for the second time where there is none. */
  const keepTwice = (cache: ResponseCache, tenantId: string, url: string) => {
    keep(cache, tenantId, url)
    keep(cache, tenantId, url)
  }

  test('holds no more bytes than it may, of which the least recent go', () => {
    const most = 2_000_000
    const cache = new ResponseCache(most)
    for (let number = 0; number < 20_000; number++) {
      keepTwice(cache, 'tenant', `/${number}`)
      assert.ok(cache.load().bytes <= most)
    }
    assert.ok(cache.load().responses > 100)
    assert.equal(cache.find('tenant', '/0', '1'), null)
    assert.ok(cache.find('tenant', '/19999', '1'))
  })

  test('does not keep the larger buffer of which a body is a part', () => {
    const body = Buffer.alloc(100_000, 'x').subarray(0, 20_000)
    const make = () => ({ status: 200, headers: {}, body })
    const { plain } = new ResponseCache().keep(
      { tenantId: 'tenant', url: '/', source: '', version: '1', next: null },
      body,
      make,
    )
    assert.deepEqual(plain.body, body)
    assert.equal(Buffer.isBuffer(plain.body) && plain.body.buffer.byteLength, body.length)
  })

  test('keeps what is asked for again and again, while others come and go', () => {
    const cache = new ResponseCache(2_000_000)
    const names = ['/again', ...Array.from({ length: 5_000 }, (_, number) => `/${number}`)]
    for (const name of names) {
      keepTwice(cache, 'one', name)
      assert.ok(cache.find('one', '/again', '1'), name)
    }
    assert.deepEqual([cache.find('one', '/0', '1'), cache.find('one', '/4999', '1')?.url], [null, '/4999'])
  })

  test('lets nothing go for who walks through a list once, but for others who come again', () => {
    const cache = new ResponseCache(200_000)
    for (let number = 0; number < 1_000; number++) keep(cache, 'walker', `/${number}`)
    const { responses } = cache.load()
    assert.ok(responses > 50 && responses < 200, `${responses}`)
    for (let number = 0; number < responses; number++) assert.ok(cache.find('walker', `/${number}`, '1'))
    for (let time = 0; time < 2; time++) for (let number = 0; number < 20; number++) keep(cache, 'others', `/${number}`)
    for (let number = 0; number < 20; number++) assert.ok(cache.find('others', `/${number}`, '1'))
  })

  test('keeps a part of more than it holds, where all of it is asked for in turn again and again', () => {
    const cache = new ResponseCache(200_000)
    const names = Array.from({ length: 200 }, (_, number) => `/${number}`)
    const askForAll = () => {
      let found = 0
      for (const name of names)
        if (cache.find('one', name, '1')) found++
        else keep(cache, 'one', name)
      return found
    }
    for (let time = 0; time < 10; time++) askForAll()
    const { responses } = cache.load()
    assert.ok(responses < names.length)
    assert.equal(askForAll(), responses)
  })

  test('is not filled by one tenant alone', () => {
    const cache = new ResponseCache(200_000)
    for (const url of ['/1', '/2', '/3']) keep(cache, 'quiet', url)
    for (let number = 0; number < 1_000; number++) keepTwice(cache, 'loud', `/${number}`)
    for (const url of ['/1', '/2', '/3']) assert.ok(cache.find('quiet', url, '1'))
  })

  test('keeps an answer in each encoding in which it was asked for', async () => {
    const cache = new ResponseCache()
    const known = keep(cache, 'tenant', '/', 5_000)
    const bytes = cache.load().bytes
    for (const encoding of ['gzip', 'br', 'zstd'] as const) {
      assert.equal(known.encoded[encoding], undefined)
      const made = await cache.encodedIn(known, encoding)
      assert.equal(known.encoded[encoding], made)
    }
    assert.ok(cache.load().bytes > bytes)
  })

  test('gives nothing of another version, but knows by its bytes what is read again', () => {
    const cache = new ResponseCache()
    const known = keep(cache, 'tenant', '/')
    assert.equal(cache.find('tenant', '/', '2'), null)
    assert.equal(cache.find('other', '/', '1'), null)
    assert.equal(keep(cache, 'tenant', '/', 500, '2'), known)
    assert.deepEqual([cache.find('tenant', '/', '1'), cache.find('tenant', '/', '2')], [null, known])
    assert.notEqual(keep(cache, 'tenant', '/', 501, '3'), known)
    assert.deepEqual([cache.find('tenant', '/', '2'), cache.load().responses], [null, 1])
  })
})

describe('a body', async () => {
  const { tenant, token } = await furnished()
  await tenant.add(
    'contacts',
    Array.from({ length: 20 }, () => sampleContact('C-1')),
  )

  /** Undecoded, as fetch would not give it. */
  const get = async (path: string, headers: Record<string, string>) => {
    const { request } = await import('node:http')
    return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
      request(`${here.origin}/customer-api/v1${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } })
        .on('error', reject)
        .on('response', (response) => {
          const chunks: Buffer[] = []
          response
            .on('data', (chunk) => chunks.push(chunk))
            .on('end', () =>
              resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
            )
        })
        .end()
    })
  }

  test('above 1 KiB is compressed as the caller likes it most, and is the same when it is unpacked', async () => {
    const plain = await get('/contacts', {})
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(plain.headers.vary, 'Accept-Encoding')
    const wishes: [header: string, encoding: string | undefined][] = [
      ['zstd', 'zstd'],
      ['br', 'br'],
      ['gzip, deflate', 'gzip'],
      ['gzip, deflate, br, zstd', 'zstd'],
      ['gzip;q=1.0, br;q=0.5', 'gzip'],
      ['*', 'zstd'],
      ['*;q=0.1, gzip', 'gzip'],
      ['br;q=0, gzip;q=0', undefined],
      ['identity;q=1, gzip;q=0.5', undefined],
      ['deflate, compress', undefined],
      ['', undefined],
      [';;q=x,', undefined],
    ]
    for (let round = 0; round < 2; round++) {
      for (const [header, encoding] of wishes) {
        const { headers, body } = await get('/contacts', { 'accept-encoding': header })
        assert.equal(headers['content-encoding'], encoding, header)
        assert.equal(headers['content-length'], String(body.length))
        const unpacked = decoders[encoding ?? '']?.(body) ?? body
        assert.ok(unpacked.equals(plain.body), header)
        if (encoding) assert.ok(body.length < plain.body.length / 2)
      }
    }
  })

  test('below 1 KiB stays as it is', async () => {
    const { headers } = await get('/contacts?pageSize=1', { 'accept-encoding': 'gzip' })
    assert.equal(headers['content-encoding'], undefined)
  })

  test('has the letters of every language, however long it is, and whether it is read or cached', async () => {
    const [contact] = (await here.call('GET', '/contacts', { token })).body.items
    const path = `/contacts/${contact.id}`
    const write = (notes: string) => here.call('PATCH', path, { token, body: { accountId: 'C-1', notes } })
    const letters = 'Müller 日本 🎈'
    assert.equal((await write(letters)).status, 200)
    const others = (await get(path, {})).body.length - Buffer.byteLength(letters)
    for (const length of [600, 1_500, 8_191, 8_192, 9_000]) {
      const notes = letters.padEnd(length - others - Buffer.byteLength(letters) + letters.length, 'x')
      assert.equal((await write(notes)).status, 200)
      for (const encoding of ['identity', 'gzip', 'br', 'zstd', 'identity', 'gzip', 'br', 'zstd']) {
        const { headers, body } = await get(path, { 'accept-encoding': encoding })
        const plain = decoders[String(headers['content-encoding'])]?.(body) ?? body
        assert.deepEqual([plain.length, JSON.parse(String(plain)).notes], [length, notes], encoding)
      }
    }
  })

  test('has a tag in each encoding, and each names the version', async () => {
    const [contact] = (await here.call('GET', '/contacts', { token })).body.items
    await here.call('PATCH', `/contacts/${contact.id}`, { token, body: { accountId: 'C-1', notes: 'x'.repeat(2_000) } })
    const path = `/contacts/${contact.id}`
    const tags = new Set<string>()
    for (const encoding of ['identity', ...Object.keys(decoders)]) {
      const { headers } = await get(path, { 'accept-encoding': encoding })
      const tag = String(headers.etag)
      tags.add(tag)
      const again304 = await get(path, { 'if-none-match': tag, 'accept-encoding': encoding })
      assert.deepEqual([again304.status, again304.headers.etag], [304, tag])
      const other = await get(path, { 'if-none-match': tag, 'accept-encoding': encoding === 'br' ? 'gzip' : 'br' })
      assert.equal(other.status, 200)
      const again = await here.call('PATCH', path, { token, body: { accountId: 'C-1' }, headers: { 'if-match': tag } })
      assert.equal(again.status, 200)
    }
    assert.equal(tags.size, 4)
  })

  test('of a page links on, whatever encoding it came in', async () => {
    const first = await here.call('GET', '/contacts?pageSize=15', { token })
    const second = await here.call('GET', linksOf(first.headers).next ?? '', { token })
    assert.deepEqual([first.body.items.length, second.body.items.length], [15, 6])
  })
})
