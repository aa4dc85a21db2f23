import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { managementApi } from '@masthead/contract'
import { ConsoleBrowser } from '../../test/browsers/console-session.ts'
import {
  authorizationRequest,
  newApplication,
  newPerson,
  newVerifier,
  obtainCode,
  type Parameters,
  type Person,
} from '../../test/browsers/oauth-browser.ts'
import { injectRequest } from '../../test/requests/injected-request.ts'
import { baseUrl, generous, secret, startService } from '../../test/service.ts'
import { buildApp } from '../app.ts'
import type { RateLimits } from '../http/api/callers/rate-limit.ts'
import { consoleId } from '../identity/people/applications.ts'

const service = await startService()
const { connectionString } = service
const tenant = await service.newTenant()
const application = await newApplication(service)
const person = await newPerson(service, [tenant, 'admin'])

/** The same service with limits, asked from addresses of the test's own. */
const strict = async (limits: Partial<RateLimits>) => {
  const { app } = await startService({ connectionString, rateLimits: { ...generous, ...limits } })
  return {
    get: (url: string, remoteAddress: string, headers = {}) => injectRequest(app, { url, remoteAddress, headers }),
    post: (url: string, remoteAddress: string, fields: Parameters, headers = {}) =>
      injectRequest(app, {
        method: 'POST',
        url,
        remoteAddress,
        payload: `${new URLSearchParams(fields as Record<string, string>)}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
  }
}

const unknown = { grant_type: 'refresh_token', client_id: application.clientId, refresh_token: 'unknown' }

describe('an address that asks too much', async () => {
  const { get, post } = await strict({ address: 2 })
  const [busy, quiet] = ['192.0.2.1', '192.0.2.2']
  const ask = () => get(authorizationRequest(application, newVerifier()), busy)
  const answers = [await ask(), await ask()]

  test('is told before how much is left', () => {
    for (const [number, { statusCode, headers }] of answers.entries()) {
      assert.deepEqual(
        [statusCode, headers['ratelimit-policy']],
        [303, '"address";q=2;w=60, "authorization";q=1000000;w=60'],
      )
      assert.match(String(headers.ratelimit), new RegExp(`^"address";r=${1 - number};t=(60|5\\d), "authorization";`))
    }
  })

  const pages = [
    authorizationRequest(application, newVerifier()),
    '/oauth2/interaction/x',
    '/oauth2/authorize/x',
    '/oauth2/logout',
    '/oauth2/nothing',
  ]
  for (const path of pages) {
    test(`is refused ${path.split('?')[0]} by a page that says when to come back`, async () => {
      const { statusCode, headers, body } = await get(path, busy)
      assert.equal(statusCode, 429)
      assert.match(String(headers['retry-after']), /^(60|5\d)$/)
      assert.match(String(headers['content-type']), /^text\/html/)
      assert.match(String(headers['content-security-policy']), /default-src 'none'/)
      assert.match(body, /<h1><bdi>Too many requests<\/bdi><\/h1>\s*<p><bdi>Your address may send 2 requests a minute/)
    })
  }

  for (const path of ['/oauth2/token', '/oauth2/revoke', '/oauth2/userinfo', '/oauth2/%74oken']) {
    test(`is refused ${path} in the form of RFC 6749`, async () => {
      const { statusCode, headers, json } = await post(path, busy, unknown, { origin: 'https://page.example' })
      assert.equal(statusCode, 429)
      assert.match(String(headers['retry-after']), /^(60|5\d)$/)
      assert.match(String(headers['content-type']), /^application\/json/)
      assert.equal(headers['cache-control'], 'no-store')
      if (path !== '/oauth2/%74oken') assert.equal(headers['access-control-allow-origin'], '*')
      const { error, error_description, ...more } = json()
      assert.equal(error, 'temporarily_unavailable')
      assert.match(error_description, /^Your address may send 2 requests a minute; go on in (60|5\d) s\.$/)
      assert.deepEqual(more, {})
    })
  }

  test('is refused nothing that is published for everybody', async () => {
    for (const path of [
      '/oauth2/jwks',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
    ]) {
      const { statusCode, headers } = await get(path, busy)
      assert.deepEqual([path, statusCode, headers.ratelimit], [path, 200, undefined])
    }
  })

  test('is not refused the API by it', async () => {
    const authorization = `Bearer ${await tenant.serviceToken()}`
    assert.equal((await get('/customer-api/v1/contacts', busy, { authorization })).statusCode, 200)
  })

  test('leaves other addresses alone, and claims none of them', async () => {
    assert.equal((await post('/oauth2/token', quiet, unknown)).statusCode, 400)
    assert.equal((await post('/oauth2/token', busy, unknown, { 'x-forwarded-for': quiet })).statusCode, 429)
  })

  test('counts with its whole network when it is of IPv6', async () => {
    const statuses = []
    for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'])
      statuses.push((await post('/oauth2/token', address, unknown)).statusCode)
    assert.deepEqual(statuses, [400, 400, 429, 400])
  })
})

describe('an address that a trusted proxy names', async () => {
  const { app } = await startService({
    connectionString,
    trustedProxies: ['192.0.2.0/24'],
    rateLimits: { ...generous, address: 2 },
  })
  const statusesOf = async (forwarded: string[]): Promise<number[]> => {
    const statuses = []
    for (const one of forwarded) {
      const headers = { 'x-forwarded-for': one, 'content-type': 'application/x-www-form-urlencoded' }
      const payload = `${new URLSearchParams(unknown)}`
      const asked = { method: 'POST', url: '/oauth2/token', remoteAddress: '192.0.2.1', headers, payload } as const
      statuses.push((await injectRequest(app, asked)).statusCode)
    }
    return statuses
  }

  test('is one whatever port and form it comes in', async () => {
    const forms = [
      '203.0.113.7:1',
      '203.0.113.7:2',
      '203.0.113.7:3',
      '203.0.113.7',
      '::ffff:cb00:7107',
      '203.0.113.8:1',
    ]
    assert.deepEqual(await statusesOf(forms), [400, 400, 429, 429, 429, 400])
    const ofNetwork = ['[2001:db8::1]:1', '[2001:db8:0:0:1::]:2', '2001:DB8::3', '[2001:db8:0:1::1]:1']
    assert.deepEqual(await statusesOf(ofNetwork), [400, 400, 429, 400])
  })

  test('is the address of the proxy when it is none', async () => {
    assert.deepEqual(await statusesOf(['one', 'two', 'three', '203.0.113.9:99999999']), [400, 400, 429, 429])
  })
})

test('passwords tried from an address have a limit of their own', async () => {
  const { get, post } = await strict({ signIn: 2 })
  const address = '192.0.2.3'
  const asked = await get(authorizationRequest(application, newVerifier()), address)
  const cookie = asked.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const page = String(asked.headers.location)
  const attempt = (from = address) =>
    post(`${page}/sign-in`, from, { email: person.email, password: 'wrong horse' }, { cookie })
  const answers = [await attempt(), await attempt(), await attempt()]
  assert.deepEqual(
    answers.map(({ statusCode, headers }) => [statusCode, /"sign-in";r=\d/.exec(String(headers.ratelimit))?.[0]]),
    [
      [401, '"sign-in";r=1'],
      [401, '"sign-in";r=0'],
      [429, '"sign-in";r=0'],
    ],
  )
  assert.match(answers[2]?.body ?? '', /Too many requests/)
  assert.equal((await get(page, address, { cookie })).statusCode, 200)
  assert.equal((await attempt('192.0.2.4')).statusCode, 401)
})

describe('the tokens that an application is given', () => {
  const leftOf = (headers: Record<string, unknown>) => /"application";r=\d/.exec(String(headers.ratelimit))?.[0]

  test('for one user have a limit, whatever the address and the consent', async () => {
    const { post } = await strict({ application: 2 })
    const answers = []
    for (const number of [1, 2, 3]) {
      const exchange = await obtainCode(service.origin, { application, person })
      answers.push(await post('/oauth2/token', `198.51.100.${number}`, exchange))
    }
    assert.deepEqual(
      answers.map(({ statusCode, headers }) => [statusCode, leftOf(headers)]),
      [
        [200, '"application";r=1'],
        [200, '"application";r=0'],
        [429, '"application";r=0'],
      ],
    )
    const { error, error_description } = answers[2]?.json() ?? {}
    assert.equal(error, 'temporarily_unavailable')
    assert.match(
      error_description,
      /^One user of this application may send 2 requests a minute; go on in (60|5\d) s\.$/,
    )
    const other = await newApplication(service)
    const exchange = await obtainCode(service.origin, { application: other, person })
    assert.equal((await post('/oauth2/token', '198.51.100.1', exchange)).statusCode, 200)
  })

  test('are not spent by a request that is refused for this limit', async () => {
    const { post } = await strict({ application: 1 })
    const [spent, kept] = [
      await obtainCode(service.origin, { application, person }),
      await obtainCode(service.origin, { application, person }),
    ]
    assert.equal((await post('/oauth2/token', '198.51.100.1', spent)).statusCode, 200)
    assert.equal((await post('/oauth2/token', '198.51.100.1', kept)).statusCode, 429)
    const generousAgain = await strict({})
    assert.equal((await generousAgain.post('/oauth2/token', '198.51.100.1', kept)).statusCode, 200)
  })

  test('are counted whatever the letters of the content type', async () => {
    const { post } = await strict({ application: 1 })
    const statuses = []
    for (const type of [
      'application/x-www-form-urlencoded',
      'Application/X-WWW-Form-URLEncoded',
      'application/x-www-form-urlencoded ; charset=utf-8',
      'application/x-www-form-urlencoded;charset=UTF-8;',
    ]) {
      const exchange = await obtainCode(service.origin, { application, person })
      statuses.push((await post('/oauth2/token', '198.51.100.1', exchange, { 'content-type': type })).statusCode)
    }
    assert.equal(statuses.filter((status) => status === 200).length, 1, `${statuses}`)
  })

  test('are counted whatever the letters of the address', async () => {
    const { post } = await strict({ application: 1 })
    const statuses = []
    for (const path of ['/oauth2/token', '/oauth2/TOKEN', '/oauth2/token/', '/oauth2/%74oken', '//oauth2/token']) {
      const exchange = await obtainCode(service.origin, { application, person })
      statuses.push((await post(path, '198.51.100.1', exchange)).statusCode)
    }
    assert.deepEqual(statuses, [200, 404, 404, 429, 404])
  })

  test('cannot be used up by a stranger who says to be it', async () => {
    const { post } = await strict({ application: 1 })
    const exchange = await obtainCode(service.origin, { application, person })
    const guesses = [
      unknown,
      { ...unknown, refresh_token: exchange.code },
      { ...exchange, code: 'unknown' },
      { ...exchange, code_verifier: newVerifier() },
      { ...exchange, client_id: (await newApplication(service)).clientId },
    ]
    for (const guess of guesses) assert.equal((await post('/oauth2/token', '203.0.113.1', guess)).statusCode, 400)
    assert.equal((await post('/oauth2/token', '203.0.113.2', exchange)).statusCode, 200)
  })

  test('of the console for one viewer leave everybody else theirs, whatever addresses the viewer has', async (context) => {
    const app = await buildApp({
      database: service.database,
      baseUrl,
      delegation: { issuer: baseUrl, secret },
      trustedProxies: ['192.0.2.0/24'],
      rateLimits: { ...generous, application: 6 },
    })
    context.after(() => app.close())
    const from = (address: string, fields: Record<string, string>) =>
      injectRequest(app, {
        method: 'POST',
        url: '/oauth2/token',
        remoteAddress: '192.0.2.1',
        payload: `${new URLSearchParams(fields)}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': address },
      })
    const open = async (who: Person) => {
      const { called, verifier } = await new ConsoleBrowser(service.origin).callBack(who)
      const code = called.searchParams.get('code')
      assert.ok(code)
      return {
        grant_type: 'authorization_code',
        client_id: consoleId,
        redirect_uri: called.origin + called.pathname,
        code,
        code_verifier: verifier,
        resource: baseUrl + managementApi.basePath,
      }
    }

    const viewer = await newPerson(service, [tenant, 'viewer'])
    const refreshing = { grant_type: 'refresh_token', client_id: consoleId, resource: baseUrl + managementApi.basePath }
    let answer = await from('203.0.113.1', await open(viewer))
    for (let number = 2; number <= 6; number++) {
      assert.equal(answer.statusCode, 200)
      const { refresh_token } = answer.json()
      answer = await from(`203.0.113.${number}`, { ...refreshing, refresh_token })
    }
    assert.equal(answer.statusCode, 200)
    assert.equal((await from('203.0.113.7', await open(viewer))).statusCode, 429)

    const colleague = await newPerson(service, [tenant, 'admin'])
    const stranger = await newPerson(service, [await service.newTenant(), 'viewer'])
    for (const other of [colleague, stranger])
      assert.equal((await from('203.0.113.8', await open(other))).statusCode, 200)
  })
})
