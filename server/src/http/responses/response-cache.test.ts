import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startServing, until } from '../../../test/masthead-process.ts'
import { decoders } from '../../../test/raw-connection.ts'
import { sampleAccount, sampleContact } from '../../../test/sample-records.ts'
import { callAt, linksOf, type Service, secret, startService } from '../../../test/service.ts'
import { serviceRole } from '../../database/connection.ts'
import { openDatabase } from '../../database/database.ts'
import { clock, Revisions } from '../../database/revisions.ts'
import { getRecord } from '../../records/identifiers.ts'
import { lockHead, writeRecords } from '../../records/write.ts'
import { ResponseCache } from './response-cache.ts'

/** Two nodes on one database: one in this process, and one in a process of its own. */
type Node = Pick<Service, 'call'>
const here = await startService()
const serving = await startServing(['--port', '0', '--no-work'], {
  ...{ DATABASE_URL: here.connectionString, MASTHEAD_SECRET: secret, RATE_LIMIT: 'off' },
})
after(() => serving.kill())
const there: Node = { call: (...sent) => callAt(serving.announced.url, ...sent) }
const guaranteedMilliseconds = 1_000

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

describe('an answer from memory', () => {
  test('shows what the same node wrote, at once', async () => {
    const { write, read, paths } = await furnished()
    for (let count = 1; count <= 20; count++) {
      for (const path of paths) await read(here, path)
      await write(here, String(count))
      for (const path of paths) assert.equal(await read(here, path), String(count), path)
    }
  })

  test('shows within a second what another node wrote, and may be older before', async () => {
    const { write, read, paths } = await furnished()
    let older = 0
    for (let count = 1; count <= 10 || (older === 0 && count <= 100); count++) {
      for (const path of paths) await read(here, path)
      await write(there, String(count))
      const written = Date.now()
      if ((await read(here)) !== String(count)) older++
      await delay(written + guaranteedMilliseconds - Date.now())
      for (const path of paths) assert.equal(await read(here, path), String(count), path)
    }
    // Otherwise nothing was in memory, and this test has shown nothing.
    assert.ok(older > 0)
  })

  test('shows within a second what a transaction wrote that was open for longer', async () => {
    const { tenant, id, read, paths } = await furnished()
    const other = openDatabase(here.connectionString, serviceRole)
    after(() => other.close())
    await other.forTenant(tenant.id).transaction(async (query) => {
      await lockHead(query, 'contacts')
      const { record: before } = await getRecord(query, 'contacts', id)
      await writeRecords(query, 'contacts', [{ before, after: { ...before, name: 'late' }, author: null }])
      // While other nodes ask several times.
      for (let turn = 0; turn < 8; turn++) {
        await here.newTenant()
        await delay(100)
      }
      for (const path of paths) assert.equal(await read(here, path), '0')
    })
    const written = Date.now()
    await delay(written + guaranteedMilliseconds - Date.now())
    for (const path of paths) assert.equal(await read(here, path), 'late', path)
  })

  test('is not kept over a connection that was lost, for nobody knows what another server holds', async () => {
    const { tenant, read } = await furnished()
    await read(here)
    const { revisions } = here.database
    const before = revisions.of(tenant.id)
    await here.owner.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await until('it counts no longer', () => revisions.of(tenant.id) !== before)
  })

  test('that was kept before it was known what others write is not given afterwards', async () => {
    const { write, read, paths } = await furnished()
    await here.owner.query('alter table identity_revision rename to hidden_revision')
    const late = await startService({ connectionString: here.connectionString })
    for (const path of paths) assert.equal(await read(late, path), '0')
    await write(there, '1')
    await here.owner.query('alter table hidden_revision rename to identity_revision')
    await until('revisions are known', () => late.database.revisions.areKnown)
    for (const path of paths) assert.equal(await read(late, path), '1', path)
  })

  test('is passed by for whoever sends `Cache-Control: no-cache`', async () => {
    const { write, read, paths } = await furnished()
    for (let count = 1; count <= 10; count++) {
      for (const path of paths) await read(here, path)
      await write(there, String(count))
      for (const path of paths) assert.equal(await read(here, path, { 'cache-control': 'No-Cache' }), String(count))
    }
  })

  test('is never given while nobody can tell what other nodes wrote', async (context) => {
    const { write, read, paths } = await furnished()
    await here.owner.query('alter table identity_revision rename to hidden_revision')
    context.after(() => here.owner.query('alter table hidden_revision rename to identity_revision'))
    await delay(guaranteedMilliseconds)
    for (let count = 1; count <= 10; count++) {
      for (const path of paths) await read(here, path)
      await write(there, String(count))
      for (const path of paths) assert.equal(await read(here, path), String(count), path)
    }
  })

  test('does not outlive the right to read it', async () => {
    const { tenant, token, read } = await furnished()
    await read(here)
    const another = await here.newTenant()
    const stranger = await another.serviceToken()
    const narrow = await tenant.serviceToken(['accounts:read'])
    assert.equal((await here.call('GET', '/contacts', { token })).body.total, 1)
    assert.equal((await here.call('GET', '/contacts', { token: stranger })).body.total, 0)
    assert.equal((await here.call('GET', '/contacts', { token: narrow })).status, 403)
    await here.owner.query('update access_tokens set revoked_at = now() where tenant_id = $1', [tenant.id])
    await here.owner.query('select stamp_identity()')
    await until('it is refused', async () => (await here.call('GET', '/contacts', { token })).status === 401)
  })

  test('is never older than is guaranteed, while both nodes write and read as they like', async () => {
    const { write, read, paths } = await furnished()
    /** What was answered, when, and by which node, in order. */
    const answered: { value: number; at: number; by: Node }[] = [{ value: 0, at: 0, by: here }]
    let next = 1
    let turn = Promise.resolve()
    /** Writes come one after another, so that a larger number is a later one. */
    const writing = async (until: number) => {
      while (Date.now() < until) {
        // One node alone for so long that what the other shows is no longer moved by its own writes.
        const node = Math.floor(Date.now() / 1_500) % 2 === 0 ? here : there
        turn = turn.then(async () => {
          const value = next++
          await write(node, String(value))
          answered.push({ value, at: Date.now(), by: node })
        })
        await turn
        await delay(Math.random() * 30)
      }
    }
    const reading = async (node: Node, path: string, until: number) => {
      while (Date.now() < until) {
        const began = Date.now()
        const least = Math.max(
          ...answered
            .filter(({ at, by }) => at <= began - (by === node ? 0 : guaranteedMilliseconds))
            .map(({ value }) => value),
        )
        const seen = Number(await read(node, path))
        assert.ok(seen >= least, `${path} showed ${seen}, but ${least} was guaranteed`)
        await delay(Math.random() * 5)
      }
    }
    const end = Date.now() + 6_000
    await Promise.all([
      ...[1, 2].map(() => writing(end)),
      ...[here, there].flatMap((node) => paths.map((path) => reading(node, path, end))),
    ])
    assert.ok(new Set(answered.map(({ by }) => by)).size === 2 && next > 10)
  })
})

