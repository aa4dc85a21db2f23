import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, describe, test } from 'node:test'
import { startReceiver, type TracedSpan } from '../../test/outside/trace-receiver.ts'
import { runMasthead, startServing, until } from '../../test/processes/masthead-process.ts'
import { found, sendCanaries } from '../../test/records/canaries.ts'
import { sampleAccount, sampleContact } from '../../test/records/sample-records.ts'
import { baseUrl, freeAddress, secret, startService } from '../../test/service.ts'

const service = await startService()
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
await tenant.add('accounts', [sampleAccount('A')])
const [contact = {}] = await tenant.add('contacts', [sampleContact('A')])
const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret, BASE_URL: baseUrl }

const start = async (more: Record<string, string>) => {
  const url = await freeAddress('localhost')
  const serving = await startServing(['--port', new URL(url).port, '--no-work'], { ...environment, ...more })
  after(() => serving.kill())
  const call = (method: string, path: string, headers: Record<string, string> = {}, body?: object) =>
    fetch(`${url}/customer-api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  return { url, serving, call }
}

/** Sends the body when the token has been looked up: it comes by an event of its own. */
const createSlowly = async (url: string): Promise<number | undefined> => {
  const slow = await service.newTenant()
  await slow.add('accounts', [sampleAccount('A')])
  const headers = { authorization: `Bearer ${await slow.serviceToken()}`, 'content-type': 'application/json' }
  const sent = request(`${url}/customer-api/v1/contacts`, { method: 'POST', headers })
  sent.flushHeaders()
  await until('its use is noted', async () => {
    const used = 'select from access_tokens where tenant_id = $1 and last_used_at is not null'
    return (await service.owner.query(used, [slow.id])).rows.length > 0
  })
  sent.end('{"accountId": "A"}')
  const [response]: IncomingMessage[] = await once(sent, 'response')
  response?.resume()
  return response?.statusCode
}

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const callerSpan = '00f067aa0ba902b7'
const server = 2
const client = 3

/** Names of spans, each with those below it, in the order in which they began. When a token was used is noted once a minute. */
type Tree = [name: string, ...below: Tree[]]
const treeOf = (spans: TracedSpan[], { name, spanId }: TracedSpan): Tree => [
  name,
  ...spans
    .filter((span) => span.parentSpanId === spanId && span.name !== 'update access_tokens')
    .map((below) => treeOf(spans, below)),
]

describe('traces', () => {
  test('have a span for each request, below it those of its statements, and continue those of the caller', async () => {
    const receiver = await startReceiver()
    const { url, serving, call } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint })
    const headers = {
      traceparent: `00-${traceId}-${callerSpan}-01`,
      tracestate: 'vendor=canary',
      'x-request-id': 'one',
    }
    assert.equal((await call('GET', `/contacts/${contact.id}?`, headers)).status, 200)
    assert.equal(await createSlowly(url), 201)
    await service.owner.query('alter table publications rename to hidden')
    assert.equal((await call('GET', '/publications')).status, 500)
    await service.owner.query('alter table hidden rename to publications')
    const unsampled = { traceparent: `00-${traceId.replaceAll('4', '5')}-${callerSpan}-00` }
    assert.equal((await call('GET', '/accounts', unsampled)).status, 200)
    assert.equal((await serving.stop()).code, 0)
    const spans = receiver.spans()
    const requests = spans.filter(({ kind }) => kind === server)
    assert.deepEqual(
      requests.map(({ name }) => name),
      ['GetContactById', 'CreateContactRecord', 'GetPublications'],
    )
    const [get, create, failed] = requests
    assert.ok(get && create && failed)
    assert.deepEqual([get.traceId, get.parentSpanId], [traceId, callerSpan])
    assert.deepEqual(get.attributes, {
      'http.request.method': 'GET',
      'http.route': '/customer-api/v1/contacts/:contactId',
      'http.response.status_code': 200,
      'url.scheme': 'http',
      'masthead.request.id': 'one',
      'masthead.tenant.id': tenant.id,
      'masthead.principal.kind': 'service',
    })
    assert.notEqual(create.traceId, traceId)
    assert.equal(create.parentSpanId, undefined)
    const versions = ['select identity_revision']
    const caller = [versions, ['select access_tokens']]
    assert.deepEqual(treeOf(spans, get), ['GetContactById', ...caller, versions, ['select contacts']])
    const written = 'insert heads, insert contacts, insert search_texts, insert tallies, insert audit_keys'
    assert.deepEqual(treeOf(spans, create), ['CreateContactRecord', ...caller, ['transaction', [written]]])
    const statement = spans.find(({ parentSpanId, name }) => parentSpanId === get.spanId && name === 'select contacts')
    assert.equal(statement?.kind, client)
    assert.equal(statement?.attributes['db.system.name'], 'postgresql')
    assert.match(String(statement?.attributes['db.query.text']), /^select .* from contacts where .*\$1/)
    assert.deepEqual([failed.attributes['error.type'], failed.status.code], ['500', 2])
    const below = spans.filter(({ parentSpanId }) => parentSpanId === failed.spanId)
    const refused = below.filter(({ attributes }) => attributes['error.type'])
    assert.deepEqual(
      refused.map(({ attributes, status }) => [attributes['error.type'], status]),
      [['42P01', { code: 2 }]],
    )
    assert.ok(!receiver.bodies.join().includes('canary'))
    assert.match(receiver.bodies[0] ?? '', /"service.name","value":\{"stringValue":"masthead"\}/)
  })

  test('hold nothing that a caller sent or was given', async () => {
    const receiver = await startReceiver()
    const { url, serving } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, WORKERS: '2' })
    const { secrets } = await sendCanaries(service, url)
    assert.equal((await serving.stop()).code, 0)
    const spans = receiver.spans()
    assert.ok(spans.length > 100)
    assert.deepEqual(found(secrets, receiver.bodies.join('\n')), [])
    const exchange = spans.find(({ name }) => name === '/oauth2/token')
    assert.ok(spans.some(({ parentSpanId }) => parentSpanId === exchange?.spanId))
  })

  test('disturb nobody when they cannot be sent', async () => {
    const receiver = await startReceiver({ hangs: true })
    const { serving, call } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_EXPORTER_OTLP_TIMEOUT: '4000',
    })
    // As many as make two parcels.
    for (let count = 0; count < 400; count++) {
      const answer = await call('GET', `/contacts/${contact.id}`, { 'cache-control': 'no-cache' })
      assert.equal(answer.status, 200)
    }
    await until('it is said', () => /traces cannot be sent/.test(serving.said.stderr))
    await until('it is tried again', () => receiver.bodies.length > 1)
    const { code, stderr } = await serving.stop()
    assert.equal(code, 0)
    assert.equal(stderr.split('traces cannot be sent').length, 2, 'it is said once')
  })

  test('are sampled as OpenTelemetry says', async () => {
    const receiver = await startReceiver()
    const { serving, call } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_TRACES_SAMPLER: 'always_off',
    })
    await call('GET', '/contacts', { traceparent: `00-${traceId}-${callerSpan}-01` })
    await serving.stop()
    assert.deepEqual(receiver.bodies, [])
    const wrong = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }
    const { code, stderr } = await runMasthead(['serve'], { ...environment, ...wrong })
    assert.equal(code, 1)
    assert.match(stderr, /OTEL_EXPORTER_OTLP_ENDPOINT must be an address like/)
  })
})
