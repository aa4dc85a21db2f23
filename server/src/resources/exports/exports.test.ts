import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  basePath,
  comparisonsOf,
  exportLimits,
  filtersOf,
  listedNames,
  resources,
  type Scope,
} from '@masthead/contract'
import { parse } from 'csv-parse/sync'
import type { TSchema } from 'typebox'
import { operator } from '../../../src/audit/author.ts'
import { until } from '../../../test/processes/masthead-process.ts'
import { populatedTenant } from '../../../test/records/populated-tenant.ts'
import {
  sampleAccount,
  sampleContact,
  samplePublication,
  sampleSubscription,
} from '../../../test/records/sample-records.ts'
import { type CallResponse, startService, type TestTenant, walk } from '../../../test/service.ts'
import { startHousekeeping } from '../../jobs/housekeeping.ts'
import { chunkBytes, createExport } from '../../transfer/export/export-jobs.ts'
import { eraseContact } from '../contacts/erasure.ts'

const service = await startService()
/** Another node of the same installation. */
const otherNode = await startService({ connectionString: service.connectionString })

type Asked = Record<string, unknown> & { resources: string[] }

const ask = async (token: string, body: Asked, headers: Record<string, string> = {}): Promise<CallResponse> =>
  service.call('POST', '/exports', { token, body, headers })

const ended = async (token: string, id: string, node = service): Promise<CallResponse> => {
  const look = () => node.call('GET', `/exports/${id}`, { token })
  await until('the export has ended', async () => !['waiting', 'running'].includes((await look()).body.state))
  return look()
}

const done = async (token: string, body: Asked): Promise<CallResponse['body']> => {
  const asked = await ask(token, body)
  assert.equal(asked.status, 201, asked.text)
  const { body: job } = await ended(token, asked.body.id)
  assert.deepEqual([job.state, job.problem], ['done', null])
  return job
}

