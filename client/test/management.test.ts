import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { managementScopes } from '@masthead/contract'
import { ConsoleBrowser } from '../../server/test/browsers/console-session.ts'
import { newPerson } from '../../server/test/browsers/oauth-browser.ts'
import { freeAddress, startService } from '../../server/test/service.ts'
import { AuthorizationError, isProblem, Masthead, OAuthClient, type SentRequest } from '../src/index.ts'
import { Management, type ManagementScope } from '../src/management.ts'

const baseUrl = await freeAddress()
const service = await startService({ baseUrl })
const [tenant, other] = [await service.newTenant('Acme'), await service.newTenant('Zenith')]
const person = await newPerson(service, [tenant, 'admin'], [other, 'viewer'])

const oauth = new OAuthClient({
  baseUrl,
  clientId: 'masthead-console',
  redirectUri: `${baseUrl}/signed-in`,
  scopes: ['contacts:read'],
  managementScopes: Object.keys(managementScopes) as ManagementScope[], // its keys are the scopes
})

const signIn = async (browser = new ConsoleBrowser(service.origin)) => {
  const request = await oauth.createAuthorizationRequest()
  return oauth.exchange(await browser.walk(request.url, person), request)
}

describe('the session of the console', () => {
  test('gives both interfaces their tokens, whoever asks first and all at once', async () => {
    const session = await signIn()
    const masthead = new Masthead({ baseUrl, token: session })
    const management = new Management({ baseUrl, token: session.management })
    const [me, tokens, contacts] = await Promise.all([
      management.me.get(),
      management.tokens.list(),
      masthead.contacts.list(),
      session.refresh(),
    ])
    assert.equal(me.email, person.email)
    assert.deepEqual(tokens.items, [])
    assert.equal(contacts.total, 0)
    await session.refresh()
    assert.equal((await management.me.get()).tenant.name, 'Acme')
  })

  test('comes back without asking, in another tenant', async () => {
    const browser = new ConsoleBrowser(service.origin)
    await signIn(browser)
    const request = await oauth.createAuthorizationRequest({ prompt: 'none', tenant: other.id })
    const session = await oauth.exchange(await browser.walk(request.url, null), request)
    const management = new Management({ baseUrl, token: session.management })
    assert.equal((await management.me.get()).tenant.role, 'viewer')
    await assert.rejects(management.members.list(), (error) => isProblem(error, 'insufficient_role'))
  })

  test('is told that nobody is signed in', async () => {
    const request = await oauth.createAuthorizationRequest({ prompt: 'none' })
    const called = await new ConsoleBrowser(service.origin).walk(request.url, null)
    await assert.rejects(
      oauth.exchange(called, request),
      (error) => error instanceof AuthorizationError && error.code === 'login_required',
    )
  })
})

test('every operation of the management interface is sent by its method, to its path', async () => {
  const session = await signIn()
  const sent: SentRequest[] = []
  const hooks = { request: (request: SentRequest) => sent.push(request) }
  const management = new Management({ baseUrl, token: session.management, hooks })
  await management.tokens.create({ name: 'x', scopes: ['contacts:read'] })
  await management.auditEntries.list({ resource: 'tokens' })
  await assert.rejects(management.serviceTokens.rotate('x', {}), (error) => isProblem(error, 'not_found'))
  await assert.rejects(management.legacySystem.retry(), (error) => isProblem(error, 'conflict'))
  await management.me.signOut({ everywhere: true })
  assert.deepEqual(
    sent.map(({ operation, method, url }) => `${operation} ${method} ${url.slice(baseUrl.length)}`),
    [
      'CreateToken POST /management-api/v1/tokens',
      'GetAuditEntries GET /management-api/v1/audit-entries?resource=tokens',
      'RotateServiceToken POST /management-api/v1/service-tokens/x/rotate',
      'RetryDeliveries POST /management-api/v1/legacy-system/retry',
      'SignOut POST /management-api/v1/me/sign-out',
    ],
  )
})