describe('the memory of answers', () => {
  const revisions = new Revisions()
  const plain = (length: number) => ({ status: 200, headers: {}, body: Buffer.from('x'.repeat(length)) })

  test('holds no more bytes than it may, of which the least recent go', () => {
    const most = 2_000_000
    const cache = new ResponseCache(revisions, most)
    for (let number = 0; number < 20_000; number++) {
      cache.keep('tenant', `/${number}`, 0, plain(500))
      assert.ok(cache.load().bytes <= most)
    }
    assert.ok(cache.load().responses > 100)
    revisions.noteKnown(clock())
    assert.equal(cache.find('tenant', '/0'), null)
    // Not a part of a larger buffer that would be kept with it.
    assert.equal(cache.find('tenant', '/19999')?.plain.body.buffer.byteLength, 500)
  })

  test('keeps what is asked for again and again, while others come and go', () => {
    const cache = new ResponseCache(revisions, 2_000_000)
    revisions.noteKnown(clock())
    const names = ['/again', ...Array.from({ length: 5_000 }, (_, number) => `/${number}`)]
    for (const name of names) {
      cache.keep('one', name, cache.revisionOf('one'), plain(500))
      assert.ok(cache.find('one', '/again'), name)
    }
    assert.deepEqual([cache.find('one', '/0'), cache.find('one', '/4999')?.url], [null, '/4999'])
  })

  test('is not filled by one tenant alone, nor with what was written to since', () => {
    const cache = new ResponseCache(revisions, 200_000)
    revisions.noteKnown(clock())
    for (const url of ['/1', '/2', '/3']) cache.keep('quiet', url, cache.revisionOf('quiet'), plain(500))
    for (let number = 0; number < 1_000; number++)
      cache.keep('loud', `/${number}`, cache.revisionOf('loud'), plain(500))
    for (const url of ['/1', '/2', '/3']) assert.ok(cache.find('quiet', url))
    revisions.move('loud')
    assert.equal(cache.find('loud', '/999'), null)
    assert.equal(cache.load().responses, 3)
  })

  test('keeps an answer in each encoding in which it was asked for', async () => {
    const cache = new ResponseCache(revisions)
    const known = cache.keep('tenant', '/', 0, plain(5_000))
    const bytes = cache.load().bytes
    for (const encoding of ['gzip', 'br', 'zstd'] as const) {
      assert.equal(known.encoded.get(encoding), undefined)
      const made = await cache.encodedIn(known, encoding)
      assert.equal(known.encoded.get(encoding), made)
    }
    assert.ok(cache.load().bytes > bytes)
  })

  test('knows what is read again by its bytes, as long as its tenant was not written to', () => {
    const cache = new ResponseCache(revisions)
    const revision = cache.revisionOf('third')
    const known = cache.keep('third', '/', revision, plain(500))
    assert.equal(cache.confirm('third', '/', revision, plain(500).body), known)
    assert.equal(cache.confirm('third', '/', revision, plain(501).body), null)
    assert.equal(cache.confirm('third', '/other', revision, plain(500).body), null)
    assert.equal(cache.confirm('fourth', '/', cache.revisionOf('fourth'), plain(500).body), null)
    revisions.move('third')
    for (const at of [revision, cache.revisionOf('third')])
      assert.equal(cache.confirm('third', '/', at, plain(500).body), null)
  })

  test('takes nothing whose tenant was written to while it was read', () => {
    const cache = new ResponseCache(revisions)
    const revision = cache.revisionOf('another')
    revisions.move('another')
    cache.keep('another', '/', revision, plain(500))
    assert.equal(cache.load().responses, 0)
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