const fetchFile = async (
  token: string,
  id: string,
  name: string,
  headers: Record<string, string> = {},
  node = service,
) => {
  const response = await fetch(`${node.origin}${basePath}/exports/${id}/files/${name}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

const rowsOf = (bytes: Buffer): Record<string, string>[] => parse(bytes.toString('utf8'), { columns: true, bom: true })

type Filter = Record<string, string | boolean>

let tenant: TestTenant
let token = ''
before(async () => {
  tenant = await service.newTenant()
  token = await tenant.serviceToken()
  const [publication] = await tenant.add('publications', [samplePublication('P-1')])
  await tenant.add('accounts', [sampleAccount('A-1'), sampleAccount('A-2', { status: 'Lapsed' })])
  await tenant.add('contacts', [
    sampleContact('A-1', { name: 'Ada', notes: '=1+1' }),
    sampleContact('A-2', { name: 'Berta\n"B"' }),
    sampleContact('A-1', { name: 'Hidden', hideContact: true }),
  ])
  await tenant.add('subscriptions', [sampleSubscription('A-1', String(publication?.id))])
  // Whose records no file may hold.
  const stranger = await service.newTenant()
  await stranger.add('accounts', [sampleAccount('A-1')])
  await stranger.add('contacts', [sampleContact('A-1', { name: 'Stranger' })])
})

describe('an export', () => {
  test('holds what its lists show, in files of the formats of the command', async () => {
    const job = await done(token, { resources: ['contacts', 'accounts'] })
    assert.deepEqual(
      job.files.map(({ name, records }: { name: string; records: number }) => [name, records]),
      [
        ['contacts.csv', 2],
        ['accounts.csv', 2],
      ],
    )
    assert.deepEqual([job.records, job.expected], [4, 4])
    const { status, headers, bytes } = await fetchFile(token, job.id, 'contacts.csv')
    assert.deepEqual(
      [status, headers.get('content-type'), headers.get('content-disposition')],
      [200, 'text/csv; charset=utf-8', 'attachment; filename="contacts.csv"'],
    )
    assert.deepEqual(
      rowsOf(bytes).map(({ name }) => name),
      ['Ada', 'Berta\n"B"'],
    )
    assert.equal(bytes.length, job.files[0].bytes)
    assert.equal(createHash('sha256').update(bytes).digest('hex'), job.files[0].sha256)
    const ndjson = await done(token, { resources: ['contacts'], format: 'ndjson', gzip: true })
    const file = await fetchFile(token, ndjson.id, 'contacts.ndjson.gz')
    assert.equal(file.headers.get('content-type'), 'application/gzip')
    const lines = gunzipSync(file.bytes).toString('utf8').trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).name),
      ['Ada', 'Berta\n"B"'],
    )
  })

  test('takes the filters of its lists', async () => {
    const filters = { contacts: { accountId: 'A-1', includeHidden: true }, accounts: { status: 'LAPSED' } }
    const job = await done(token, { resources: ['contacts', 'accounts'], filters })
    assert.deepEqual(job.filters, filters)
    const names = async (file: string, field: string) =>
      rowsOf((await fetchFile(token, job.id, file)).bytes).map((row) => row[field])
    assert.deepEqual(await names('contacts.csv', 'name'), ['Ada', 'Hidden'])
    assert.deepEqual(await names('accounts.csv', 'accountId'), ['A-2'])
    const nothing = await done(token, { resources: ['contacts'], filters: { contacts: { accountId: "A'9" } } })
    assert.deepEqual([nothing.records, await namesIn(nothing.id)], [0, []])
  })

  const namesIn = async (id: string) => rowsOf((await fetchFile(token, id, 'contacts.csv')).bytes)

  test('holds with each filter what the list shows with it', async () => {
    const own = await populatedTenant(service)
    let compared = 0
    for (const resource of listedNames) {
      const sample: Record<string, unknown> = own.records[resources[resource].singular]
      const fields = new Map(comparisonsOf(resource).map(({ parameter, field }) => [parameter, field.name]))
      const given = Object.entries<TSchema>(filtersOf(resource).properties).flatMap(([parameter, schema]): Filter[] => {
        if (Object(schema).type === 'boolean') return [{ [parameter]: true }, { [parameter]: false }]
        const value = parameter === 'ids' ? sample.id : sample[fields.get(parameter) ?? parameter]
        return value === null || value === undefined ? [] : [{ [parameter]: String(value) }]
      })
      assert.ok(given.length > 1, resource)
      for (const filter of given) {
        const query = Object.entries(filter).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)[0]
        const listed = await walk(service, own.token, `/${resource}?${query}`)
        const job = await done(own.token, { resources: [resource], filters: { [resource]: filter }, format: 'ndjson' })
        const { bytes } = await fetchFile(own.token, job.id, `${resource}.ndjson`)
        const lines = bytes.toString('utf8').split('\n').filter(Boolean)
        const ids = (records: readonly { id?: unknown }[]) => records.map(({ id }) => id)
        assert.deepEqual(ids(lines.map((line) => JSON.parse(line))), ids(listed), `${resource}?${query}`)
        await service.call('DELETE', `/exports/${job.id}`, { token: own.token })
        compared += listed.length
      }
    }
    assert.ok(compared > 30)
  })

  test('for a spreadsheet has no formulas', async () => {
    const { id } = await done(token, { resources: ['contacts'], spreadsheet: true })
    const { bytes } = await fetchFile(token, id, 'contacts.csv')
    assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf])
    assert.equal(rowsOf(bytes)[0]?.notes, "'=1+1")
  })

  test('is refused where something is wrong, with the place', async () => {
    const refused = async (body: Asked, pointer: string) => {
      const answer = await ask(token, body)
      assert.deepEqual([answer.status, answer.body.errors?.[0]?.pointer], [422, pointer], answer.text)
    }
    await refused({ resources: [] }, '/resources')
    await refused({ resources: ['contacts', 'contacts'] }, '/resources')
    await refused({ resources: ['nothing'] }, '/resources/0')
    await refused({ resources: ['contacts'], format: 'xlsx' }, '/format')
    await refused({ resources: ['contacts'], format: 'ndjson', spreadsheet: true }, '/spreadsheet')
    await refused({ resources: ['contacts'], filters: { accounts: { status: 'x' } } }, '/filters/accounts')
    await refused({ resources: ['contacts'], filters: { contacts: { search: 'x' } } }, '/filters/contacts/search')
    await refused({ resources: ['contacts'], filters: { contacts: { page: 2 } } }, '/filters/contacts/page')
    await refused({ resources: ['contacts'], filters: { contacts: { accountId: 1 } } }, '/filters/contacts/accountId')
  })

  test('is made once for all requests with one Idempotency-Key', async () => {
    const own = await service.newTenant()
    const key = await own.serviceToken()
    const headers = { 'idempotency-key': 'once' }
    const [first, second] = [
      await ask(key, { resources: ['contacts'] }, headers),
      await ask(key, { resources: ['contacts'] }, headers),
    ]
    assert.deepEqual([first.body.id, second.headers.get('idempotency-replayed')], [second.body.id, 'true'])
    assert.equal((await ended(key, first.body.id)).body.state, 'done')
    assert.equal((await service.call('GET', '/exports', { token: key })).body.items.length, 1)
  })

  test('is of one moment: what is written later is in no file', async () => {
    const job = await done(token, { resources: ['accounts'] })
    await tenant.add('accounts', [sampleAccount(`L-${job.id.slice(-8)}`)])
    assert.equal(rowsOf((await fetchFile(token, job.id, 'accounts.csv')).bytes).length, job.records)
    assert.ok(job.asOf >= job.createdAt && job.asOf <= new Date().toISOString())
  })
})

describe('a token', () => {
  const only = (...scopes: Scope[]) => tenant.serviceToken(scopes)

  test('needs the scope to read every list of an export, when it is asked for and when it is downloaded', async () => {
    const contactsOnly = await only('contacts:read')
    const both = { resources: ['contacts', 'accounts'] }
    const refused = await ask(contactsOnly, both)
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_scope'])
    assert.match(refused.body.detail, /`accounts:read`/)
    const { id } = await done(token, both)
    for (const path of [`/exports/${id}`, `/exports/${id}/files/contacts.csv`]) {
      const answer = await service.call('GET', path, { token: contactsOnly })
      assert.deepEqual([answer.status, answer.body.code], [403, 'insufficient_scope'], path)
      assert.match(answer.body.detail, /`accounts:read`/)
    }
    assert.equal((await service.call('DELETE', `/exports/${id}`, { token: contactsOnly })).status, 403)
    const listed = await service.call('GET', '/exports', { token: contactsOnly })
    assert.ok(!listed.body.items.some((job: { id: string }) => job.id === id))
    assert.equal((await fetchFile(await only('contacts:read', 'accounts:read'), id, 'contacts.csv')).status, 200)
  })

  test('of another tenant finds nothing', async () => {
    const { id } = await done(token, { resources: ['contacts'] })
    const other = await (await service.newTenant()).serviceToken()
    for (const path of [`/exports/${id}`, `/exports/${id}/files/contacts.csv`])
      assert.equal((await service.call('GET', path, { token: other })).status, 404)
    assert.equal((await service.call('DELETE', `/exports/${id}`, { token: other })).status, 404)
    assert.deepEqual((await service.call('GET', '/exports', { token: other })).body.items, [])
    assert.equal((await fetchFile(token, id, 'contacts.csv')).status, 200)
  })
})

/** Of a tenant with several chunks of contacts. */
const large = async () => {
  const own = await service.newTenant()
  await own.add('accounts', [sampleAccount('A-1')])
  const notes = 'x'.repeat(1_000)
  const people = Array.from({ length: 1_000 }, (_, index) => sampleContact('A-1', { name: `No. ${index}`, notes }))
  const contacts = await own.add('contacts', people)
  return { tenant: own, token: await own.serviceToken(), contacts }
}

describe('a download', () => {
  test('goes on from any byte, on any node', async () => {
    const { token } = await large()
    const { id, files } = await done(token, { resources: ['contacts'] })
    const [{ bytes: size }] = files
    assert.ok(size > 3 * chunkBytes)
    const whole = await fetchFile(token, id, 'contacts.csv')
    assert.deepEqual([whole.bytes.length, whole.headers.get('accept-ranges')], [size, 'bytes'])
    const part = async (range: string, more: Record<string, string> = {}) =>
      fetchFile(token, id, 'contacts.csv', { range, ...more }, otherNode)
    for (const [from, to] of [
      [0, 1],
      [chunkBytes - 1, chunkBytes + 1],
      [chunkBytes, 2 * chunkBytes],
      [5, 3 * chunkBytes],
    ] as const) {
      const { status, headers, bytes } = await part(`bytes=${from}-${to - 1}`)
      assert.deepEqual([status, headers.get('content-range')], [206, `bytes ${from}-${to - 1}/${size}`])
      assert.ok(bytes.equals(whole.bytes.subarray(from, to)), `${from} to ${to}`)
    }
    const rest = await part(`bytes=${size - 10}-`)
    assert.ok(rest.bytes.equals(whole.bytes.subarray(size - 10)))
    const last = await part('bytes=-7')
    assert.ok(last.bytes.equals(whole.bytes.subarray(size - 7)))
    const farther = await part(`bytes=${size - 3}-${'9'.repeat(400)}`)
    assert.deepEqual([farther.status, farther.bytes.length], [206, 3])
    for (const from of [size, '9'.repeat(20)]) {
      const { status, headers, bytes } = await part(`bytes=${from}-`)
      assert.deepEqual([status, headers.get('content-range'), bytes.length], [416, `bytes */${size}`, 0])
    }
    for (const ignored of ['bytes=5-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'bytes=x'])
      assert.deepEqual([(await part(ignored)).status, ignored], [200, ignored])
    const etag = whole.headers.get('etag') ?? ''
    assert.equal((await part('bytes=0-0', { 'if-range': etag })).status, 206)
    assert.equal((await part('bytes=0-0', { 'if-range': '"another"' })).status, 200)
    assert.equal((await fetchFile(token, id, 'contacts.csv', { 'if-none-match': etag })).status, 304)
    const head = await service.call('HEAD', `/exports/${id}/files/contacts.csv`, { token })
    assert.deepEqual([head.status, head.headers.get('content-length'), head.text], [200, String(size), ''])
    assert.equal((await fetchFile(token, id, 'accounts.csv')).status, 404)
  })

  test('has an entry in the audit log, however many parts it is taken in, as has a deletion', async () => {
    const own = await service.newTenant()
    const token = await own.serviceToken()
    const { id } = await done(token, { resources: ['contacts'] })
    const actions = async () => {
      const text = `select action from audit_entries where tenant_id = $1 and resource = 'exports' order by number`
      const { rows } = await service.owner.query<{ action: string }>(text, [own.id])
      return rows.map(({ action }) => action)
    }
    const take = (range: string) => fetchFile(token, id, 'contacts.csv', { range })
    await service.call('HEAD', `/exports/${id}/files/contacts.csv`, { token })
    await take('bytes=9999-')
    assert.deepEqual(await actions(), ['created'])
    for (const range of ['bytes=0-3', 'bytes=4-9', 'bytes=10-']) assert.equal((await take(range)).status, 206)
    assert.deepEqual(await actions(), ['created', 'downloaded'])
    await fetchFile(token, id, 'contacts.csv')
    assert.deepEqual(await actions(), ['created', 'downloaded', 'downloaded'])
    // Another token that leaves the first byte out is seen too.
    const { status } = await fetchFile(await own.serviceToken(), id, 'contacts.csv', { range: 'bytes=1-' })
    assert.deepEqual([status, (await actions()).length], [206, 4])
    for (let times = 1; times <= 2; times++) await service.call('DELETE', `/exports/${id}`, { token })
    assert.deepEqual((await actions()).slice(4), ['deleted'])
  })

  test('of an empty file has no parts', async () => {
    const token = await (await service.newTenant()).serviceToken()
    const { id } = await done(token, { resources: ['contacts'], format: 'ndjson' })
    for (const range of ['bytes=-5', 'bytes=0-', 'bytes=0-0']) {
      const { status, headers } = await fetchFile(token, id, 'contacts.ndjson', { range })
      assert.deepEqual([status, headers.get('content-range')], [416, 'bytes */0'], range)
    }
    const { status, bytes } = await fetchFile(token, id, 'contacts.ndjson')
    assert.deepEqual([status, bytes.length], [200, 0])
  })

  test('can be continued by a page of any origin', async () => {
    const { id } = await done(token, { resources: ['contacts'] })
    const namesIn = (headers: Headers, name: string) => (headers.get(name) ?? '').toLowerCase().split(', ')
    const preflight = await fetch(`${service.origin}${basePath}/exports/${id}/files/contacts.csv`, {
      method: 'OPTIONS',
      headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' },
    })
    const accepted = namesIn(preflight.headers, 'access-control-allow-headers')
    assert.ok(
      ['range', 'if-range'].every((name) => accepted.includes(name)),
      String(accepted),
    )
    const { headers } = await fetchFile(token, id, 'contacts.csv', { range: 'bytes=0-3' })
    const exposed = namesIn(headers, 'access-control-expose-headers')
    for (const name of ['accept-ranges', 'content-range', 'content-disposition', 'etag'])
      assert.ok(headers.has(name) && exposed.includes(name), name)
  })
})

describe('an end', () => {
  test('comes with a deletion: the files are gone, and doing it again changes nothing', async () => {
    const { id } = await done(token, { resources: ['contacts'] })
    for (let times = 1; times <= 2; times++) {
      const { status, body } = await service.call('DELETE', `/exports/${id}`, { token })
      assert.deepEqual([status, body.state, body.files], [200, 'deleted', []])
    }
    assert.equal((await fetchFile(token, id, 'contacts.csv')).status, 404)
    assert.deepEqual(await chunksOf(id), 0)
  })

  const chunksOf = async (id: string): Promise<number> => {
    const text = 'select count(*)::integer as count from export_chunks where export_id = $1'
    return (await service.owner.query<{ count: number }>(text, [id])).rows[0]?.count ?? -1
  }
  const set = (id: string, values: string) => service.owner.query(`update exports set ${values} where id = $1`, [id])

  test('comes after a day', async () => {
    const { id } = await done(token, { resources: ['contacts'] })
    await set(id, `expires_at = now() - interval '1 second'`)
    assert.equal((await fetchFile(token, id, 'contacts.csv')).status, 404)
    assert.equal((await service.call('GET', `/exports/${id}`, { token })).status, 404)
    const housekeeping = startHousekeeping({
      connection: service.database.forTenant(tenant.id).connection,
      onError: assert.fail,
    })
    await until('its chunks are gone', async () => (await chunksOf(id)) === 0)
    await housekeeping.stop()
  })

  test('comes with the erasure of a contact that it may hold, also while it is made', async () => {
    const { tenant: own, token, contacts } = await large()
    const kept = await done(token, { resources: ['accounts'] })
    const held = await done(token, { resources: ['contacts'], filters: { contacts: { accountId: 'A-1' } } })
    const database = service.database.forTenant(own.id)
    const running = (await ask(token, { resources: ['contacts'] })).body.id
    const { exports } = await eraseContact(database, operator, String(contacts[0]?.id))
    assert.equal(exports, 2)
    for (const id of [held.id, running]) {
      const { body } = await ended(token, id)
      assert.deepEqual(
        [body.state, body.problem, body.files, body.filters],
        ['failed', 'A record of it was erased meanwhile. Ask for it again.', [], {}],
      )
      assert.equal((await fetchFile(token, id, 'contacts.csv')).status, 404)
    }
    assert.equal((await fetchFile(token, kept.id, 'accounts.csv')).status, 200)
    await until('nothing of it is stored', async () => (await chunksOf(running)) + (await chunksOf(held.id)) === 0)
    const again = await done(token, { resources: ['contacts'] })
    assert.equal(again.records, contacts.length - 1)
  })

  test('comes with the erasure of a contact also for what was answered about it', async () => {
    const own = await service.newTenant()
    const token = await own.serviceToken()
    await own.add('accounts', [sampleAccount('A-1')])
    const [contact] = await own.add('contacts', [sampleContact('A-1', { email: 'erased@example.com' })])
    const body = { resources: ['contacts'], filters: { contacts: { email: 'erased@example.com' } } }
    const asked = [
      await ask(token, body, { 'idempotency-key': 'kept' }),
      await ask(token, body, { 'idempotency-key': 'deleted' }),
    ]
    const other = await ask(token, { resources: ['accounts'] }, { 'idempotency-key': 'other' })
    for (const { body } of [...asked, other]) await ended(token, body.id)
    await service.call('DELETE', `/exports/${asked[1]?.body.id}`, { token })
    const { answers, exports } = await eraseContact(service.database.forTenant(own.id), operator, String(contact?.id))
    assert.deepEqual([answers, exports], [2, 1])
    const text = 'select body from idempotency_records where tenant_id = $1'
    const { rows } = await service.owner.query<{ body: string }>(text, [own.id])
    assert.deepEqual(
      rows.map(({ body }) => JSON.parse(body).id),
      [other.body.id],
    )
    const listed = await service.call('GET', '/exports', { token })
    assert.doesNotMatch(listed.text, /erased@/)
  })

  test('comes with an erasure also for an export that is asked for in the same moment', async () => {
    const own = await service.newTenant()
    await own.add('accounts', [sampleAccount('A-1')])
    const [contact] = await own.add('contacts', [sampleContact('A-1')])
    const database = service.database.forTenant(own.id)
    const given = { filters: {}, format: 'csv', gzip: false, spreadsheet: false } as const
    const { asked, erasure } = await database.transaction(async (query) => {
      const asked = await createExport(query, { ...given, resources: ['contacts'] })
      const erasure = eraseContact(database, operator, String(contact?.id))
      const text = `select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`
      await until('the erasure waits for it', async () => (await service.owner.query(text)).rowCount === 1)
      return { asked, erasure }
    })
    assert.equal((await erasure).exports, 1)
    assert.ok(typeof asked !== 'string')
    assert.equal((await ended(await own.serviceToken(), asked.id)).body.state, 'failed')
  })

  test('does not come with the node that makes it: the next request for it takes it up, three times at most', async () => {
    const { id } = await done(token, { resources: ['contacts'] })
    const abandon = (attempt: number) =>
      set(id, `state = 'running', files = '[]', seen_at = now() - interval '20 seconds', attempt = ${attempt}`)
    await abandon(2)
    const { body } = await ended(token, id, otherNode)
    assert.deepEqual([body.state, body.records], ['done', 2])
    assert.equal(rowsOf((await fetchFile(token, id, 'contacts.csv')).bytes).length, 2)
    assert.ok((await chunksOf(id)) > 0)
    await abandon(3)
    const failed = await ended(token, id, otherNode)
    assert.equal(failed.body.state, 'failed')
    assert.match(failed.body.problem, /have stopped 3 times. Ask for it again/)
    assert.equal(await chunksOf(id), 0)
  })
})

describe('a tenant', () => {
  const copy = (id: string, state: string, count: number) =>
    service.owner.query(
      `insert into exports (tenant_id, id, state, resources, filters, format, gzip, spreadsheet)
        select tenant_id, gen_random_uuid(), $2, resources, filters, format, gzip, spreadsheet
        from exports, generate_series(1, $3) where id = $1`,
      [id, state, count],
    )

  test('whose node has stopped asks for more, and a request for any export takes up what is left', async () => {
    const own = await service.newTenant()
    const token = await own.serviceToken()
    const { id } = await done(token, { resources: ['contacts'] })
    const abandon = () =>
      service.owner.query(
        `insert into exports (tenant_id, id, state, attempt, seen_at, resources, filters, format, gzip, spreadsheet)
          select tenant_id, gen_random_uuid(), 'running', 1, now() - interval '20 seconds', resources, filters, format, gzip, spreadsheet
          from exports, generate_series(1, $2) where id = $1`,
        [id, exportLimits.atOnce],
      )
    const areDone = async (count: number) => {
      const text = `select count(*)::integer as count from exports where tenant_id = $1 and state = 'done'`
      return (await service.owner.query<{ count: number }>(text, [own.id])).rows[0]?.count === count
    }
    await abandon()
    assert.equal((await ask(token, { resources: ['contacts'] })).status, 201)
    await until('those that were left are done', () => areDone(exportLimits.atOnce + 2))
    await abandon()
    await otherNode.call('GET', '/exports', { token })
    await until('those that were left are done', () => areDone(2 * exportLimits.atOnce + 2))
  })

  test('finds every export that has files in its list, whatever else was asked for', async () => {
    const own = await service.newTenant()
    const token = await own.serviceToken()
    const { id } = await done(token, { resources: ['contacts'] })
    const { id: both } = await done(token, { resources: ['contacts', 'accounts'] })
    await copy(both, 'deleted', 60)
    await copy(both, 'failed', 60)
    const listed = async (token: string): Promise<string[]> =>
      (await service.call('GET', '/exports', { token })).body.items.map(({ id }: { id: string }) => id)
    const all = await listed(token)
    assert.deepEqual([all.length, all[0], all[1]], [100, both, id])
    assert.deepEqual(await listed(await own.serviceToken(['contacts:read'])), [id])
  })

  test('has few exports at once, and keeps few', async () => {
    const own = await service.newTenant()
    const token = await own.serviceToken()
    const { id } = await done(token, { resources: ['contacts'] })
    await copy(id, 'running', exportLimits.atOnce)
    const refused = async (reason: RegExp) => {
      const { status, body, headers } = await ask(token, { resources: ['contacts'] })
      assert.deepEqual([status, body.code, headers.get('retry-after')], [429, 'too_many_requests', '10'])
      assert.match(body.detail, reason)
    }
    await refused(/10 exports of this tenant wait or are being made/)
    await service.owner.query(`delete from exports where state = 'running' and tenant_id = $1`, [own.id])
    await copy(id, 'done', exportLimits.kept - 1)
    await refused(/Too many exports of this tenant are kept/)
    await service.call('DELETE', `/exports/${id}`, { token })
    await done(token, { resources: ['contacts'] })
    await service.owner.query(`delete from exports where tenant_id = $1`, [own.id])
    const { id: large } = await done(token, { resources: ['contacts'] })
    await resize(large, exportLimits.keptBytes)
    await refused(/or too large ones/)
    await resize(large, exportLimits.keptBytes - chunkBytes)
    await copy(large, 'running', 1)
    const write = `insert into export_chunks (tenant_id, export_id, file, number, content)
      select tenant_id, id, 'contacts.csv', 0, '' from exports where tenant_id = $1 and state = 'running'`
    await service.owner.query(write, [own.id])
    await refused(/or too large ones/)
  })

  const resize = (id: string, bytes: number) =>
    service.owner.query('update exports set files = $2 where id = $1', [id, JSON.stringify([{ bytes }])])

  test('whose exports have filled the room that there was when one was asked for is told so', async () => {
    const token = await (await service.newTenant()).serviceToken()
    const { id } = await done(token, { resources: ['contacts'] })
    await resize(id, exportLimits.keptBytes - 1)
    const { body } = await ended(token, (await ask(token, { resources: ['contacts'] })).body.id)
    assert.equal(body.state, 'failed')
    assert.match(body.problem, /^The exports of this tenant have more than 8 GiB together: delete some/)
  })
})
