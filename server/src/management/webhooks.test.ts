import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { consoleFor, operationNamed } from '../../test/browsers/console-caller.ts'
import { attachTo } from '../../test/outside/webhook-receiver.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { assertAnswers } from '../../test/requests/contract-responses.ts'
import { startService, waitsForLocks } from '../../test/service.ts'
import type { Fields } from '../records/stored-record.ts'

const service = await startService()
const tenant = await service.newTenant('Acme')
const stranger = await service.newTenant('Zenith')
const consoleOf = consoleFor(service)
const admin = await consoleOf([tenant, 'admin'])

describe('a webhook endpoint', () => {
  const given = { url: 'http://127.0.0.1:1/in?key=1', events: ['contact.created', 'import.completed'] }
  const make = async () => {
    const made = await admin.call('POST', '/webhook-endpoints', { body: { ...given, description: 'Sync' } })
    assertAnswers(operationNamed('CreateWebhookEndpoint'), made)
    return { ...made, path: `/webhook-endpoints/${made.body.id}` }
  }

  test('is made, shown with its secret once, changed, disabled, enabled and deleted, and each is in the audit log', async () => {
    const { body, path, headers } = await make()
    assert.match(body.secret, /^whsec_\S{44}$/)
    assert.match(headers.get('location') ?? '', new RegExp(`${path}$`))
    const shown = await admin.call('GET', path)
    assertAnswers(operationNamed('GetWebhookEndpoint'), shown)
    const { secret, ...rest } = body
    assert.deepEqual(shown.body, rest)
    assert.ok(!(await admin.call('GET', '/webhook-endpoints')).text.includes(secret))
    const changed = await admin.call('PATCH', path, { body: { events: ['task.created'], isDisabled: true } })
    assertAnswers(operationNamed('UpdateWebhookEndpoint'), changed)
    assert.deepEqual([changed.body.events, changed.body.disabledBecause], [['task.created'], 'requested'])
    assert.equal((await admin.call('POST', `${path}/test`)).body.code, 'conflict')
    const enabled = await admin.call('PATCH', path, { body: { isDisabled: false } })
    assert.deepEqual([enabled.body.disabledAt, enabled.body.disabledBecause], [null, null])
    const rotated = await admin.call('POST', `${path}/rotate-secret`)
    assertAnswers(operationNamed('RotateWebhookSecret'), rotated)
    assert.notEqual(rotated.body.secret, secret)
    assert.ok(Date.parse(rotated.body.formerSecretUntil) > Date.now() + 86_000_000)
    assertAnswers(operationNamed('DeleteWebhookEndpoint'), await admin.call('DELETE', path))
    assert.equal((await admin.call('GET', path)).status, 404)
    const log = await admin.call('GET', `/audit-entries?resource=webhook_endpoints&recordId=${body.id}`)
    const actions = log.body.items.map(({ action }: { action: string }) => action).toReversed()
    assert.deepEqual(actions, ['created', 'updated', 'disabled', 'enabled', 'secret_rotated', 'disabled', 'deleted'])
    assert.ok(!log.text.includes('key=1') && !log.text.includes('whsec_'))
  })

  test('shows its deliveries, newest first, and sends one or all again', async () => {
    const { path } = await make()
    const sent = [await admin.call('POST', `${path}/test`), await admin.call('POST', `${path}/test`)]
    for (const one of sent) assertAnswers(operationNamed('SendTestEvent'), one)
    const [first, second] = sent.map(({ body }) => body)
    const list = await admin.call('GET', `${path}/deliveries?state=waiting`)
    assertAnswers(operationNamed('GetWebhookDeliveries'), list)
    assert.deepEqual(
      list.body.items.map(({ id }: { id: string }) => id),
      [second.id, first.id],
    )
    const older = await admin.call('GET', `${path}/deliveries?before=${second.number}`)
    assert.deepEqual([older.body.items.length, older.body.next], [1, null])
    assert.deepEqual((await admin.call('GET', `${path}/deliveries?state=failed`)).body.items, [])
    const detail = await admin.call('GET', `${path}/deliveries/${first.id}`)
    assertAnswers(operationNamed('GetWebhookDelivery'), detail)
    assert.equal(detail.body.request.url, 'http://127.0.0.1:1/in?…')
    assert.equal(JSON.parse(detail.body.request.body).type, 'webhook.test')
    assertAnswers(
      operationNamed('ResendWebhookDelivery'),
      await admin.call('POST', `${path}/deliveries/${first.id}/resend`),
    )
    const replayed = await admin.call('POST', `${path}/replay`, { body: { since: '2026-01-01T00:00:00.000Z' } })
    assertAnswers(operationNamed('ReplayWebhookEvents'), replayed)
    assert.deepEqual(replayed.body, { replayed: 2 })
    for (const nothing of ['nothing', `msg_${'0'.repeat(32)}`])
      assert.equal((await admin.call('GET', `${path}/deliveries/${nothing}`)).status, 404)
    const log = await admin.call('GET', `/audit-entries?resource=webhook_endpoints&recordId=${path.split('/').at(-1)}`)
    assert.deepEqual(
      log.body.items.map(({ action, after }: Fields) => [action, (after as Fields).url]),
      ['replayed', 'resent', 'tested', 'tested', 'created'].map((action) => [action, 'http://127.0.0.1:1/in?…']),
    )
  })

  test('is refused with an address or an event that cannot be, and when there are too many', async () => {
    for (const [pointer, wrong] of [
      ['/url', { url: 'ftp://example.com' }],
      ['/url', { url: 'https://a:b@example.com' }],
      ['/events/0', { events: ['contact.create'] }],
      ['/events', { events: [] }],
    ] as const) {
      const { status, body } = await admin.call('POST', '/webhook-endpoints', { body: { ...given, ...wrong } })
      assert.deepEqual([status, body.errors?.[0]?.pointer], [422, pointer])
    }
    const crowded = await consoleOf([await service.newTenant('Crowded'), 'admin'])
    const adding = Array.from({ length: 24 }, () => crowded.call('POST', '/webhook-endpoints', { body: given }))
    const refused = (await Promise.all(adding)).filter(({ status }) => status !== 201)
    assert.deepEqual(
      refused.map(({ body }) => [body.code, /at most 20/.test(body.detail)]),
      Array(4).fill(['conflict', true]),
    )
  })

  test('that somebody else deletes meanwhile is not there, and noted as deleted once', async (context) => {
    const holder = new pg.Client(service.connectionString)
    await holder.connect()
    context.after(() => holder.end())
    for (const act of [
      (path: string) => admin.call('DELETE', path),
      (path: string) => admin.call('POST', `${path}/rotate-secret`),
      (path: string, delivery: string) => admin.call('POST', `${path}/deliveries/${delivery}/resend`),
    ]) {
      const { body, path } = await make()
      const { id: delivery } = (await admin.call('POST', `${path}/test`)).body
      await holder.query('begin')
      await holder.query('delete from webhook_deliveries where endpoint_id = $1', [body.id])
      await holder.query('delete from webhook_endpoints where id = $1', [body.id])
      const acting = act(path, delivery)
      await until('it waits', async () => (await service.owner.query(waitsForLocks)).rows.length === 1)
      await holder.query('commit')
      const { status, text } = await acting
      assert.equal(status, 409, text)
      const log = await admin.call('GET', `/audit-entries?resource=webhook_endpoints&recordId=${body.id}`)
      const actions = log.body.items.map(({ action }: { action: string }) => action)
      assert.deepEqual(actions, ['tested', 'created'])
    }
  })

  test('of another tenant is not there', async () => {
    const { path } = await make()
    const other = await consoleOf([stranger, 'admin'])
    for (const [method, at, body] of [
      ['GET', path, undefined],
      ['PATCH', path, { isDisabled: true }],
      ['DELETE', path, undefined],
      ['POST', `${path}/test`, undefined],
      ['POST', `${path}/rotate-secret`, undefined],
      ['POST', `${path}/replay`, { since: '2026-01-01T00:00:00.000Z' }],
      ['GET', `${path}/deliveries`, undefined],
    ] as const)
      assert.equal((await other.call(method, at, body ? { body } : {})).status, 404, `${method} ${at}`)
  })

  test('of the legacy system can be looked at, and not changed', async () => {
    const town = await service.newTenant('Town')
    const clerk = await consoleOf([town, 'admin'])
    await attachTo(service, town, { url: 'http://127.0.0.1:1/in?key=1', secret: '' })
    const { body } = await clerk.call('GET', '/webhook-endpoints')
    assert.deepEqual(
      body.items.map(({ kind, url, events }: Fields) => [kind, url, events]),
      [['legacy', 'http://127.0.0.1:1/in?…', []]],
    )
    const path = `/webhook-endpoints/${town.id}`
    assert.equal((await clerk.call('GET', `${path}/deliveries`)).status, 200)
    for (const [method, at] of [
      ['DELETE', path],
      ['POST', `${path}/test`],
      ['POST', `${path}/rotate-secret`],
    ] as const)
      assert.equal((await clerk.call(method, at)).body.code, 'conflict')
  })
})

describe('the legacy system', () => {
  test('is told to be absent, and nothing can be retried', async () => {
    assert.equal((await admin.call('GET', '/legacy-system')).body.isAttached, false)
    assert.equal((await admin.call('POST', '/legacy-system/retry')).body.code, 'conflict')
  })

  test('that an admin retries is noted in the audit log once, with the admin', async () => {
    const village = await service.newTenant('Village')
    await attachTo(service, village, { url: 'http://127.0.0.1:1/', secret: '' })
    const clerk = await consoleOf([village, 'admin'])
    const retried = await clerk.call('POST', '/legacy-system/retry')
    assertAnswers(operationNamed('RetryDeliveries'), retried)
    const { items } = (await clerk.call('GET', '/audit-entries?resource=legacy_systems')).body
    const noted = items.filter(({ action }: Fields) => action === 'retried')
    assert.deepEqual(
      noted.map(({ author, after }: Fields) => [(author as Fields).requestId, after]),
      [[retried.headers.get('x-request-id'), retried.body]],
    )
  })
})
