import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { managementApi, managementScopes, scopesOf } from '@masthead/contract'
import { consoleFor, operationNamed } from '../../test/browsers/console-caller.ts'
import { ConsoleBrowser, manage } from '../../test/browsers/console-session.ts'
import { authorize, Browser, newApplication, newPerson } from '../../test/browsers/oauth-browser.ts'
import {
  sampleAccount,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../../test/records/sample-records.ts'
import { assertAnswers } from '../../test/requests/contract-responses.ts'
import { startService } from '../../test/service.ts'
import { dayIn } from '../records/lists/today.ts'
import type { Fields } from '../records/stored-record.ts'

const service = await startService()
const { origin } = service
const tenant = await service.newTenant('Acme')
const stranger = await service.newTenant('Zenith')

const consoleOf = consoleFor(service)
const admin = await consoleOf([tenant, 'admin'])
const [editor, viewer] = [await consoleOf([tenant, 'editor']), await consoleOf([tenant, 'viewer'])]

describe('every operation of the management interface', () => {
  test('has a scope that is described', () => {
    for (const { name, operation } of managementApi.operations)
      for (const scope of scopesOf(operation)) assert.ok(Object.hasOwn(managementScopes, scope), name)
  })

  for (const { name, operation } of managementApi.operations) {
    const path = operation.path.replaceAll(/\{\w+\}/g, 'nothing')

    test(`${name} is refused without a token, and by each role that may not`, async () => {
      assert.equal((await manage(origin, operation.method, path)).status, 401)
      const { adminsOnly } = managementScopes[operation.scope as keyof typeof managementScopes] // a test above
      if (!adminsOnly) return
      for (const { call } of [editor, viewer]) {
        const { status, body } = await call(operation.method, path, operation.body ? { body: {} } : {})
        assert.deepEqual([status, body.code], [403, 'insufficient_role'])
      }
    })
  }

  for (const named of managementApi.operations.filter(
    ({ operation: { method, path } }) => method === 'GET' && !path.includes('{'),
  )) {
    test(`${named.name} responds as the contract says`, async () => {
      assertAnswers(named, await admin.call('GET', named.operation.path))
    })
  }
})

describe('a signed-in user', () => {
  test('is told whom to ask for what takes an admin', async () => {
    const hall = await service.newTenant('Town Hall')
    const clerk = await consoleOf([hall, 'viewer'])
    assert.deepEqual((await clerk.call('GET', '/me')).body.admins, [])
    const { person } = await consoleOf([hall, 'admin'])
    assert.deepEqual((await clerk.call('GET', '/me')).body.admins, [{ name: 'Ada', email: person.email }])
  })
})

describe('a personal access token', () => {
  test('is made, shown once, used, listed with its last use and revoked', async () => {
    const input = { name: 'My script', scopes: ['contacts:read'], expiresInDays: 7 }
    const made = await admin.call('POST', '/tokens', { body: input })
    assertAnswers(operationNamed('CreateToken'), made)
    const { token } = made.body
    assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
    const { body: listed } = await admin.call('GET', '/tokens')
    assert.equal(listed.items[0].id, made.body.id)
    assert.ok(!JSON.stringify(listed).includes(token))
    const revoked = await admin.call('DELETE', `/tokens/${made.body.id}`)
    assertAnswers(operationNamed('RevokeToken'), revoked)
    assert.equal((await service.call('GET', '/contacts', { token })).status, 401)
  })

  test('is shown to nobody else, and revoked by nobody else', async () => {
    const made = await admin.call('POST', '/tokens', { body: { name: 'Mine', scopes: ['contacts:read'] } })
    const other = await consoleOf([tenant, 'admin'])
    assert.deepEqual((await other.call('GET', '/tokens')).body.items, [])
    assert.equal((await other.call('DELETE', `/tokens/${made.body.id}`)).status, 404)
  })

  test('is refused with scopes of the management interface, without any, for more than a year and without a name', async () => {
    for (const [pointer, wrong] of [
      ['/scopes/0', { scopes: ['members:manage'] }],
      ['/scopes', { scopes: [] }],
      ['/expiresInDays', { expiresInDays: 367 }],
      ['/name', { name: '' }],
      ['/name', { name: ' ' }],
    ] as const) {
      const { status, body } = await admin.call('POST', '/tokens', {
        body: { name: 'x', scopes: ['contacts:read'], ...wrong },
      })
      assert.deepEqual([status, body.errors?.[0]?.pointer], [422, pointer])
    }
  })

  test('is not shown to a retry, and not made twice', async () => {
    const options = {
      body: { name: 'Once', scopes: ['contacts:read'] },
      headers: { 'idempotency-key': 'a token, please' },
    }
    const first = await admin.call('POST', '/tokens', options)
    const again = await admin.call('POST', '/tokens', options)
    assert.equal(first.status, 201)
    assert.deepEqual([again.status, again.body.code], [409, 'secret_shown_once'])
    const { rows } = await service.owner.query('select body from idempotency_records')
    assert.ok(rows.every(({ body }) => !String(body).includes(first.body.token)))
    const { body } = await admin.call('GET', '/tokens')
    assert.equal(body.items.filter(({ name }: { name: string }) => name === 'Once').length, 1)
  })
})

describe('a service token', () => {
  test('is made, rotated with an overlap and revoked', async () => {
    const made = await admin.call('POST', '/service-tokens', {
      body: { service: 'nightly-sync', scopes: ['contacts:read'], defaultAssignee: 'U7' },
    })
    assertAnswers(operationNamed('CreateServiceToken'), made)
    const path = `/service-tokens/${made.body.id}`
    const rotated = await admin.call('POST', `${path}/rotate`, { body: { overlapHours: 1 } })
    assertAnswers(operationNamed('RotateServiceToken'), rotated)
    for (const { token } of [made.body, rotated.body])
      assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
    assertAnswers(operationNamed('RevokeServiceToken'), await admin.call('DELETE', path))
    assert.equal((await service.call('GET', '/contacts', { token: made.body.token })).status, 401)
    assert.equal((await service.call('GET', '/contacts', { token: rotated.body.token })).status, 200)
    assert.equal((await admin.call('POST', `${path}/rotate`, { body: {} })).body.code, 'conflict')
  })

  test('is refused without the name of what holds it', async () => {
    const { status, body } = await admin.call('POST', '/service-tokens', {
      body: { service: ' ', scopes: ['contacts:read'] },
    })
    assert.deepEqual([status, body.errors[0].pointer], [422, '/service'])
  })

  test('of another tenant is neither seen nor touched', async () => {
    const other = await consoleOf([stranger, 'admin'])
    const made = await other.call('POST', '/service-tokens', { body: { service: 'theirs', scopes: ['contacts:read'] } })
    const { body } = await admin.call('GET', '/service-tokens')
    assert.ok(!JSON.stringify(body).includes(made.body.id))
    assert.equal((await admin.call('DELETE', `/service-tokens/${made.body.id}`)).status, 404)
    assert.equal((await admin.call('POST', `/service-tokens/${made.body.id}/rotate`, { body: {} })).status, 404)
  })
})

describe('a member', () => {
  test('gets another role, which takes effect at once', async () => {
    const viewer = await consoleOf([tenant, 'viewer'])
    assert.equal((await viewer.call('GET', '/members')).status, 403)
    const path = `/members/${viewer.person.id}`
    const changed = await admin.call('PATCH', path, { body: { role: 'admin', legacyUserId: 'U1' } })
    assertAnswers(operationNamed('UpdateMember'), changed)
    assert.deepEqual([changed.body.role, changed.body.legacyUserId], ['admin', 'U1'])
    assert.equal((await viewer.call('GET', '/members')).status, 200)
  })

  test('is removed, and nothing of the membership works any longer', async () => {
    const leaver = await consoleOf([tenant, 'editor'])
    const { body: pat } = await leaver.call('POST', '/tokens', { body: { name: 'x', scopes: ['contacts:read'] } })
    assertAnswers(operationNamed('RemoveMember'), await admin.call('DELETE', `/members/${leaver.person.id}`))
    assert.equal((await leaver.call('GET', '/me')).status, 401)
    for (const token of [pat.token, leaver.customer])
      assert.equal((await service.call('GET', '/contacts', { token })).status, 401)
  })

  test('who is the last admin stays admin', async () => {
    const lonely = await service.newTenant()
    const { call, person } = await consoleOf([lonely, 'admin'])
    for (const [method, body] of [
      ['PATCH', { role: 'viewer' }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await call(method, `/members/${person.id}`, body ? { body } : {})
      assert.deepEqual([answer.status, answer.body.code], [409, 'conflict'])
    }
  })

  test('of another tenant is not found', async () => {
    const other = await consoleOf([stranger, 'admin'])
    assert.equal((await admin.call('PATCH', `/members/${other.person.id}`, { body: { role: 'admin' } })).status, 404)
    assert.equal((await admin.call('DELETE', `/members/${other.person.id}`)).status, 404)
  })
})

describe('an invitation', () => {
  const invite = async (email: string, role = 'editor') => {
    const made = await admin.call('POST', '/invitations', { body: { email, role } })
    assert.equal(made.status, 201, made.text)
    return made
  }
  const addressOf = (url: string) => new URL(url).pathname

  test('makes a member of somebody new, once', async () => {
    const made = await invite('grace@example.com')
    assertAnswers(operationNamed('CreateInvitation'), made)
    const address = addressOf(made.body.url)
    const page = await new Browser(origin).visit(address)
    assert.equal(page.status, 200)
    assert.match(page.page, /Join <bdi>Acme/)
    const fields = { name: 'Grace', password: 'a good long password' }
    const short = await new Browser(origin).visit(address, { ...fields, password: 'short' })
    assert.equal(short.status, 422)
    const accepted = await new Browser(origin).visit(address, fields)
    assert.equal(accepted.status, 303, accepted.page)
    assert.equal((await new Browser(origin).visit(address, fields)).status, 404)
    const person = { id: '', email: 'grace@example.com', password: fields.password }
    const { management } = await new ConsoleBrowser(origin).signIn(person)
    const { body } = await manage(origin, 'GET', '/me', { token: management })
    assert.deepEqual([body.name, body.tenant.id, body.tenant.role], ['Grace', tenant.id, 'editor'])
    assert.deepEqual((await admin.call('GET', '/invitations')).body.items, [])
  })

  test('to somebody who has a password asks for it, and changes neither name nor password', async () => {
    const known = await newPerson(service, [stranger, 'viewer'])
    const { body } = await invite(known.email, 'admin')
    const address = addressOf(body.url)
    const wrong = await new Browser(origin).visit(address, { account: 'existing', password: 'another long password' })
    assert.equal(wrong.status, 422)
    assert.match(wrong.page, /Wrong password/)
    const right = await new Browser(origin).visit(address, { account: 'existing', password: known.password })
    assert.equal(right.status, 303)
    const { management } = await new ConsoleBrowser(origin).signIn(known, { tenant: tenant.id })
    const me = await manage(origin, 'GET', '/me', { token: management })
    assert.deepEqual([me.body.name, me.body.tenant.role], ['Ada', 'admin'])
  })

  test('is withdrawn, replaced or too old, and then nobody can accept it', async () => {
    const first = await invite('hopper@example.com')
    const second = await invite('hopper@example.com')
    assert.equal((await new Browser(origin).visit(addressOf(first.body.url))).status, 404)
    assertAnswers(operationNamed('WithdrawInvitation'), await admin.call('DELETE', `/invitations/${second.body.id}`))
    assert.equal((await new Browser(origin).visit(addressOf(second.body.url))).status, 404)
    const third = await invite('hopper@example.com')
    await service.owner.query('update invitations set expires_at = now() where id = $1', [third.body.id])
    assert.equal((await new Browser(origin).visit(addressOf(third.body.url))).status, 404)
  })

  test('ends with the membership or the role of who made it', async () => {
    for (const end of [
      (id: string) => admin.call('DELETE', `/members/${id}`),
      (id: string) => admin.call('PATCH', `/members/${id}`, { body: { role: 'editor' } }),
    ]) {
      const inviter = await consoleOf([tenant, 'admin'])
      const { body } = await inviter.call('POST', '/invitations', {
        body: { email: 'friend@example.com', role: 'admin' },
      })
      const ended = await end(inviter.person.id)
      assert.equal(ended.status, 200)
      assert.equal((await new Browser(origin).visit(addressOf(body.url))).status, 404)
      const [last] = (await admin.call('GET', '/audit-entries?resource=invitations')).body.items
      const { action, recordId, author } = last
      assert.deepEqual([action, recordId], ['withdrawn', body.id])
      assert.equal(author.requestId, ended.headers.get('x-request-id'))
    }
  })

  test('is not found by what is no identifier', async () => {
    assert.equal((await admin.call('DELETE', '/invitations/%00')).status, 404)
  })

  test('is refused for a member and for what is no address', async () => {
    const member = await newPerson(service, [tenant, 'viewer'])
    const again = await admin.call('POST', '/invitations', { body: { email: member.email, role: 'admin' } })
    assert.equal(again.body.code, 'conflict')
    const nonsense = await admin.call('POST', '/invitations', { body: { email: 'nobody', role: 'admin' } })
    assert.deepEqual(nonsense.body.errors[0].pointer, '/email')
  })

  test('keeps its secret out of the database', async () => {
    const { body } = await invite('secret@example.com')
    const secret = addressOf(body.url).split('/').at(-1) ?? ''
    const { rows } = await service.owner.query('select invitations::text from invitations')
    assert.ok(rows.every((row) => !row.invitations.includes(secret)))
  })
})

test('the time zone of the tenant is a name of the IANA database, and neither an offset nor an abbreviation', async () => {
  const put = (timeZone: string) => admin.call('PATCH', '/tenant', { body: { timeZone } })
  for (const timeZone of ['+01:00', '-0500', '+01', 'IST', 'pst', 'UTC+1', 'SystemV/EST5', 'Berlin', '']) {
    const { status, body } = await put(timeZone)
    assert.deepEqual([status, body.errors?.[0].pointer], [422, '/timeZone'], timeZone)
  }
  for (const [given, stored] of [
    ['europe/berlin', 'Europe/Berlin'],
    ['US/Eastern', 'America/New_York'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
    ['GMT', 'UTC'],
    ['UTC', 'UTC'],
  ] as const) {
    const { status, body } = await put(given)
    assert.deepEqual([status, body.timeZone], [200, stored])
  }
})

describe('an application of the tenant', () => {
  const input = { name: 'Report', redirectUris: ['https://app.example/callback'], scopes: ['contacts:read'] }

  test('is registered, consented to, disabled and enabled', async () => {
    const made = await admin.call('POST', '/applications', { body: { ...input, mayRefresh: true } })
    assertAnswers(operationNamed('RegisterApplication'), made)
    const { clientId } = made.body
    const [application] = (await service.owner.query('select * from applications where id = $1', [clientId])).rows
    const { access_token: token } = await authorize(origin, {
      application: { ...application, clientId, redirectUris: input.redirectUris, scopes: input.scopes },
      person: admin.person,
    })
    assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
    const disabled = await admin.call('PATCH', `/applications/${clientId}`, { body: { isDisabled: true } })
    assertAnswers(operationNamed('UpdateApplication'), disabled)
    assert.deepEqual([disabled.body.consents, disabled.body.disabledAt === null], [1, false])
    assert.equal((await service.call('GET', '/contacts', { token })).status, 401)
    await admin.call('PATCH', `/applications/${clientId}`, { body: { isDisabled: false } })
    assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
  })

  test('is told which redirect URI is refused, and why', async () => {
    const { status, body } = await admin.call('POST', '/applications', {
      body: { ...input, redirectUris: ['http://app.example/callback'] },
    })
    assert.deepEqual([status, body.errors[0].pointer], [422, '/redirectUris'])
    assert.match(body.detail, /use https/)
  })

  test('of the operator or of another tenant is not shown, nor changed', async () => {
    const { clientId } = await newApplication(service)
    const { body } = await admin.call('GET', '/applications')
    assert.ok(!JSON.stringify(body).includes(clientId))
    for (const id of [clientId, 'masthead-console']) {
      const { status } = await admin.call('PATCH', `/applications/${id}`, { body: { isDisabled: true } })
      assert.equal(status, 404)
    }
  })
})

describe('a consent', () => {
  test('is listed by who gave it, and withdrawn', async () => {
    const application = await newApplication(service)
    const giver = await consoleOf([tenant, 'editor'])
    const { access_token: token, refresh_token } = await authorize(origin, { application, person: giver.person })
    const { body } = await giver.call('GET', '/consents')
    assert.deepEqual(
      body.items.map(({ application: name }: { application: string }) => name),
      ['Test application'],
    )
    const path = `/consents/${body.items[0].id}`
    assert.equal((await admin.call('DELETE', path)).status, 404)
    assertAnswers(operationNamed('WithdrawConsent'), await giver.call('DELETE', path))
    assert.equal((await service.call('GET', '/contacts', { token })).status, 401)
    assert.ok(refresh_token)
    assert.deepEqual((await giver.call('GET', '/consents')).body.items, [])
  })
})

describe('the audit trail', () => {
  test('names who signed in and which application was allowed, and tells of its tokens when asked to', async () => {
    const hall = await service.newTenant('Reading Hall')
    const clerk = await consoleOf([hall, 'admin'])
    const told = async (query: string) =>
      (await clerk.call('GET', `/audit-entries?${query}`)).body.items.map(
        ({ action, recordName }: { action: string; recordName: string }) => [action, recordName],
      )
    assert.deepEqual(await told('resource=sign_ins'), [['succeeded', clerk.person.email]])
    assert.deepEqual(await told('resource=members'), [['added', clerk.person.email]])
    assert.deepEqual(await told('resource=consents'), [])
    const issued = ['token_issued', 'Masthead Console']
    assert.deepEqual(await told('resource=consents&includeIssued=true'), [
      issued,
      issued,
      ['opened', 'Masthead Console'],
    ])
  })

  test('tells who did what, the newest first, page by page', async () => {
    const { body: made } = await admin.call('POST', '/tokens', { body: { name: 'Audited', scopes: ['contacts:read'] } })
    const { body } = await admin.call('GET', `/audit-entries?resource=tokens&recordId=${made.id}`)
    assert.equal(body.items.length, 1)
    const [entry] = body.items
    assert.deepEqual([entry.action, entry.author.kind, entry.author.name], ['created', 'delegated', admin.person.email])
    assert.equal(entry.author.application, 'Masthead Console')
    assert.equal(entry.after.name, 'Audited')
    assert.ok(!JSON.stringify(body).includes(made.token))
    const seen: number[] = []
    for (let next: number | null | undefined; next !== null; ) {
      const page = await admin.call('GET', `/audit-entries?includeIssued=true${next ? `&before=${next}` : ''}`)
      assertAnswers(operationNamed('GetAuditEntries'), page)
      seen.push(...page.body.items.map(({ number }: { number: number }) => number))
      next = page.body.next
    }
    assert.deepEqual(
      seen,
      [...new Set(seen)].sort((a, b) => b - a),
    )
    const { rows } = await service.owner.query(
      'select count(*)::integer as count from audit_entries where tenant_id = $1',
      [tenant.id],
    )
    assert.ok(seen.length > 50 && seen.length <= rows[0].count)
  })
})

const shop = await service.newTenant('Shop')

describe('the overview', async () => {
  const { call } = await consoleOf([shop, 'viewer'])

  test('is empty, but whole, where there is nothing', async () => {
    const answer = await call('GET', '/overview')
    assertAnswers(operationNamed('GetOverview'), answer)
    assert.equal(answer.body.renewalsDue.length, 12)
    assert.deepEqual(
      answer.body.receivables.map(({ count, totalDue }: { count: number; totalDue: string }) => [count, totalDue]),
      Array(5).fill([0, '0.00']),
    )
  })

  test('counts what there is', async () => {
    const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    const [news] = await shop.add('publications', [samplePublication('NEWS')])
    await shop.add('accounts', [sampleAccount('A1')])
    const subscription = (more: Fields) => sampleSubscription('A1', String(news?.id), more)
    await shop.add('subscriptions', [
      subscription({ subscriptionId: 'S1', status: 'Active', renewalDate: daysFromNow(0) }),
      subscription({ subscriptionId: 'S2', status: 'active', renewalDate: daysFromNow(-1) }),
      subscription({ subscriptionId: 'S3', status: 'expired', renewalDate: daysFromNow(0) }),
    ])
    const invoice = (days: number, totalDue: string, more: Fields = {}) =>
      sampleInvoice('A1', null, { isOpen: 1, dueDate: daysFromNow(days), totalDue, ...more })
    await shop.add('invoices', [
      invoice(5, '10.00'),
      invoice(0, '1.00'),
      invoice(-1, '20.50'),
      invoice(-30, '0.50'),
      invoice(-31, '7.00'),
      invoice(-91, '3.00'),
      invoice(-91, '99.00', { isOpen: 0, status: 'paid' }),
    ])
    const { body } = await call('GET', '/overview')
    assert.deepEqual(body.subscriptionsByStatus, [
      { status: 'active', count: 2 },
      { status: 'expired', count: 1 },
    ])
    assert.deepEqual(
      body.subscriptionsByPublication.map(({ code, count, active }: Record<string, unknown>) => [code, count, active]),
      [['NEWS', 3, 2]],
    )
    assert.equal(body.renewalsDue[0].count, 1)
    assert.deepEqual(
      body.receivables.map(({ count, totalDue }: { count: number; totalDue: string }) => [count, totalDue]),
      [
        [2, '11.00'],
        [2, '21.00'],
        [1, '7.00'],
        [0, '0.00'],
        [1, '3.00'],
      ],
    )
  })

  test('is of the day that it is where the tenant is, as the lists behind it are', async () => {
    const islands = await service.newTenant('Islands')
    const { call } = await consoleOf([islands, 'admin'])
    await islands.add('accounts', [sampleAccount('A1')])
    // It is always at least a day later there than at the other end of the world.
    const dueDate = dayIn('Pacific/Kiritimati', new Date(Date.now() - 86_400_000))
    await islands.add('invoices', [sampleInvoice('A1', null, { dueDate, isOpen: 1, totalDue: '1.00' })])
    for (const [timeZone, age] of [
      ['Pacific/Kiritimati', '1-30'],
      ['Etc/GMT+12', 'not_due'],
    ]) {
      assert.equal((await call('PATCH', '/tenant', { body: { timeZone } })).status, 200)
      const { body } = await call('GET', '/overview')
      const counted = body.receivables.filter(({ count }: { count: number }) => count === 1)
      assert.deepEqual(counted, [{ age, count: 1, totalDue: '1.00' }])
    }
  })
})
