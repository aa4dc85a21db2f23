import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  actionOf,
  authorizationRequest,
  Browser,
  callback,
  newApplication,
  newPerson,
  newVerifier,
  offeredTenants,
  type Parameters,
  prefixed,
  type Visit,
} from '../../test/browsers/oauth-browser.ts'
import { baseUrl, startService } from '../../test/service.ts'
import { consoleId, findApplication } from '../identity/people/applications.ts'

const service = await startService()
const { origin, database } = service
const tenant = await service.newTenant()
const person = await newPerson(service, [tenant, 'viewer'])
const ofOperator = await newApplication(service)
const ofTenant = await newApplication(service, { tenantId: tenant.id })
const ask = (changes: Parameters = {}, application = ofTenant) =>
  authorizationRequest(application, newVerifier(), changes)

/** Signed in, and nothing decided. */
const signedIn = async (): Promise<Browser> => {
  const browser = new Browser(origin)
  const page = await browser.follow(ask({}, ofOperator))
  const consent = await browser.follow(actionOf(page, 'sign-in') ?? '', {
    email: person.email,
    password: person.password,
  })
  assert.deepEqual(offeredTenants(consent), [tenant.id])
  return browser
}

const assertShown = ({ status, headers, location, page }: Visit, error: string): void => {
  assert.deepEqual([status, location], [400, ''])
  assert.match(page, new RegExp(`[>(]${error}[<)]`))
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*form-action 'self'(;|$)/)
  for (const way of [callback, '<form', '<a ', '<script', 'http-equiv'])
    assert.ok(!page.includes(way), `the page leads on by ${way}`)
}
const assertSent = ({ status, location }: Visit, error: string): void => {
  assert.equal(status, 303)
  const called = new URL(location)
  assert.equal(called.origin + called.pathname, callback)
  const answer = new URLSearchParams(called.search || called.hash.slice(1))
  assert.deepEqual([answer.get('error'), answer.get('iss')], [error, baseUrl])
}

const mistakes: Record<string, [Parameters, string]> = {
  'a scope that is not registered': [{ scope: prefixed('invoices:read') }, 'invalid_scope'],
  'a scope that is not registered, sent in the fragment': [
    { scope: prefixed('invoices:read'), response_mode: 'fragment' },
    'invalid_scope',
  ],
  'a scope that is not registered, sent by a form': [
    { scope: prefixed('invoices:read'), response_mode: 'form_post' },
    'invalid_scope',
  ],
  'an unknown response mode': [{ response_mode: 'pigeon' }, 'unsupported_response_mode'],
  'an unknown response type': [{ response_type: 'token' }, 'unsupported_response_type'],
  'no response type': [{ response_type: undefined }, 'invalid_request'],
  'no PKCE': [{ code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
  'an unknown prompt': [{ prompt: 'create' }, 'invalid_request'],
  'another resource': [{ resource: 'https://other.example/' }, 'invalid_target'],
  'a request object': [{ request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
}

describe('an application that a tenant registered', () => {
  for (const [name, [changes, error]] of Object.entries(mistakes)) {
    test(`is not told of ${name} while nobody is signed in`, async () => {
      assertShown(await new Browser(origin).visit(ask(changes)), error)
    })

    test(`is not told of ${name} by somebody who never allowed it`, async () => {
      assertShown(await (await signedIn()).visit(ask(changes)), error)
    })
  }

  test('is not told by prompt=none that nobody is signed in', async () => {
    assertShown(await new Browser(origin).visit(ask({ prompt: 'none' })), 'login_required')
  })

  test('is told by prompt=none that somebody is signed in who never allowed it, and nothing else', async () => {
    const browser = await signedIn()
    assertSent(await browser.visit(ask({ prompt: 'none' })), 'consent_required')
    assertShown(await browser.visit(ask({ prompt: 'none', scope: prefixed('invoices:read') })), 'invalid_scope')
  })

  test('is told of what is wrong by somebody who has allowed it, and no longer once that was withdrawn', async () => {
    const fickle = await newPerson(service, [tenant, 'viewer'])
    const browser = new Browser(origin)
    assert.ok((await browser.answer(ask(), { person: fickle })).searchParams.get('code'))
    const tooMuch = { scope: prefixed('invoices:read') }
    assertSent(await browser.visit(ask(tooMuch)), 'invalid_scope')
    const other = await newApplication(service, { tenantId: tenant.id })
    assertShown(await browser.visit(ask(tooMuch, other)), 'invalid_scope')
    await service.owner.query('update consents set withdrawn_at = now() where user_id = $1', [fickle.id])
    assertShown(await browser.visit(ask(tooMuch)), 'invalid_scope')
  })

  test('is not told by a browser from which the one who allowed it has signed out', async () => {
    const browser = new Browser(origin)
    await browser.answer(ask(), { person })
    const consent = await browser.follow(ask())
    await browser.visit(actionOf(consent, 'switch-user') ?? '', {})
    assertShown(await browser.visit(ask({ prompt: 'none' })), 'login_required')
  })

  test('is told when somebody who signed in denies', async () => {
    const called = await new Browser(origin).answer(ask(), { person, decision: 'deny' })
    assert.equal(called.origin + called.pathname, callback)
    assert.equal(called.searchParams.get('error'), 'access_denied')
  })

  test('is not told when somebody leaves the page for signing in', async () => {
    const browser = new Browser(origin)
    const page = await browser.follow(ask())
    const left = await browser.follow(actionOf(page, 'cancel') ?? '', {})
    assertShown(left, 'access_denied')
    assert.match(left.page, /<h1><bdi>Cancelled<\/bdi><\/h1>/)
  })
})

describe('an application that an operator registered', () => {
  for (const [name, [changes, error]] of Object.entries(mistakes)) {
    if (changes.response_mode === 'form_post') continue
    test(`is told of ${name} while nobody is signed in`, async () => {
      assertSent(await new Browser(origin).visit(ask(changes, ofOperator)), error)
    })
  }

  test('is told of a mistake by a form when it asks for one', async () => {
    const changes = { scope: prefixed('invoices:read'), response_mode: 'form_post' }
    const { page } = await new Browser(origin).visit(ask(changes, ofOperator))
    assert.match(page, new RegExp(`<form method="post" action="${callback}">[^]*value="invalid_scope"`))
  })

  test('is told by prompt=none whether somebody is signed in', async () => {
    assertSent(await new Browser(origin).visit(ask({ prompt: 'none' }, ofOperator)), 'login_required')
    assertSent(await (await signedIn()).visit(ask({ prompt: 'none' }, ofOperator)), 'consent_required')
  })
})

test('the console is told by prompt=none that nobody is signed in', async () => {
  const console = await findApplication(database.read, consoleId)
  assert.ok(console)
  const redirect_uri = `${baseUrl}/signed-in`
  const changes = { prompt: 'none', scope: 'openid', resource: undefined, redirect_uri }
  const { location } = await new Browser(origin).visit(ask(changes, console))
  assert.ok(location.startsWith(`${redirect_uri}?error=login_required&`), location)
})
