import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  actionOf,
  authorizationRequest,
  Browser,
  newApplication,
  newPerson,
  newVerifier,
  offeredTenants,
  type Person,
} from '../../test/browsers/oauth-browser.ts'
import { injectRequest } from '../../test/requests/injected-request.ts'
import { baseUrl, secret, startService } from '../../test/service.ts'
import { buildApp } from '../app.ts'

const service = await startService()
const { origin, app } = service
const tenant = await service.newTenant()
const application = await newApplication(service)
const person = await newPerson(service, [tenant, 'admin'])

const begin = async (browser = new Browser(origin)) => {
  const page = await browser.follow(authorizationRequest(application, newVerifier()))
  return { browser, page, signIn: actionOf(page, 'sign-in') ?? '', cancel: actionOf(page, 'cancel') ?? '' }
}

/** Tries to sign in from an address of the test's own; the cookies are those of a new request. */
const trier = async () => {
  const asked = await injectRequest(app, { url: authorizationRequest(application, newVerifier()) })
  const cookie = asked.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  return (address: string, email: string, password: string, headers: Record<string, string> = {}) =>
    injectRequest(app, {
      method: 'POST',
      url: `${asked.headers.location}/sign-in`,
      remoteAddress: address,
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: `${new URLSearchParams({ email, password })}`,
    })
}

const wrong = 'wrong horse battery'
const newcomer = (): Promise<Person> => newPerson(service, [tenant, 'viewer'])

describe('signing in', () => {
  test('treats an unknown user like a wrong password', async () => {
    const texts = []
    for (const email of [person.email, 'nobody@example.com']) {
      const { browser, signIn } = await begin()
      const { status, page, headers, location } = await browser.visit(signIn, { email, password: wrong })
      const common = page.replaceAll(email, 'EMAIL').replaceAll(signIn.split('/')[3] ?? '', 'UID')
      texts.push({ status, location, common, policy: headers.get('content-security-policy') })
    }
    assert.equal(texts[0]?.status, 401)
    assert.match(texts[0]?.common ?? '', /The e-mail address or the password is not right/)
    assert.deepEqual(texts[0], texts[1])
  })

  test('takes the address in any case, and the password in its own only', async () => {
    const { browser, signIn } = await begin()
    const email = person.email.toUpperCase()
    assert.equal((await browser.visit(signIn, { email, password: person.password.toUpperCase() })).status, 401)
    const consent = await browser.follow(signIn, { email, password: person.password })
    assert.deepEqual(offeredTenants(consent), [tenant.id])
  })

  test('is asked once a browser, until somebody else wants to sign in', async () => {
    const { browser, signIn } = await begin()
    await browser.follow(signIn, { email: person.email, password: person.password })
    const second = await browser.follow(authorizationRequest(application, newVerifier()))
    assert.equal(actionOf(second, 'sign-in'), undefined)
    const begun = await browser.follow(actionOf(second, 'switch-user') ?? '', {})
    assert.ok(actionOf(begun, 'sign-in'))
    const other = await newcomer()
    const consent = await browser.follow(actionOf(begun, 'sign-in') ?? '', { ...other, id: undefined })
    assert.match(consent.page, new RegExp(other.email))
  })

  test('can be cancelled, which the application is told', async () => {
    const { browser, cancel } = await begin()
    const called = new URL((await browser.follow(cancel, {})).location)
    assert.equal(called.searchParams.get('error'), 'access_denied')
  })
})

describe('after five failures for an account from an address', async () => {
  const attempt = await trier()
  const [victim, bystander] = [await newcomer(), await newcomer()]
  const [attacker, home] = ['192.0.2.1', '192.0.2.2']
  for (let failure = 0; failure < 5; failure++)
    assert.equal((await attempt(attacker, victim.email, wrong)).statusCode, 401)

  test('even the right password is not checked, and the response says when to retry', async () => {
    for (const password of [wrong, victim.password]) {
      const refused = await attempt(attacker, victim.email, password)
      assert.equal(refused.statusCode, 429)
      const seconds = Number(refused.headers['retry-after'])
      assert.ok(seconds > 14 * 60 && seconds <= 15 * 60, `${seconds} s`)
      assert.match(refused.body, /Too many attempts/)
    }
  })

  test('the account in other letters is the same account', async () => {
    assert.equal((await attempt(attacker, victim.email.toUpperCase(), victim.password)).statusCode, 429)
  })

  test('a header that claims another address changes nothing', async () => {
    const headers = { 'x-forwarded-for': home, 'x-real-ip': home, forwarded: `for=${home}` }
    assert.equal((await attempt(attacker, victim.email, victim.password, headers)).statusCode, 429)
  })

  test('the account signs in from another address', async () => {
    assert.equal((await attempt(home, victim.email, victim.password)).statusCode, 303)
    assert.equal((await attempt(attacker, victim.email, victim.password)).statusCode, 429)
  })

  test('another account signs in from the address', async () => {
    assert.equal((await attempt(attacker, bystander.email, bystander.password)).statusCode, 303)
  })

  test('the account signs in again once a quarter of an hour has passed', async () => {
    await service.owner.query(`update sign_in_failures set first_at = first_at - interval '15 minutes'`)
    assert.equal((await attempt(attacker, victim.email, victim.password)).statusCode, 303)
  })
})

