import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { managementApi, managementScopes, scopesOf } from '@masthead/contract'
import pg from 'pg'
import { ConsoleBrowser, manage } from '../../test/browsers/console-session.ts'
import { authorize, Browser, newApplication, newPerson } from '../../test/browsers/oauth-browser.ts'
import { attachTo } from '../../test/outside/webhook-receiver.ts'
import { until } from '../../test/processes/masthead-process.ts'
import {
  sampleAccount,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../../test/records/sample-records.ts'
import { assertAnswers } from '../../test/requests/contract-responses.ts'
import { type CallOptions, startService } from '../../test/service.ts'
import type { Fields } from '../records/stored-record.ts'
import { dayIn } from '../records/today.ts'

const service = await startService()
const { origin } = service
const tenant = await service.newTenant('Acme')
const stranger = await service.newTenant('Zenith')

const consoleOf = async (...memberships: Parameters<typeof newPerson> extends [unknown, ...infer M] ? M : never) => {
  const person = await newPerson(service, ...memberships)
  const { management: token, customer } = await new ConsoleBrowser(origin).signIn(person)
  const call = (method: string, path: string, options: CallOptions = {}) =>
    manage(origin, method, path, { token, ...options })
  return { person, token, customer, call }
}
const admin = await consoleOf([tenant, 'admin'])
const [editor, viewer] = [await consoleOf([tenant, 'editor']), await consoleOf([tenant, 'viewer'])]

/** Calls an operation by its name, and checks the response against the contract. */
const at = (name: string) => {
  const named = managementApi.operations.find((operation) => operation.name === name)
  if (!named) throw new Error(`there is no operation ${name}`)
  return named
}

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
    assertAnswers(at('CreateToken'), made)
    const { token } = made.body
    assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
    const { body: listed } = await admin.call('GET', '/tokens')
    assert.equal(listed.items[0].id, made.body.id)
    assert.ok(!JSON.stringify(listed).includes(token))
    const revoked = await admin.call('DELETE', `/tokens/${made.body.id}`)
    assertAnswers(at('RevokeToken'), revoked)
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
    assertAnswers(at('CreateServiceToken'), made)
    const path = `/service-tokens/${made.body.id}`
    const rotated = await admin.call('POST', `${path}/rotate`, { body: { overlapHours: 1 } })
    assertAnswers(at('RotateServiceToken'), rotated)
    for (const { token } of [made.body, rotated.body])
      assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
    assertAnswers(at('RevokeServiceToken'), await admin.call('DELETE', path))
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
    assertAnswers(at('UpdateMember'), changed)
    assert.deepEqual([changed.body.role, changed.body.legacyUserId], ['admin', 'U1'])
    assert.equal((await viewer.call('GET', '/members')).status, 200)
  })

  test('is removed, and nothing of the membership works any longer', async () => {
    const leaver = await consoleOf([tenant, 'editor'])
    const { body: pat } = await leaver.call('POST', '/tokens', { body: { name: 'x', scopes: ['contacts:read'] } })
    assertAnswers(at('RemoveMember'), await admin.call('DELETE', `/members/${leaver.person.id}`))
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
    assertAnswers(at('CreateInvitation'), made)
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
    assertAnswers(at('WithdrawInvitation'), await admin.call('DELETE', `/invitations/${second.body.id}`))
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
      assert.equal((await end(inviter.person.id)).status, 200)
      assert.equal((await new Browser(origin).visit(addressOf(body.url))).status, 404)
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
    assertAnswers(at('RegisterApplication'), made)
    const { clientId } = made.body
    const [application] = (await service.owner.query('select * from applications where id = $1', [clientId])).rows
    const { access_token: token } = await authorize(origin, {
      application: { ...application, clientId, redirectUris: input.redirectUris, scopes: input.scopes },
      person: admin.person,
    })
    assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
    const disabled = await admin.call('PATCH', `/applications/${clientId}`, { body: { isDisabled: true } })
    assertAnswers(at('UpdateApplication'), disabled)
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
    assertAnswers(at('WithdrawConsent'), await giver.call('DELETE', path))
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
      assertAnswers(at('GetAuditEntries'), page)
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
    assertAnswers(at('GetOverview'), answer)
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

describe('an import', () => {
  const announce = async (fileName: string, resource: string, content: string) => {
    const run = await admin.call('POST', '/import-runs', { body: { fileName, resource } })
    assertAnswers(at('CreateImportRun'), run)
    const path = `/import-runs/${run.body.id}`
    const bytes = Buffer.from(content)
    for (let start = 0; start < bytes.length; start += 100) {
      const part = { number: start / 100 + 1, content: bytes.subarray(start, start + 100).toString('base64') }
      assertAnswers(at('AddImportPart'), await admin.call('POST', `${path}/parts`, { body: part }))
    }
    return path
  }
  const ended = async (path: string) => {
    let answer = await admin.call('GET', path)
    await until('the run ends', async () => {
      answer = await admin.call('GET', path)
      assertAnswers(at('GetImportRun'), answer)
      return answer.body.state !== 'running'
    })
    return answer.body
  }
  const accounts = `accountId,company
${Array.from({ length: 40 }, (_, index) => `IMP${index},Company ${index}`).join('\n')}
"a UUID would be refused, and so is a name that is too long ${'x'.repeat(60)}",Nobody
`
  const accountsWith = async (search: string) => {
    const token = await tenant.serviceToken()
    const headers = { 'cache-control': 'no-cache' }
    return (await service.call('GET', `/accounts?search=${search}`, { token, headers })).body.total
  }

  test('is checked, done, shown with its refused rows, and undone', async () => {
    const path = await announce('Our accounts.csv', 'accounts', accounts)
    assertAnswers(at('CheckImport'), await admin.call('POST', `${path}/check`))
    const checked = await ended(path)
    assert.deepEqual([checked.state, checked.created, checked.refused, checked.importId], ['checked', 40, 1, null])
    assert.equal(checked.refusals[0].column, 'accountId')
    assert.equal(await accountsWith('Company'), 0)

    assertAnswers(at('StartImport'), await admin.call('POST', `${path}/start`))
    const done = await ended(path)
    assert.deepEqual([done.state, done.created, done.refused, done.hasRejectedRows], ['done', 40, 1, true])
    assert.equal(await accountsWith('Company'), 40)
    const rejected = await admin.call('GET', `${path}/rejected-rows`)
    assertAnswers(at('GetRejectedRows'), rejected)
    assert.equal(rejected.body.fileName, 'Our accounts.csv.rejected.csv')
    assert.match(
      Buffer.from(rejected.body.content, 'base64').toString(),
      /^rejected_line,rejected_column,rejected_reason,accountId,company\n42,accountId,/,
    )
    assert.equal((await admin.call('POST', `${path}/start`)).body.code, 'conflict')

    const listed = await admin.call('GET', '/imports')
    assertAnswers(at('GetImports'), listed)
    const [newest] = listed.body.items
    assert.deepEqual([newest.id, newest.state, newest.files[0].file], [done.importId, 'done', 'Our accounts.csv'])
    const undo = await admin.call('POST', `/imports/${done.importId}/undo`)
    assertAnswers(at('UndoImport'), undo)
    const undone = await ended(`/import-runs/${undo.body.id}`)
    assert.deepEqual([undone.state, undone.removed, undone.kept], ['done', 40, 0])
    assert.equal(await accountsWith('Company'), 0)
    assert.equal((await admin.call('POST', `/imports/${done.importId}/undo`)).body.code, 'conflict')
    const { body } = await admin.call('GET', `/audit-entries?resource=imports&recordId=${done.importId}`)
    assert.deepEqual(
      body.items.map(({ action, author }: { action: string; author: { name: string } }) => [action, author.name]),
      ['undone', 'ended', 'created', 'begun'].map((action) => [action, admin.person.email]),
    )
  })

  test('is undone when the call that asked for it is stored, however late, and not before', async (context) => {
    const path = await announce('accounts.csv', 'accounts', 'accountId,company\nLATE,Latecomer\n')
    await admin.call('POST', `${path}/start`)
    const { importId } = await ended(path)
    const holder = new pg.Client(service.connectionString)
    await holder.connect()
    context.after(() => holder.end())
    await holder.query('begin')
    // The answer cannot be kept under its key, without which nothing is committed.
    await holder.query('lock table idempotency_records in share mode')
    const undo = (key: string) =>
      admin.call('POST', `/imports/${importId}/undo`, { headers: { 'idempotency-key': key } })
    assert.equal((await undo('too late')).status, 503)
    assert.equal(await accountsWith('Latecomer'), 1)
    const asked = undo('late')
    await until('it waits', async () => {
      const { rows } = await service.owner.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length === 1
    })
    await holder.query('commit')
    const { status, body } = await asked
    assert.equal(status, 201, JSON.stringify(body))
    const undone = await ended(`/import-runs/${body.id}`)
    assert.deepEqual([undone.state, undone.removed], ['done', 1])
  })

  test('tells what is wrong with the file, by its own name', async () => {
    const path = await announce('broken.csv', 'accounts', 'nonsense\n1\n')
    await admin.call('POST', `${path}/check`)
    const failed = await ended(path)
    assert.equal(failed.state, 'failed')
    assert.match(failed.problem, /^broken\.csv: it has a column "nonsense" \("1"\), which accounts do not have\./)
    assert.doesNotMatch(failed.problem, /\/tmp|--|`/)
  })

  test('is one of a tenant at a time, however many are asked for at once', async () => {
    const paths = await Promise.all([1, 2, 3, 4].map(() => announce('accounts.csv', 'accounts', accounts)))
    const answers = await Promise.all(paths.map((path) => admin.call('POST', `${path}/check`)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409])
    for (const [index, { status }] of answers.entries()) if (status === 200) await ended(paths[index] ?? '')
  })

  test('waits for all of the file', async () => {
    const { body: run } = await admin.call('POST', '/import-runs', {
      body: { fileName: 'a.csv', resource: 'accounts' },
    })
    const path = `/import-runs/${run.id}`
    assert.equal((await admin.call('POST', `${path}/check`)).body.code, 'conflict')
    await admin.call('POST', `${path}/parts`, { body: { number: 2, content: 'YQ==' } })
    await admin.call('POST', `${path}/check`)
    assert.match((await ended(path)).problem, /not arrived as a whole/)
  })

  test('of another tenant is not found', async () => {
    const other = await consoleOf([stranger, 'admin'])
    const path = await announce('accounts.csv', 'accounts', accounts)
    for (const [method, below] of [
      ['GET', ''],
      ['POST', '/start'],
      ['POST', '/check'],
      ['POST', '/inspect'],
      ['POST', '/cancel'],
      ['GET', '/rejected-rows'],
    ] as const)
      assert.equal((await other.call(method, path + below)).status, 404)
    assert.equal((await other.call('PATCH', path, { body: { resource: 'accounts' } })).status, 404)
    const part = { number: 1, content: 'YQ==' }
    assert.equal((await other.call('POST', `${path}/parts`, { body: part })).status, 404)
  })

  test('refuses what is no base64', async () => {
    const path = await announce('accounts.csv', 'accounts', accounts)
    for (const content of ['a', 'a b=', '====']) {
      const { status } = await admin.call('POST', `${path}/parts`, { body: { number: 1, content } })
      assert.equal(status, 422, content)
    }
  })

  test('that its process left behind is told to be interrupted, and can be started again', async () => {
    const path = await announce('accounts.csv', 'accounts', accounts)
    const id = path.split('/').at(-1)
    await service.owner.query(
      `update import_runs set state = 'running', seen_at = now() - interval '1 minute' where id = $1`,
      [id],
    )
    assert.equal((await admin.call('GET', path)).body.state, 'interrupted')
    await admin.call('POST', `${path}/check`)
    assert.equal((await ended(path)).state, 'checked')
  })
})

describe('a webhook endpoint', () => {
  const given = { url: 'http://127.0.0.1:1/in?key=1', events: ['contact.created', 'import.completed'] }
  const make = async () => {
    const made = await admin.call('POST', '/webhook-endpoints', { body: { ...given, description: 'Sync' } })
    assertAnswers(at('CreateWebhookEndpoint'), made)
    return { ...made, path: `/webhook-endpoints/${made.body.id}` }
  }

  test('is made, shown with its secret once, changed, disabled, enabled and deleted, and each is in the audit log', async () => {
    const { body, path, headers } = await make()
    assert.match(body.secret, /^whsec_\S{44}$/)
    assert.match(headers.get('location') ?? '', new RegExp(`${path}$`))
    const shown = await admin.call('GET', path)
    assertAnswers(at('GetWebhookEndpoint'), shown)
    const { secret, ...rest } = body
    assert.deepEqual(shown.body, rest)
    assert.ok(!(await admin.call('GET', '/webhook-endpoints')).text.includes(secret))
    const changed = await admin.call('PATCH', path, { body: { events: ['task.created'], isDisabled: true } })
    assertAnswers(at('UpdateWebhookEndpoint'), changed)
    assert.deepEqual([changed.body.events, changed.body.disabledBecause], [['task.created'], 'requested'])
    assert.equal((await admin.call('POST', `${path}/test`)).body.code, 'conflict')
    const enabled = await admin.call('PATCH', path, { body: { isDisabled: false } })
    assert.deepEqual([enabled.body.disabledAt, enabled.body.disabledBecause], [null, null])
    const rotated = await admin.call('POST', `${path}/rotate-secret`)
    assertAnswers(at('RotateWebhookSecret'), rotated)
    assert.notEqual(rotated.body.secret, secret)
    assert.ok(Date.parse(rotated.body.formerSecretUntil) > Date.now() + 86_000_000)
    assertAnswers(at('DeleteWebhookEndpoint'), await admin.call('DELETE', path))
    assert.equal((await admin.call('GET', path)).status, 404)
    const log = await admin.call('GET', `/audit-entries?resource=webhook_endpoints&recordId=${body.id}`)
    const actions = log.body.items.map(({ action }: { action: string }) => action).toReversed()
    assert.deepEqual(actions, ['created', 'updated', 'disabled', 'enabled', 'secret_rotated', 'disabled', 'deleted'])
    assert.ok(!log.text.includes('key=1') && !log.text.includes('whsec_'))
  })

  test('shows its deliveries, newest first, and sends one or all again', async () => {
    const { path } = await make()
    const sent = [await admin.call('POST', `${path}/test`), await admin.call('POST', `${path}/test`)]
    for (const one of sent) assertAnswers(at('SendTestEvent'), one)
    const [first, second] = sent.map(({ body }) => body)
    const list = await admin.call('GET', `${path}/deliveries?state=waiting`)
    assertAnswers(at('GetWebhookDeliveries'), list)
    assert.deepEqual(
      list.body.items.map(({ id }: { id: string }) => id),
      [second.id, first.id],
    )
    const older = await admin.call('GET', `${path}/deliveries?before=${second.number}`)
    assert.deepEqual([older.body.items.length, older.body.next], [1, null])
    assert.deepEqual((await admin.call('GET', `${path}/deliveries?state=failed`)).body.items, [])
    const detail = await admin.call('GET', `${path}/deliveries/${first.id}`)
    assertAnswers(at('GetWebhookDelivery'), detail)
    assert.equal(detail.body.request.url, 'http://127.0.0.1:1/in?…')
    assert.equal(JSON.parse(detail.body.request.body).type, 'webhook.test')
    assertAnswers(at('ResendWebhookDelivery'), await admin.call('POST', `${path}/deliveries/${first.id}/resend`))
    const replayed = await admin.call('POST', `${path}/replay`, { body: { since: '2026-01-01T00:00:00.000Z' } })
    assertAnswers(at('ReplayWebhookEvents'), replayed)
    assert.deepEqual(replayed.body, { replayed: 2 })
    for (const nothing of ['nothing', `msg_${'0'.repeat(32)}`])
      assert.equal((await admin.call('GET', `${path}/deliveries/${nothing}`)).status, 404)
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
    for (let count = 0; count < 20; count++)
      assert.equal((await crowded.call('POST', '/webhook-endpoints', { body: given })).status, 201)
    const { body } = await crowded.call('POST', '/webhook-endpoints', { body: given })
    assert.deepEqual([body.code, /at most 20/.test(body.detail)], ['conflict', true])
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
})
