import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { attachUnreachable, storeDelivery } from '../../test/outside/stored-deliveries.ts'
import { runMasthead, spawnMasthead, startServing, until } from '../../test/processes/masthead-process.ts'
import { readMetrics, type Sample, sumOf } from '../../test/processes/served-metrics.ts'
import { sampleAccount, sampleContact } from '../../test/records/sample-records.ts'
import { callAlone } from '../../test/requests/own-connection.ts'
import { sendRaw } from '../../test/requests/raw-connection.ts'
import { secret, startService } from '../../test/service.ts'

const service = await startService()
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
const [contact = {}] = await tenant
  .add('accounts', [sampleAccount('A')])
  .then(() => tenant.add('contacts', [sampleContact('A')]))
const attached = await service.newTenant()
await attachUnreachable(service.owner, attached.id)
const recordId = randomUUID()
for (const minutesAgo of [1, 2, 3, 4, 5])
  await storeDelivery(service.owner, attached.id, { recordId, minutesAgo, hasFailed: minutesAgo > 3 })
const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret, RATE_LIMIT: 'off' }
const mortal = `--import=${new URL('../../test/processes/mortal-threads.ts', import.meta.url)}`
const api = '/customer-api/v1'

const requests = (samples: readonly Sample[], labels: Record<string, string> = {}): number =>
  sumOf(samples, 'masthead_http_requests_total', labels)

