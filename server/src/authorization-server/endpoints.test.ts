import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { scopes } from '@masthead/contract'
import {
  authorizationRequest,
  authorize,
  Browser,
  newApplication,
  newPerson,
  newVerifier,
  obtainCode,
  type Parameters,
  post,
  resource,
} from '../../test/browsers/oauth-browser.ts'
import { baseUrl, startService } from '../../test/service.ts'

const service = await startService()
const { origin } = service
const tenant = await service.newTenant()
const application = await newApplication(service)
const person = await newPerson(service, [tenant, 'admin'])

const openid = '/.well-known/openid-configuration'
const oauth = '/.well-known/oauth-authorization-server'
const protectedResource = '/.well-known/oauth-protected-resource/customer-api/v1'

describe('the metadata', () => {
  test('names what the server can do, by the address that it is configured with', async () => {
    const { status, body } = await service.call('GET', `/${openid}`, {
      headers: { 'x-forwarded-host': 'evil.example' },
    })
    assert.equal(status, 200)
    const { issuer, authorization_endpoint, token_endpoint, revocation_endpoint, jwks_uri, userinfo_endpoint } = body
    assert.deepEqual(
      { issuer, authorization_endpoint, token_endpoint, revocation_endpoint, jwks_uri, userinfo_endpoint },
      {
        issuer: baseUrl,
        authorization_endpoint: `${baseUrl}/oauth2/authorize`,
        token_endpoint: `${baseUrl}/oauth2/token`,
        revocation_endpoint: `${baseUrl}/oauth2/revoke`,
        jwks_uri: `${baseUrl}/oauth2/jwks`,
        userinfo_endpoint: `${baseUrl}/oauth2/userinfo`,
      },
    )
    const ofApi = Object.keys(scopes).map((scope) => `service-api/${scope}`)
    assert.deepEqual(body.scopes_supported, ['openid', 'offline_access', ...ofApi])
    assert.deepEqual(body.response_types_supported, ['code'])
    assert.deepEqual(body.code_challenge_methods_supported, ['S256'])
    assert.deepEqual(body.grant_types_supported.sort(), ['authorization_code', 'refresh_token'])
    assert.deepEqual(body.token_endpoint_auth_methods_supported, ['none'])
    assert.deepEqual(body.id_token_signing_alg_values_supported, ['RS256'])
    assert.equal(body.authorization_response_iss_parameter_supported, true)
  })

  test('is the same by OpenID Connect and by RFC 8414', async () => {
    const [one, other] = [await service.call('GET', `/${openid}`), await service.call('GET', `/${oauth}`)]
    assert.equal(other.status, 200)
    assert.deepEqual(one.body, other.body)
  })

  test('of the API names its server and scopes by RFC 9728', async () => {
    const { status, body } = await service.call('GET', `/${protectedResource}`)
    assert.equal(status, 200)
    assert.equal(body.resource, resource)
    assert.deepEqual(body.authorization_servers, [baseUrl])
    assert.deepEqual(body.bearer_methods_supported, ['header'])
    assert.deepEqual(
      body.scopes_supported,
      Object.keys(scopes).map((scope) => `service-api/${scope}`),
    )
  })

  test('publishes keys without their private parts', async () => {
    const { status, body } = await service.call('GET', '//oauth2/jwks')
    assert.equal(status, 200)
    assert.equal(body.keys.length, 1)
    for (const key of body.keys) {
      assert.deepEqual(Object.keys(key).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use'])
      assert.deepEqual([key.kty, key.alg, key.use], ['RSA', 'RS256', 'sig'])
    }
  })
})

describe('userinfo', () => {
  test('names the user by a token for it', async () => {
    const request = { scope: 'openid', resource: undefined }
    const { access_token } = await authorize(origin, { application, person, request })
    const { status, body } = await service.call('GET', '//oauth2/userinfo', { token: access_token })
    assert.deepEqual([status, body], [200, { sub: person.id }])
  })

  test('refuses a token for the API, and none', async () => {
    const { access_token, id_token } = await authorize(origin, { application, person })
    for (const token of [access_token, id_token, 'unknown']) {
      const { status, body } = await service.call('GET', '//oauth2/userinfo', { token })
      assert.deepEqual([status, body.error], [401, 'invalid_token'])
    }
    assert.equal((await service.call('GET', '//oauth2/userinfo')).status, 401)
  })
})

describe('a page of another origin', () => {
  const headers = { origin: 'https://page.example' }

  for (const path of [
    '/oauth2/token',
    '/oauth2/revoke',
    '/oauth2/jwks',
    '/oauth2/userinfo',
    openid,
    oauth,
    protectedResource,
  ]) {
    test(`may call ${path}`, async () => {
      const preflight = await service.call('OPTIONS', `/${path}`, {
        headers: {
          ...headers,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        },
      })
      assert.deepEqual([preflight.status, preflight.text], [204, ''])
      assert.equal(preflight.headers.get('access-control-allow-origin'), '*')
      assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /authorization, content-type/i)
      const method = path === '/oauth2/token' || path === '/oauth2/revoke' ? 'POST' : 'GET'
      assert.ok(preflight.headers.get('access-control-allow-methods')?.split(', ').includes(method))
      const other = await service.call(method === 'POST' ? 'GET' : 'PUT', `/${path}`, { headers })
      assert.deepEqual([other.status, other.headers.get('allow')], [405, preflight.headers.get('allow')])
      const answer = await service.call(method, `/${path}`, { headers })
      assert.equal(answer.headers.get('access-control-allow-origin'), '*')
      assert.equal(answer.headers.get('access-control-allow-credentials'), null)
    })
  }

  test('may read the response to an exchange', async () => {
    const response = await fetch(`${origin}/oauth2/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(await obtainCode(origin, { application, person })),
    })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('access-control-allow-origin'), '*')
  })

  test('may not read the pages for people', async () => {
    const asked = authorizationRequest(application, newVerifier())
    const { location } = await new Browser(origin).visit(asked)
    for (const path of [asked, location, '/oauth2/logout', '/oauth2/authorize/x']) {
      for (const method of ['GET', 'OPTIONS']) {
        const answer = await service.call(method, `/${path}`, {
          headers: { ...headers, 'access-control-request-method': 'GET' },
        })
        for (const name of answer.headers.keys()) assert.doesNotMatch(name, /^access-control-/)
      }
    }
  })
})

test('an error of the token endpoint is JSON, also for a browser', async () => {
  const response = await fetch(`${origin}/oauth2/token`, {
    method: 'POST',
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    body: new URLSearchParams({ grant_type: 'authorization_code' }),
  })
  assert.equal(response.status, 400)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
})

describe('hostile input', async () => {
  const exchange = await obtainCode(origin, { application, person })
  const fields = {
    '/oauth2/token': exchange,
    '/oauth2/revoke': { client_id: application.clientId, token: 'x', token_type_hint: 'access_token' },
  }
  const nasty = { NUL: '\0', 'a lone surrogate': '\ud800', 'sixty thousand characters': 'x'.repeat(60_000) }

  const assertAlive = async () => assert.equal((await service.call('GET', `/${openid}`)).status, 200)
  const assertRefused = (status: number, what: string) => assert.ok(status >= 400 && status < 500, `${what}: ${status}`)

  for (const [path, given] of Object.entries(fields)) {
    for (const [name, value] of Object.entries(nasty)) {
      test(`in every field of ${path}, such as ${name}, is refused`, async () => {
        for (const field of Object.keys(given)) {
          const { status, body } = await post(origin, path, { ...given, [field]: value })
          // RFC 7009 §2.2: a token that is none counts as revoked, and a hint that is none is ignored.
          if (path === '/oauth2/revoke' && status === 200 && field !== 'client_id') continue
          assertRefused(status, field)
          assert.match(body.error, /^invalid_(request|client|grant)$|^unsupported_grant_type$/)
        }
        await assertAlive()
      })
    }

    test(`such as a repeated field of ${path} is refused`, async () => {
      for (const [field, value] of Object.entries(given)) {
        const { status, body } = await post(
          origin,
          path,
          `${new URLSearchParams(given)}&${new URLSearchParams({ [field]: value })}`,
        )
        assert.deepEqual([field, status, body.error], [field, 400, 'invalid_request'])
      }
    })

    test(`such as another content type at ${path} is refused`, async () => {
      const types = [
        'application/json',
        'text/plain',
        'multipart/form-data; boundary=x',
        'application/xml',
        'x',
        'x/y; z',
      ]
      for (const type of [...types, 'application/x-www-form-urlencoded; charset=unheard-of']) {
        for (const body of ['{}', '{"a":', `${new URLSearchParams({ ...given, client_id: 'x' })}`]) {
          const response = await fetch(origin + path, { method: 'POST', headers: { 'content-type': type }, body })
          assertRefused(response.status, type)
        }
      }
      await assertAlive()
    })

    test(`such as another method at ${path} is refused`, async () => {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
        assertRefused((await service.call(method, `/${path}`)).status, method)
    })
  }

  const ask = async (changes: Parameters) =>
    new Browser(origin).visit(authorizationRequest(application, newVerifier(), changes))

  test('such as NUL in an authorization request is refused where it decides, and otherwise only stored', async () => {
    for (const field of ['client_id', 'redirect_uri']) {
      const visit = await ask({ [field]: '\0' })
      assert.deepEqual([field, visit.status, visit.location], [field, 400, ''])
    }
    const refused = [
      'scope',
      'resource',
      'response_type',
      'code_challenge',
      'code_challenge_method',
      'prompt',
      'max_age',
      'id_token_hint',
    ]
    for (const field of refused) {
      const { location } = await ask({ [field]: 'openid\0' })
      assert.match(location, /^https:\/\/app\.example\/callback[?#]error=\w+/, field)
    }
    for (const field of ['nonce', 'login_hint', 'ui_locales', 'acr_values', 'display', 'claims', 'unheard_of']) {
      const { status, location } = await ask({ [field]: '\0' })
      if (status === 303) assert.match(location, /^(\/oauth2\/interaction\/|https:\/\/app\.example\/callback\?error=)/)
      else assertRefused(status, field)
    }
    await assertAlive()
  })

  test('such as NUL in the state comes back with the code as it was', async () => {
    const address = authorizationRequest(application, newVerifier(), { state: '\0"><script>' })
    const called = await new Browser(origin).answer(address, { person })
    assert.equal(called.searchParams.get('state'), '\0"><script>')
  })

  test('such as a repeated parameter of an authorization request is refused, safely', async () => {
    for (const field of ['client_id', 'redirect_uri', 'state', 'scope', 'response_type', 'code_challenge', 'nonce']) {
      const address = `${authorizationRequest(application, newVerifier(), { nonce: 'n' })}&${field}=${encodeURIComponent('https://evil.example/')}`
      const { status, location } = await new Browser(origin).visit(address)
      assert.doesNotMatch(location, /evil/)
      if (location) assert.equal(new URL(location).searchParams.get('error'), 'invalid_request')
      else assert.equal(status, 400)
    }
  })

  test('such as an address of more than 8 KiB is refused', async () => {
    const filler = 'x'.repeat(9_000)
    const visit = await ask({ state: filler })
    assert.deepEqual([visit.status, visit.location], [414, ''])
    const browser = new Browser(origin)
    const { location } = await browser.visit(authorizationRequest(application, newVerifier()))
    const { status, page } = await browser.visit(`${location}?${filler}`)
    assert.equal(status, 414)
    assert.match(page, /<h1>.*more than 8 KiB/s)
  })

  test('such as an exchange of many fields is refused, whatever it is said to be', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain']) {
      const exchange = { method: 'POST', headers: { 'content-type': type }, body: 'a&'.repeat(130_000) }
      const response = await fetch(`${origin}/oauth2/token`, exchange)
      assert.deepEqual([response.status, Object(await response.json()).error], [400, 'invalid_request'], type)
    }
  })

  test('such as a broken form at a page is refused, not a failure', async () => {
    const browser = new Browser(origin)
    const { location } = await browser.visit(authorizationRequest(application, newVerifier()))
    for (const action of ['sign-in', 'consent', 'cancel', 'switch-user']) {
      const address = `${origin}${location}/${action}`
      const json = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
      assert.equal(json.status, 415)
      const large = await fetch(address, { method: 'POST', body: new URLSearchParams({ email: 'x'.repeat(20_000) }) })
      assert.equal(large.status, 413)
    }
    const nul = await browser.visit(`${location}/sign-in`, { email: '\0', password: '\0' })
    assert.equal(nul.status, 401)
    const nothing = await browser.visit(`${location}/sign-in`, {})
    assert.equal(nothing.status, 401)
    // A form without fields may come without a type, too.
    const untyped = await fetch(`${origin}${location}/sign-in`, { method: 'POST' })
    assert.equal(untyped.status, 400)
  })

  test('such as identifiers and cookies that were never given is refused', async () => {
    for (const uid of ['x', '%00', '..%2f..', 'x'.repeat(2_000)]) {
      for (const path of [`/oauth2/interaction/${uid}`, `/oauth2/authorize/${uid}`]) {
        const cookie = `masthead_interaction=${uid}; masthead_resume=${uid}; masthead_session=${uid}; masthead_session.sig=x`
        const { status } = await service.call('GET', `/${path}`, { headers: { cookie } })
        assertRefused(status, path)
      }
    }
    for (const path of [
      '/oauth2/nothing',
      '/oauth2/',
      '/oauth2/%zz',
      '/oauth2/logout/confirm',
      '/oauth2/logout?id_token_hint=%00',
    ])
      assertRefused((await service.call('GET', `/${path}`)).status, path)
    await assertAlive()
  })
})
