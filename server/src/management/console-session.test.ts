import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { managementApi } from '@masthead/contract'
import { ConsoleBrowser, manage } from '../../test/browsers/console-session.ts'
import { authorize, newApplication, newPerson } from '../../test/browsers/oauth-browser.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { baseUrl, startService } from '../../test/service.ts'
import { operator } from '../audit/author.ts'
import { consoleId, setApplicationDisabled } from '../identity/people/applications.ts'
import { createMember } from '../identity/people/members.ts'
import { hashPasswordOf } from '../identity/people/users.ts'

const service = await startService()
const { origin } = service
const [tenant, other] = [await service.newTenant('Acme'), await service.newTenant('Zenith')]

describe('the console', () => {
  test('signs in without a page for consent, with a token for each interface', async () => {
    const person = await newPerson(service, [tenant, 'viewer'], [other, 'admin'])
    const { customer, management } = await new ConsoleBrowser(origin).signIn(person)
    const { status, body } = await manage(origin, 'GET', '/me', { token: management })
    assert.equal(status, 200)
    assert.deepEqual([body.email, body.tenant.id, body.tenant.role], [person.email, tenant.id, 'viewer'])
    assert.deepEqual(
      body.tenants.map(({ id }: { id: string }) => id),
      [tenant.id, other.id],
    )
    assert.equal((await service.call('GET', '/contacts', { token: customer })).status, 200)
  })

  test('has tokens that are good for their own interface only', async () => {
    const person = await newPerson(service, [tenant, 'admin'])
    const { customer, management } = await new ConsoleBrowser(origin).signIn(person)
    assert.equal((await manage(origin, 'GET', '/me', { token: customer })).body.code, 'invalid_token')
    assert.equal((await service.call('GET', '/contacts', { token: management })).body.code, 'invalid_token')
  })

  test('comes back without asking after a reload, in the same tenant', async () => {
    const person = await newPerson(service, [tenant, 'editor'], [other, 'admin'])
    const browser = new ConsoleBrowser(origin)
    await browser.signIn(person, { tenant: other.id })
    const { management } = await browser.signIn(null, { prompt: 'none' })
    assert.equal((await manage(origin, 'GET', '/me', { token: management })).body.tenant.id, other.id)
  })

  test('is told that nobody is signed in', async () => {
    const { called } = await new ConsoleBrowser(origin).callBack(null, { prompt: 'none' })
    assert.equal(called.searchParams.get('error'), 'login_required')
  })

  test('changes the tenant without asking', async () => {
    const person = await newPerson(service, [tenant, 'editor'], [other, 'admin'])
    const browser = new ConsoleBrowser(origin)
    const first = await browser.signIn(person)
    const second = await browser.signIn(null, { prompt: 'none', tenant: other.id })
    assert.equal((await manage(origin, 'GET', '/me', { token: first.management })).body.tenant.id, tenant.id)
    assert.equal((await manage(origin, 'GET', '/me', { token: second.management })).body.tenant.id, other.id)
    const again = await browser.signIn(null, { prompt: 'none' })
    assert.equal((await manage(origin, 'GET', '/me', { token: again.management })).body.tenant.id, other.id)
  })

  test('works in several tenants at once, each under a grant of its own that a reload finds again', async () => {
    const person = await newPerson(service, [tenant, 'editor'], [other, 'admin'])
    const browser = new ConsoleBrowser(origin)
    const first = await browser.signIn(person, { tenant: tenant.slug })
    const second = await browser.signIn(null, { prompt: 'none', tenant: other.slug })
    const reloaded = await browser.signIn(null, { prompt: 'none', tenant: tenant.slug })
    const tenants = []
    for (const { management } of [first, second, reloaded])
      tenants.push((await manage(origin, 'GET', '/me', { token: management })).body.tenant.slug)
    assert.deepEqual(tenants, [tenant.slug, other.slug, tenant.slug])
    assert.equal((await browser.refresh(first.refreshToken)).status, 200)
    const { rows } = await service.owner.query('select from consents where user_id = $1', [person.id])
    assert.equal(rows.length, 2)
  })

  test('is signed in with the account of the tenant that it names, where the password opens several', async () => {
    const email = 'several@console.example'
    const password = 'correct horse battery'
    const { query, read } = service.database
    for (const { id: tenantId } of [tenant, other]) {
      const passwordHash = await hashPasswordOf(read, email, password)
      await createMember(query, operator, { tenantId, email, name: 'Ada', role: 'viewer', passwordHash })
    }
    const person = { id: '', email, password }
    const { management } = await new ConsoleBrowser(origin).signIn(person, { tenant: other.slug })
    assert.equal((await manage(origin, 'GET', '/me', { token: management })).body.tenant.id, other.id)
  })

  test('begins for a person who follows an invitation, in the tenant that invited them', async () => {
    const admin = await newPerson(service, [tenant, 'admin'], [other, 'admin'])
    const boss = new ConsoleBrowser(origin)
    const { management: token } = await boss.signIn(admin, { tenant: tenant.slug })
    const email = 'katherine@console.example'
    const body = { email, role: 'viewer' }
    const { body: invitation } = await manage(origin, 'POST', '/invitations', { token, body })
    const colleague = new ConsoleBrowser(origin)
    const answers = { account: 'new', name: 'Katherine', password: 'a long walk to the moon' }
    const joined = await colleague.visit(invitation.url, answers)
    assert.equal(joined.location, `${baseUrl}/t/${tenant.slug}/`)
    const cookie = joined.headers.getSetCookie().find((one) => one.startsWith('masthead_session=')) ?? ''
    assert.match(cookie, /httponly/i)
    assert.match(cookie, /samesite=lax/i)
    const { management } = await colleague.signIn(null, { prompt: 'none', tenant: tenant.slug })
    assert.equal((await manage(origin, 'GET', '/me', { token: management })).body.email, email)
  })

  test('is refused a tenant of others', async () => {
    const person = await newPerson(service, [tenant, 'admin'])
    const browser = new ConsoleBrowser(origin)
    await browser.signIn(person)
    for (const wanted of [other.id, 'nonsense']) {
      const { called } = await browser.callBack(null, { prompt: 'none', tenant: wanted })
      assert.equal(called.searchParams.get('error'), 'access_denied')
    }
  })

  test('signs out of this browser, and what it held ends', async () => {
    const person = await newPerson(service, [tenant, 'admin'])
    const [here, there] = [new ConsoleBrowser(origin), new ConsoleBrowser(origin)]
    const mine = await here.signIn(person)
    const others = await there.signIn(person)
    const { body } = await manage(origin, 'POST', '/me/sign-out', {
      token: mine.management,
      body: { everywhere: false },
    })
    assert.deepEqual(body, { sessions: 1 })
    assert.equal((await manage(origin, 'GET', '/me', { token: mine.management })).status, 401)
    assert.equal((await service.call('GET', '/contacts', { token: mine.customer })).status, 401)
    assert.equal((await here.refresh(mine.refreshToken)).body.error, 'invalid_grant')
    const { called } = await here.callBack(null, { prompt: 'none' })
    assert.equal(called.searchParams.get('error'), 'login_required')
    assert.equal((await manage(origin, 'GET', '/me', { token: others.management })).status, 200)
  })

  test('signs out everywhere, and applications of others keep what they were allowed', async () => {
    const person = await newPerson(service, [tenant, 'admin'])
    const application = await newApplication(service)
    const { access_token } = await authorize(origin, { application, person })
    const [here, there] = [new ConsoleBrowser(origin), new ConsoleBrowser(origin)]
    const mine = await here.signIn(person)
    const others = await there.signIn(person)
    await manage(origin, 'POST', '/me/sign-out', { token: mine.management, body: { everywhere: true } })
    assert.equal((await manage(origin, 'GET', '/me', { token: others.management })).status, 401)
    assert.equal((await there.callBack(null, { prompt: 'none' })).called.searchParams.get('error'), 'login_required')
    assert.equal((await service.call('GET', '/contacts', { token: access_token })).status, 200)
  })

  test('signs out of all tenants that this browser worked in, from whichever it is told', async () => {
    for (const from of ['first', 'second'] as const) {
      const person = await newPerson(service, [tenant, 'admin'], [other, 'admin'])
      const browser = new ConsoleBrowser(origin)
      const first = await browser.signIn(person)
      const second = await browser.signIn(null, { prompt: 'none', tenant: other.id })
      const { management: token } = { first, second }[from]
      const { body } = await manage(origin, 'POST', '/me/sign-out', { token, body: { everywhere: false } })
      assert.deepEqual(body, { sessions: 1 })
      for (const { management, refreshToken } of [first, second]) {
        assert.equal((await manage(origin, 'GET', '/me', { token: management })).status, 401)
        assert.equal((await browser.refresh(refreshToken)).body.error, 'invalid_grant')
      }
      const { called } = await browser.callBack(null, { prompt: 'none' })
      assert.equal(called.searchParams.get('error'), 'login_required')
    }
  })

  test('stays signed out everywhere, also where a request in flight stores the session again', async () => {
    const person = await newPerson(service, [tenant, 'admin'], [other, 'admin'])
    const [owner, thief] = [new ConsoleBrowser(origin), new ConsoleBrowser(origin)]
    const { management: token } = await owner.signIn(person)
    await thief.signIn(person)
    const { rows } = await service.owner.query(
      `select * from authorization_state where model = 'Session' and account_id = $1`,
      [person.id],
    )
    await manage(origin, 'POST', '/me/sign-out', { token, body: { everywhere: true } })
    assert.equal(rows.length, 2)
    for (const { model, id_hash, payload, uid, account_id, expires_at } of rows) {
      // It counts by the second in which it began, which was one before.
      const { loginTs, ...session } = JSON.parse(payload)
      const earlier = JSON.stringify({ ...session, loginTs: loginTs - 1 })
      await service.owner.query(
        `insert into authorization_state (model, id_hash, payload, uid, account_id, expires_at)
        values ($1, $2, $3, $4, $5, $6)`,
        [model, id_hash, earlier, uid, account_id, expires_at],
      )
    }
    for (const wanted of [{}, { tenant: other.id }]) {
      const { called } = await thief.callBack(null, { prompt: 'none', ...wanted })
      assert.equal(called.searchParams.get('error'), 'login_required')
    }
    const { management } = await thief.signIn(person)
    assert.equal((await manage(origin, 'GET', '/me', { token: management })).status, 200)
  })

  test('ends within a second when the operator disables it', async () => {
    const person = await newPerson(service, [tenant, 'admin'])
    const { management } = await new ConsoleBrowser(origin).signIn(person)
    const setDisabled = (isDisabled: boolean) =>
      service.database.transaction((query) => setApplicationDisabled(query, operator, consoleId, isDisabled))
    const statusOfMe = async () => (await manage(origin, 'GET', '/me', { token: management })).status
    assert.equal(await statusOfMe(), 200)
    await setDisabled(true)
    try {
      await until('the console is refused', async () => (await statusOfMe()) === 401)
    } finally {
      await setDisabled(false)
    }
    assert.equal(await statusOfMe(), 200)
  })
})

describe('the management interface', () => {
  test('is for no application of others', async () => {
    const person = await newPerson(service, [tenant, 'admin'])
    const application = await newApplication(service)
    const request = { resource: baseUrl + managementApi.basePath, scope: 'openid management-api/members:manage' }
    await assert.rejects(authorize(origin, { application, person, request }), /invalid_target/)
  })

  test('is open to no token of a customer', async () => {
    for (const token of [await tenant.serviceToken(), await tenant.personalToken('admin')]) {
      const { status, body } = await manage(origin, 'GET', '/members', { token })
      assert.deepEqual([status, body.code], [403, 'insufficient_scope'])
    }
  })

  test('cannot be called by pages of other origins', async () => {
    const headers = { origin: 'https://evil.example' }
    const { management } = await new ConsoleBrowser(origin).signIn(await newPerson(service, [tenant, 'viewer']))
    for (const token of [undefined, management]) {
      const answer = await manage(origin, 'GET', '/me', { headers, ...(token && { token }) })
      assert.equal(answer.status, token ? 200 : 401)
      assert.equal(answer.headers.get('access-control-allow-origin'), null)
    }
  })
})