describe('the metrics of two workers', async () => {
  const serving = await startServing(['--port', '0', '--no-work'], {
    ...environment,
    WORKERS: '2',
    METRICS_PORT: '0',
    NODE_OPTIONS: mortal,
  })
  after(() => serving.kill())
  const { url, metrics = '' } = serving.announced
  const tell = () => readMetrics(metrics)
  const get = (path: string, given = token) => callAlone(url, path, { token: given })
  const byWorker = async (): Promise<number[]> => {
    const samples = await tell()
    return ['1', '2'].map((worker) => sumOf(samples, 'masthead_worker_requests_total', { worker }))
  }

  test('show that both answer, and what one writes both read at once', async () => {
    const before = await byWorker()
    for (let round = 0; round < 10; round++) {
      const name = `Written ${round}`
      const body = { accountId: 'A', name }
      const written = await callAlone(url, `${api}/contacts/${contact.id}`, { method: 'PATCH', token, body })
      assert.equal(written?.status, 200)
      const reads = await Promise.all(Array.from({ length: 8 }, () => get(`${api}/contacts/${contact.id}`)))
      assert.deepEqual(
        reads.map((answer) => JSON.parse(answer?.text ?? '{}').name),
        Array(reads.length).fill(name),
      )
    }
    const counted = await byWorker()
    const each = counted.map((count, worker) => count - (before[worker] ?? 0))
    assert.equal((each[0] ?? 0) + (each[1] ?? 0), 90)
    assert.ok(Math.min(...each) > 10, `${each}`)
  })

  test('count requests by operation, method and status, and what is no operation by its route', async () => {
    const before = await tell()
    const secretPath = `/canary-${randomUUID()}`
    const sent: [status: number, operation: string, method: string, path: string][] = [
      [200, 'GetContacts', 'GET', `${api}/contacts?search=canary`],
      [200, 'GetContacts', 'HEAD', `${api}/contacts`],
      [404, 'GetContactById', 'GET', `${api}/contacts/canary`],
      [400, 'GetContacts', 'GET', `${api}/contacts?canary=1`],
      [422, 'CreateContactRecord', 'POST', `${api}/contacts`],
      [404, 'other', 'GET', secretPath],
      [404, 'other', 'GET', api + secretPath],
      [405, 'other', 'PUT', `${api}/contacts`],
      [400, 'other', 'GET', '/%ff'],
      [200, '/healthz', 'GET', '/healthz'],
      [200, '/problems/{code}', 'GET', '/problems/not_found'],
      [400, '/oauth2/interaction/{uid}', 'GET', '/oauth2/interaction/canary'],
    ]
    for (const [status, , method, path] of sent) {
      const answer = await callAlone(url, path, { method, token, ...(method === 'POST' && { body: {} }) })
      assert.equal(answer?.status, status, path)
    }
    assert.equal((await sendRaw(url, 'canary\r\n\r\n')).status, 400)
    await until('all are counted', async () => requests(await tell()) - requests(before) === sent.length + 1)
    const samples = await tell()
    for (const [status, operation, method] of sent) {
      const labels = { operation, method, status: String(status) }
      const times = sent.filter(([one, of, by]) => one === status && of === operation && by === method).length
      assert.equal(requests(samples, labels) - requests(before, labels), times, JSON.stringify(labels))
    }
    assert.equal(requests(samples, { operation: 'unreadable', status: '400' }), 1)
    const seconds = 'masthead_http_request_duration_seconds_count'
    assert.equal(
      sumOf(samples, seconds, { operation: 'GetContactById' }),
      requests(samples, { operation: 'GetContactById' }),
    )
    assert.equal(sumOf(samples, 'masthead_http_requests_in_flight'), 0)
    const told = JSON.stringify(samples)
    for (const kept of ['canary', tenant.id, tenant.slug, token]) assert.ok(!told.includes(kept), kept)
  })

  test('tell which answers came from memory, and what is kept there', async () => {
    const given = (samples: readonly Sample[], from: string) => sumOf(samples, 'masthead_answers_total', { from })
    // Nothing was ever written to it, so nothing moves.
    const quiet = await (await service.newTenant()).serviceToken()
    const before = await tell()
    for (let count = 0; count < 20; count++) assert.equal((await get(`${api}/contacts`, quiet))?.status, 200)
    const samples = await tell()
    const read = given(samples, 'database') - given(before, 'database')
    // Once in each worker.
    assert.ok(read === 1 || read === 2, `${read}`)
    assert.equal(given(samples, 'memory') - given(before, 'memory'), 20 - read)
    const kept = 'masthead_cached_responses'
    assert.equal(sumOf(samples, kept) - sumOf(before, kept), read)
    const [used, most] = ['used', 'most'].map((state) => sumOf(samples, 'masthead_cached_bytes', { state }))
    assert.ok((used ?? 0) > 1_000 && (used ?? 0) < (most ?? 0))
  })

  test('show what is in flight, what waits for a connection, and who left before the answer', async (context) => {
    const before = await tell()
    await service.owner.query('begin')
    // Also when the test fails, or the next test would wait for the lock.
    context.after(() => service.owner.query('rollback'))
    await service.owner.query('select from heads where tenant_id = $1 for update', [tenant.id])
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ accountId: 'A' })
    const write = () =>
      fetch(`${url}${api}/contacts`, { method: 'POST', headers, body, signal: leaving.signal }).catch(() => null)
    const writes: Promise<Response | null>[] = []
    // Each worker stores one, and the others wait to go with the next. Two that came at once would share a transaction. They are
    // few, because the first waits for the lock no longer than three seconds.
    const most = 6
    for (let count = 1; count <= most; count++) {
      writes.push(write())
      await until(`${count} are in flight`, async () => {
        const samples = await tell()
        const writing = (state: string) => sumOf(samples, 'masthead_database_calls', { pool: 'writing', state })
        const inFlight = sumOf(samples, 'masthead_http_requests_in_flight')
        return inFlight === count && writing('running') + writing('waiting') === count
      })
    }
    leaving.abort()
    await until('all have left', async () => {
      const samples = await tell()
      return requests(samples, { status: '499' }) - requests(before, { status: '499' }) === most
    })
    await service.owner.query('rollback')
    await Promise.all(writes)
    await until('nothing is in flight', async () => {
      const samples = await tell()
      return sumOf(samples, 'masthead_database_calls') + sumOf(samples, 'masthead_http_requests_in_flight') === 0
    })
  })

  test('count what the database refuses', async () => {
    await service.owner.query('alter table publications rename to hidden')
    const answer = await get(`${api}/publications`)
    await service.owner.query('alter table hidden rename to publications')
    assert.equal(answer?.status, 500)
    assert.equal(sumOf(await tell(), 'masthead_database_errors_total', { code: '42P01' }), 1)
  })

  test('show tenants under other names, which the operator can tell, and at most a hundred', async () => {
    // A request is counted when its connection has taken the response, which may be after its caller has read it.
    await until('nothing is in flight', async () => sumOf(await tell(), 'masthead_http_requests_in_flight') === 0)
    const before = await tell()
    for (let count = 0; count < 130; count++)
      await get(`${api}/publications`, await (await service.newTenant()).serviceToken())
    await Promise.all(Array.from({ length: 30 }, () => get(`${api}/publications`)))
    const all = 'masthead_tenant_requests_total'
    await until('all are counted', async () => requests(await tell()) - requests(before) === 160)
    const samples = await tell()
    const shown = samples.filter(({ name, labels }) => name === all && labels.tenant !== 'other')
    assert.equal(shown.length, 100)
    const listed: { slug: string; measuredAs: string }[] = JSON.parse(
      (await runMasthead(['tenant', 'list', '--json'], environment)).stdout,
    )
    const { measuredAs = '' } = listed.find(({ slug }) => slug === tenant.slug) ?? {}
    assert.match(measuredAs, /^[0-9a-f]{12}$/)
    assert.ok(sumOf(samples, all, { tenant: measuredAs }) >= 120)
    for (const { labels } of shown) assert.ok(listed.some(({ measuredAs }) => measuredAs === labels.tenant))
  })

  test('do not fall when a worker fails, and tell how many there are', async () => {
    const before = await tell()
    assert.equal(sumOf(before, 'masthead_workers'), 2)
    await callAlone(url, '/throw')
    // On a fast machine the replacement serves before anybody sees that a worker is missing.
    await until('it has failed', async () => sumOf(await tell(), 'masthead_worker_failures_total') === 1)
    const without = await tell()
    assert.ok(requests(without) >= requests(before), `${requests(without)} < ${requests(before)}`)
    const seconds = 'masthead_http_request_duration_seconds_count'
    assert.ok(sumOf(without, seconds) >= sumOf(before, seconds))
    await until('it is replaced', async () => sumOf(await tell(), 'masthead_workers') === 2)
    const after = await tell()
    assert.ok(requests(after) >= requests(without))
    assert.equal(sumOf(after, 'masthead_worker_failures_total'), 1)
  })

  test('are of the process once, and of each thread by its name', async () => {
    const samples = await tell()
    const memory = samples.filter(({ name }) => name === 'process_resident_memory_bytes')
    assert.equal(memory.length, 1)
    const begun = sumOf(samples, 'process_start_time_seconds')
    assert.ok(Math.abs(Date.now() / 1_000 - begun) < 120)
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'nodejs_heap_size_used_bytes']) {
      const workers = samples.filter((sample) => sample.name === name).map(({ labels }) => labels.worker)
      assert.deepEqual(workers.sort(), ['1', '2', 'main'])
    }
    assert.equal(sumOf(samples, 'masthead_build_info', { node: process.version }), 1)
  })
})