test('an account signs in at once when the clock of the database has been set back since its failures', async () => {
  const attempt = await trier()
  const victim = await newcomer()
  for (const status of [401, 401, 401, 401, 401, 429])
    assert.equal((await attempt('192.0.2.9', victim.email, wrong)).statusCode, status)
  await service.owner.query(`update sign_in_failures set first_at = first_at + interval '1 hour'`)
  assert.equal((await attempt('192.0.2.9', victim.email, victim.password)).statusCode, 303)
})

test('a trusted proxy names the caller, and nobody else does', async (context) => {
  const delegation = { issuer: baseUrl, secret }
  const app = await buildApp({
    database: service.database,
    baseUrl,
    delegation,
    trustedProxies: ['192.0.2.0/24', '2001:db8:ffff::1'],
    rateLimits: null,
  })
  context.after(() => app.close())
  app.pages.add({ path: '/address', GET: async ({ address }) => ({ body: address }) })
  const proxy = '192.0.2.1'
  const seenFrom = async (remoteAddress: string, forwarded: string) =>
    (await injectRequest(app, { url: '/address', remoteAddress, headers: { 'x-forwarded-for': forwarded } })).body
  assert.equal(await seenFrom('198.51.100.1', '203.0.113.7'), '198.51.100.1')
  const named: [forwarded: string, caller: string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:40001', '203.0.113.7'],
    ['"203.0.113.7:40001"', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['[0:0:0:0:0:ffff:203.0.113.7]:40001', '203.0.113.7'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:40001', '2001:db8::1'],
    ['"[2001:db8:0::1]:40001"', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth7]:40001', 'fe80::1'],
    // Proxies before the last one, in whatever form.
    ['198.51.100.9, 203.0.113.7:1, 192.0.2.3:2', '203.0.113.7'],
    ['203.0.113.7,[2001:db8:ffff:0::1]:443, ::ffff:192.0.2.4', '203.0.113.7'],
    [' ,203.0.113.7, ,, 192.0.2.3,', '203.0.113.7'],
    // What is no address is the proxy's word, and counts as the proxy.
    ...['unknown', '_hidden', '', ' ', '203.0.113.7:x', '203.0.113.7:123456', '203.0.113.700', '01.2.3.4', '1.2.3'].map(
      (forwarded): [string, string] => [forwarded, proxy],
    ),
    ...['[203.0.113.7', '[::1]x', '::1::2', '[not]:1', 'localhost', '203.0.113.7 8', '\u00e9'].map(
      (forwarded): [string, string] => [forwarded, proxy],
    ),
    ['203.0.113.7, made up, 192.0.2.3', '192.0.2.3'],
  ]
  for (const [forwarded, caller] of named) assert.equal(await seenFrom(proxy, forwarded), caller, forwarded)
})

test('an IPv6 address counts with its whole network', async () => {
  const attempt = await trier()
  const victim = await newcomer()
  for (let host = 1; host <= 5; host++)
    assert.equal((await attempt(`2001:db8:0:1::${host}`, victim.email, wrong)).statusCode, 401)
  assert.equal((await attempt('2001:db8::1:ffff:0:0:1', victim.email, victim.password)).statusCode, 429)
  assert.equal((await attempt('2001:db8:0:2::1', victim.email, victim.password)).statusCode, 303)
})

test('a success forgets the failures before it', async () => {
  const attempt = await trier()
  const clumsy = await newcomer()
  for (let round = 0; round < 2; round++) {
    for (let failure = 0; failure < 4; failure++)
      assert.equal((await attempt('192.0.2.3', clumsy.email, wrong)).statusCode, 401)
    assert.equal((await attempt('192.0.2.3', clumsy.email, clumsy.password)).statusCode, 303)
  }
})

test('an unknown user is throttled as a known one', async () => {
  const attempt = await trier()
  const statuses = []
  for (let failure = 0; failure < 6; failure++)
    statuses.push((await attempt('192.0.2.4', 'nobody@example.com', wrong)).statusCode)
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429])
})

