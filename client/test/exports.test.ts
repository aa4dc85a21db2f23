import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { until } from '../../server/test/processes/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../server/test/records/sample-records.ts'
import { garblers } from '../../server/test/requests/judged-responses.ts'
import { startService } from '../../server/test/service.ts'
import { type Export, isProblem, Masthead } from '../src/index.ts'
import { startCuttingProxy } from './cutting-proxy.ts'

const service = await startService()
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
await tenant.add('accounts', [sampleAccount('A1')])
const notes = 'x'.repeat(1_000)
await tenant.add(
  'contacts',
  Array.from({ length: 1_000 }, (_, index) => sampleContact('A1', { name: `No. ${index}`, notes })),
)
const masthead = new Masthead({ baseUrl: service.origin, token })

const made = async (): Promise<Export> => {
  const { id } = await masthead.exports.create({ resources: ['contacts'], format: 'ndjson' })
  await until('it is done', async () => (await masthead.exports.get(id)).state === 'done')
  return masthead.exports.get(id)
}

const taken = async (parts: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all)
}

test('an export is made, listed, downloaded from any byte on, and deleted', async () => {
  const { id, files } = await made()
  assert.deepEqual(
    (await masthead.exports.list()).items.map((one) => one.id),
    [id],
  )
  const whole = await taken(masthead.exports.download(id, 'contacts.ndjson'))
  assert.equal(createHash('sha256').update(whole).digest('hex'), files[0]?.sha256)
  const rest = await taken(masthead.exports.download(id, 'contacts.ndjson', { from: 1_000_000 }))
  assert.ok(rest.equals(whole.subarray(1_000_000)))
  assert.equal((await taken(masthead.exports.download(id, 'contacts.ndjson', { from: whole.length }))).length, 0)
  await assert.rejects(
    taken(masthead.exports.download(id, 'contacts.ndjson', { from: whole.length + 1 })),
    /the file is not the one that was begun/,
  )
  assert.equal((await masthead.exports.delete(id)).state, 'deleted')
  await assert.rejects(taken(masthead.exports.download(id, 'contacts.ndjson')), (error) =>
    isProblem(error, 'not_found'),
  )
})

test('what explains that nothing is left of a file is no part of it', async (context) => {
  const cache = createServer((_request, response) => {
    const headers = { 'content-range': 'bytes */1000', 'content-type': 'text/html' }
    response.writeHead(416, headers).end('<h1>Not satisfiable</h1>')
  }).listen(0, '127.0.0.1')
  context.after(() => {
    cache.close()
    cache.closeAllConnections()
  })
  await once(cache, 'listening')
  const address = cache.address()
  assert.ok(address !== null && typeof address === 'object')
  const origin = `http://127.0.0.1:${address.port}`
  garblers.add(origin)
  const behind = new Masthead({ baseUrl: origin, token })
  const parts = behind.exports.download(randomUUID(), 'contacts.ndjson', { from: 1_000 })
  assert.equal((await taken(parts)).length, 0)
})

test('a download goes on where it was, over connections that break and that go silent', async () => {
  const { id, files } = await made()
  for (const is of ['cut', 'silence'] as const) {
    const proxy = await startCuttingProxy(service.origin)
    proxy.mishap = { afterBytes: 400_000, is }
    const behind = new Masthead({ baseUrl: proxy.origin, token, timeoutMilliseconds: 500 })
    const bytes = await taken(behind.exports.download(id, 'contacts.ndjson'))
    assert.equal(createHash('sha256').update(bytes).digest('hex'), files[0]?.sha256)
    assert.ok(proxy.connections() >= 3)
  }
})