describe('the metrics of one worker', async () => {
  const serving = await startServing(['--port', '0', '--no-work'], {
    ...environment,
    METRICS_PORT: '0',
    RATE_LIMIT: 'on',
    RATE_LIMIT_TOKEN: '3',
    RATE_LIMIT_TENANT: '5',
    RATE_LIMIT_ADDRESS: '4',
  })
  after(() => serving.kill())
  const { metrics = '' } = serving.announced
  const deliveries = (samples: Sample[], state: string) => sumOf(samples, 'masthead_webhook_deliveries', { state })

  test('do not wait for a database that is slow', async () => {
    await service.owner.query('begin')
    await service.owner.query('lock table tenants')
    const begun = Date.now()
    const samples = await readMetrics(metrics)
    await service.owner.query('rollback')
    assert.ok(Date.now() - begun < 3_000)
    assert.equal(sumOf(samples, 'masthead_workers'), 1)
    assert.ok(!samples.some(({ name }) => name === 'masthead_webhook_deliveries'))
  })

  test('tell what waits for legacy systems and for the chains of the audit log', async () => {
    let samples = await readMetrics(metrics)
    // A database that takes longer than a second is left out.
    await until('the queues are told', async () => {
      samples = await readMetrics(metrics)
      return samples.some(({ name }) => name === 'masthead_webhook_deliveries')
    })
    // Nobody works here, and each tenant was made by somebody.
    const { rows } = await service.owner.query('select count(*)::integer as count from audit_waiting')
    assert.equal(sumOf(samples, 'masthead_audit_entries_waiting'), rows[0]?.count)
    assert.ok(rows[0]?.count > 0)
    assert.equal(deliveries(samples, 'waiting'), 3)
    assert.equal(deliveries(samples, 'failed'), 2)
    const oldest = sumOf(samples, 'masthead_webhook_oldest_delivery_seconds')
    assert.ok(oldest >= 180 && oldest < 600, `${oldest}`)
  })

  test('tell which limits were met', async () => {
    const { url } = serving.announced
    const other = await tenant.serviceToken()
    for (const given of [token, token, token, token, token, other, other, other])
      await callAlone(url, `${api}/contacts`, { token: given })
    for (let count = 0; count < 6; count++) await callAlone(url, '/oauth2/authorize')
    const refusals = (samples: readonly Sample[], limit: string) =>
      sumOf(samples, 'masthead_http_refusals_total', { limit })
    await until('all are counted', async () => requests(await readMetrics(metrics)) === 14)
    const samples = await readMetrics(metrics)
    assert.deepEqual(
      ['token', 'tenant', 'address', 'at-once'].map((limit) => refusals(samples, limit)),
      [2, 1, 2, 0],
    )
    assert.equal(requests(samples, { operation: '/oauth2/authorize', status: '429' }), 2)
    assert.equal(sumOf(samples, 'masthead_tenant_requests_total'), 8, 'whoever is refused counts for the tenant too')
  })

  test('are served nowhere else, and a port that is taken is named', async () => {
    assert.equal((await fetch(`${serving.announced.url}/metrics`)).status, 404)
    assert.equal((await fetch(metrics.replace('/metrics', '/'))).status, 404)
    const { port } = new URL(metrics)
    const { child, ended } = spawnMasthead(['serve', '--port', '0'], { ...environment, METRICS_PORT: port })
    after(() => child.kill('SIGKILL'))
    const { code, stderr } = await ended
    assert.equal(code, 1)
    assert.match(
      stderr,
      new RegExp(`cannot serve metrics on localhost, port ${port}: .* METRICS_HOST and METRICS_PORT`),
    )
  })
})