test('of guesses sent all at once five are looked at', async () => {
  const attempt = await trier()
  const victim = await newcomer()
  const answers = await Promise.all(Array.from({ length: 20 }, () => attempt('192.0.2.5', victim.email, wrong)))
  const looked = answers.filter(({ statusCode }) => statusCode === 401)
  assert.equal(looked.length, 5)
  for (const { statusCode } of answers) assert.ok(statusCode === 401 || statusCode === 429)
})

test('an address has fifty failures over all accounts, and successes do not count', async () => {
  const attempt = await trier()
  const [one, other] = [await newcomer(), await newcomer()]
  for (let success = 0; success < 3; success++)
    assert.equal((await attempt('192.0.2.6', one.email, one.password)).statusCode, 303)
  const guesses = Array.from({ length: 60 }, (_, number) => attempt('192.0.2.6', `${number}@example.com`, wrong))
  const statuses = (await Promise.all(guesses)).map(({ statusCode }) => statusCode)
  assert.equal(statuses.filter((status) => status === 401).length, 50)
  assert.equal(statuses.filter((status) => status === 429).length, 10)
  assert.equal((await attempt('192.0.2.6', other.email, other.password)).statusCode, 429)
  assert.equal((await attempt('192.0.2.7', other.email, other.password)).statusCode, 303)
})

describe('the pages refuse', () => {
  const credentials = { email: person.email, password: person.password }

  for (const site of ['cross-site', 'same-site', 'none']) {
    test(`a form that was sent with Sec-Fetch-Site: ${site}`, async () => {
      const { browser, signIn, cancel } = await begin()
      for (const action of [signIn, cancel]) {
        const visit = await browser.visit(action, credentials, { 'sec-fetch-site': site })
        assert.deepEqual([visit.status, visit.location], [400, ''])
      }
      const consent = await browser.follow(signIn, credentials)
      for (const last of ['consent', 'switch-user'] as const) {
        const form = { decision: 'allow', tenant: tenant.id }
        const visit = await browser.visit(actionOf(consent, last) ?? '', form, { 'sec-fetch-site': site })
        assert.deepEqual([visit.status, visit.location], [400, ''])
      }
      const { rows } = await service.owner.query('select from consents where user_id = $1', [person.id])
      assert.equal(rows.length, 0)
    })
  }

  test('the interaction of another browser', async () => {
    const { browser, page, signIn, cancel } = await begin()
    const thief = new Browser(origin)
    const stolen = signIn.replace(/\/sign-in$/, '')
    const visits = [
      await thief.visit(stolen),
      await thief.visit(signIn, credentials),
      await thief.visit(cancel, {}),
      await thief.visit(`${stolen}/consent`, { decision: 'allow', tenant: tenant.id }),
      await thief.visit(`${stolen}/switch-user`, {}),
    ]
    for (const { status, location, page } of visits) {
      assert.deepEqual([status, location], [400, ''])
      assert.match(page, /This page has expired/)
    }
    assert.equal(page.status, 200)
    assert.ok(offeredTenants(await browser.follow(signIn, credentials)).length > 0)
  })

  test('the interaction of another browser that has one of its own', async () => {
    const [{ browser: thief }, { signIn }] = [await begin(), await begin()]
    const visit = await thief.visit(signIn, credentials)
    assert.deepEqual([visit.status, visit.location], [400, ''])
  })

  test('a consent before anybody has signed in', async () => {
    const { browser, signIn } = await begin()
    const consent = signIn.replace(/sign-in$/, 'consent')
    const visit = await browser.follow(consent, { decision: 'allow', tenant: tenant.id })
    assert.doesNotMatch(visit.location, /code=/)
    assert.ok(actionOf(visit, 'sign-in'))
  })

  test('to be framed, cached, or to load anything', async () => {
    const { browser, page, signIn } = await begin()
    for (const { headers } of [page, await browser.follow(signIn, credentials)]) {
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'none'/)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.match(policy, /form-action 'self' https:\/\/app\.example(;|$)/)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
    }
  })

  test('to hand their cookies to scripts or other sites', async () => {
    const { browser, page, signIn } = await begin()
    const first = await new Browser(origin).visit(authorizationRequest(application, newVerifier()))
    const signedIn = await browser.visit(signIn, credentials)
    const resumed = await browser.visit(signedIn.location)
    const cookies = [first, page, signedIn, resumed].flatMap(({ headers }) => headers.getSetCookie())
    assert.ok(cookies.some((cookie) => cookie.startsWith('masthead_session=')))
    for (const cookie of cookies) {
      assert.match(cookie, /; httponly/i)
      assert.match(cookie, /; samesite=lax/i)
    }
  })
})
