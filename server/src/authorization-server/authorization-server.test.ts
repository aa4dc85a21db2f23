import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import {
  actionOf,
  authorizationRequest,
  authorize,
  Browser,
  callback,
  challengeOf,
  newApplication,
  newPerson,
  newVerifier,
  obtainCode,
  offeredTenants,
  type Parameters,
  post,
  prefixed,
  refresh,
  resource,
  type TokenAnswer,
  type Tokens,
} from '../../test/browsers/oauth-browser.ts'
import { samplePublication } from '../../test/records/sample-records.ts'
import { withTokens } from '../../test/requests/access-tokens.ts'
import { sendRaw } from '../../test/requests/raw-connection.ts'
import { baseUrl, startService } from '../../test/service.ts'
import { operator } from '../audit/author.ts'
import { type Application, setApplicationDisabled } from '../identity/people/applications.ts'

const service = await startService()
const { origin, database } = service
const tenant = await service.newTenant('Gazette')
const application = await newApplication(service)
const person = await newPerson(service, [tenant, 'admin'])

/** The service goes by another name than the address that it is reached by. */
const toOrigin = (address: string, options?: RequestInit): Promise<Response> =>
  fetch(address.replace(baseUrl, origin), options)
const reached = (address: string, options: openid.CustomFetchOptions) => toOrigin(address, options as RequestInit) // its body is one that fetch takes

const token = (fields: Parameters) => post(origin, '/oauth2/token', fields)
const revoke = (by: Application, what: string, hint?: string) =>
  post(origin, '/oauth2/revoke', { client_id: by.clientId, token: what, token_type_hint: hint })
const { contacts, assertWorks, assertRefused } = withTokens(service)
const userinfo = (accessToken: string) =>
  service.call('GET', '//oauth2/userinfo', { headers: { authorization: `Bearer ${accessToken}` } })

const assertError = (answer: TokenAnswer, error: string, status = 400): void => {
  assert.deepEqual([answer.status, answer.body?.error], [status, error], answer.text)
}
/** Neither token of the family does anything any more. */
const assertDead = async (by: Application, { access_token, refresh_token }: Tokens): Promise<void> => {
  await assertRefused(access_token)
  assertError(await refresh(origin, by, refresh_token), 'invalid_grant')
}

describe('openid-client', async () => {
  const config = await openid.discovery(new URL(baseUrl), application.clientId, undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
    [openid.customFetch]: reached,
  })

  const ask = async () => {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const expectedState = openid.randomState()
    const expectedNonce = openid.randomNonce()
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: callback,
      scope: `openid ${prefixed('contacts:read')}`,
      resource,
      state: expectedState,
      nonce: expectedNonce,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const called = await new Browser(origin).answer(address.href, { person })
    return { called, checks: { pkceCodeVerifier, expectedState, expectedNonce } }
  }

  test('drives the whole flow, refreshes and revokes', async () => {
    const { called, checks } = await ask()
    const tokens = await openid.authorizationCodeGrant(config, called, checks)
    assert.equal(tokens.claims()?.sub, person.id)
    assert.equal((await contacts(tokens.access_token)).status, 200)
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    assert.notEqual(next.refresh_token, tokens.refresh_token)
    assert.equal((await contacts(next.access_token)).status, 200)
    await openid.tokenRevocation(config, next.refresh_token ?? '')
    await assertRefused(next.access_token)
    await assert.rejects(openid.refreshTokenGrant(config, next.refresh_token ?? ''), { error: 'invalid_grant' })
  })

  test('refuses a callback with another state, with which the code is not spent', async () => {
    const { called, checks } = await ask()
    const forged = new URL(called)
    forged.searchParams.set('state', 'of somebody else')
    await assert.rejects(openid.authorizationCodeGrant(config, forged, checks), ({ cause }: Error) =>
      /unexpected "state" response parameter/.test(String(cause)),
    )
    assert.ok((await openid.authorizationCodeGrant(config, called, checks)).access_token)
  })

  test('gets who the user is from userinfo, with a token for nothing else', async () => {
    const verifier = newVerifier()
    const request = { scope: 'openid', resource: undefined }
    const called = await new Browser(origin).answer(authorizationRequest(application, verifier, request), { person })
    const tokens = await openid.authorizationCodeGrant(config, called, {
      pkceCodeVerifier: verifier,
      expectedState: 'state of the test',
    })
    assert.equal(tokens.scope, 'openid')
    assert.deepEqual(await openid.fetchUserInfo(config, tokens.access_token, person.id), { sub: person.id })
    await assertRefused(tokens.access_token)
  })

  test('is told by the callback when the user denies', async () => {
    const verifier = newVerifier()
    const called = await new Browser(origin).answer(authorizationRequest(application, verifier), {
      person,
      decision: 'deny',
    })
    const checks = { pkceCodeVerifier: verifier, expectedState: 'state of the test' }
    await assert.rejects(openid.authorizationCodeGrant(config, called, checks), { error: 'access_denied' })
  })
})

describe('oauth4webapi', () => {
  const options = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: reached } as const
  const client: oauth.Client = { client_id: application.clientId }

  test('finds the server from a refused call, drives the whole flow and accepts the access token', async () => {
    const unauthorized = await service.call('GET', '/contacts')
    const [, metadata = ''] =
      /resource_metadata="([^"]+)"/.exec(unauthorized.headers.get('www-authenticate') ?? '') ?? []
    assert.equal(metadata, `${baseUrl}/.well-known/oauth-protected-resource/customer-api/v1`)
    const described = await oauth.processResourceDiscoveryResponse(
      new URL(resource),
      await oauth.resourceDiscoveryRequest(new URL(resource), options),
    )
    const issuer = new URL(described.authorization_servers?.[0] ?? '')
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' }),
    )

    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const address = new URL(server.authorization_endpoint ?? '')
    address.search = `${new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: callback,
      resource,
      state,
      scope: `openid ${prefixed('contacts:read', 'publications:read')}`,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })}`
    const called = await new Browser(origin).answer(address.href, { person })
    assert.throws(() => oauth.validateAuthResponse(server, client, called, 'another state'), /unexpected "state"/)
    const parameters = oauth.validateAuthResponse(server, client, called, state)
    const none = oauth.None()
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(server, client, none, parameters, callback, verifier, options),
    )
    const call = new Request(`${resource}/contacts`, { headers: { authorization: `Bearer ${tokens.access_token}` } })
    const claims = await oauth.validateJwtAccessToken(server, call, resource, options)
    assert.equal(claims.sub, person.id)
    assert.equal((await contacts(tokens.access_token)).status, 200)
    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, none, tokens.refresh_token ?? '', options),
    )
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, none, refreshed.access_token, options),
    )
    await assertRefused(refreshed.access_token)
  })
})

describe('a token response', () => {
  test('has the members of RFC 6749 §5.1 and is not stored', async () => {
    const answer = await token(await obtainCode(origin, { application, person }))
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    const members = ['access_token', 'expires_in', 'id_token', 'refresh_token', 'scope', 'token_type']
    assert.deepEqual(Object.keys(answer.body).sort(), members)
    const { token_type, expires_in, scope } = answer.body
    assert.deepEqual([token_type, expires_in], ['Bearer', 600])
    const granted = ['openid', ...prefixed('contacts:read', 'publications:read').split(' ')]
    assert.deepEqual(scope.split(' ').sort(), granted)
  })

  test('grants `offline_access` to who asks for it and may refresh, and says so also at a refresh', async () => {
    const scope = `openid offline_access ${prefixed('contacts:read')}`
    const tokens = await authorize(origin, { application, person, request: { scope } })
    assert.equal(tokens.scope, scope)
    // Some libraries repeat what they asked for at first.
    const next = await refresh(origin, application, tokens.refresh_token, { scope })
    assert.deepEqual([next.status, next.body.scope], [200, scope])
    const later = await refresh(origin, application, next.body.refresh_token)
    assert.equal(later.body.scope, scope)
    assert.equal(decodeJwt(later.body.access_token).scope, prefixed('contacts:read'))
  })

  test('has a refresh token only when the application is registered for it', async () => {
    const brief = await newApplication(service, { mayRefresh: false })
    const tokens = await authorize(origin, { application: brief, person })
    assert.equal('refresh_token' in tokens, false)
    const asking = { scope: `openid offline_access ${prefixed('contacts:read')}`, prompt: 'consent' }
    assert.equal('refresh_token' in (await authorize(origin, { application: brief, person, request: asking })), false)
    assertError(await refresh(origin, brief, 'any'), 'invalid_request')
  })

  test('grants what was asked for, not all that is registered', async () => {
    const request = { scope: prefixed('publications:read') }
    const tokens = await authorize(origin, { application, person, request })
    assert.equal(tokens.scope, prefixed('publications:read'))
    assert.equal('id_token' in tokens, false)
    const { status, body } = await contacts(tokens.access_token)
    assert.deepEqual([status, body.code], [403, 'insufficient_scope'])
  })

  test('is for the API also when the request named no resource', async () => {
    const tokens = await authorize(origin, { application, person, request: { resource: undefined } })
    assert.equal(decodeJwt(tokens.access_token).aud, resource)
    await assertWorks(tokens)
  })
})

test('an access token is a JWT by RFC 9068 for one tenant and ten minutes', async () => {
  const tokens = await authorize(origin, { application, person })
  const { kid, ...header } = decodeProtectedHeader(tokens.access_token)
  assert.deepEqual(header, { alg: 'RS256', typ: 'at+jwt' })
  const jwks = await service.call('GET', '//oauth2/jwks')
  assert.ok(jwks.body.keys.some((key: { kid: string }) => key.kid === kid))
  const { iat = 0, exp = 0, jti, grant, ...claims } = decodeJwt(tokens.access_token)
  assert.equal(exp - iat, 600)
  assert.ok(Math.abs(iat - Date.now() / 1_000) < 60)
  assert.ok(jti && grant)
  assert.deepEqual(claims, {
    iss: baseUrl,
    aud: resource,
    sub: person.id,
    client_id: application.clientId,
    // Those of the API; `openid` is about the person.
    scope: tokens.scope.replace('openid ', ''),
    tenant: tenant.id,
  })
})

describe('an authorization request is refused without a redirect', () => {
  const refusals: Record<string, [Parameters, string]> = {
    'for an unknown application': [{ client_id: 'nobody' }, 'invalid_client'],
    'without an application': [{ client_id: undefined }, 'invalid_request'],
    'without a redirect URI': [{ redirect_uri: undefined }, 'invalid_request'],
  }
  const nearMisses = [
    `${callback}/`,
    `${callback}?`,
    `${callback}?a=b`,
    `${callback}#`,
    `${callback}#a`,
    `${callback}%20`,
    'https://app.example/Callback',
    'https://app.example/callback/../callback',
    'https://app.example//callback',
    'https://app.example/%63allback',
    'https://APP.example/callback',
    'https://app.example:443/callback',
    'http://app.example/callback',
    'https://app.example.evil.example/callback',
    'https://user@app.example/callback',
    'https://app.example\\@evil.example/callback',
    'https://evil.example/callback',
    'app.example/callback',
    '//app.example/callback',
    'javascript:alert(1)',
    '',
    ' ',
    `${callback} https://evil.example`,
    `${callback}\0`,
  ]
  for (const uri of nearMisses)
    refusals[`to ${JSON.stringify(uri)}`] = [
      { redirect_uri: uri },
      uri === '' ? 'invalid_request' : 'invalid_redirect_uri',
    ]

  for (const [name, [changes, error]] of Object.entries(refusals)) {
    test(name, async () => {
      const visit = await new Browser(origin).visit(authorizationRequest(application, newVerifier(), changes))
      assert.deepEqual([visit.status, visit.location], [400, ''])
      assert.match(visit.page, new RegExp(`\\(${error}\\)`))
    })
  }

  test('for a disabled application, until it is enabled', async () => {
    const disabled = await newApplication(service)
    const ask = () => new Browser(origin).visit(authorizationRequest(disabled, newVerifier()))
    await setApplicationDisabled(database.query, operator, disabled.clientId, true)
    const visit = await ask()
    assert.deepEqual([visit.status, visit.location], [400, ''])
    assert.match(visit.page, /\(invalid_client\)/)
    await setApplicationDisabled(database.query, operator, disabled.clientId, false)
    assert.match((await ask()).location, /^\/oauth2\/interaction\//)
  })
})

describe('an authorization request is refused by way of the callback', () => {
  const refusals: Record<string, [Parameters, string]> = {
    'with plain PKCE': [{ code_challenge_method: 'plain' }, 'invalid_request'],
    'with a challenge but no method, which would mean plain': [{ code_challenge_method: undefined }, 'invalid_request'],
    'without PKCE': [{ code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    'without a challenge': [{ code_challenge: undefined }, 'invalid_request'],
    'with a challenge that is no SHA-256': [{ code_challenge: 'short' }, 'invalid_request'],
    'for a scope that is not registered': [{ scope: `openid ${prefixed('invoices:read')}` }, 'invalid_scope'],
    'for one scope that is registered and one that is not': [
      { scope: prefixed('contacts:read', 'contacts:write') },
      'invalid_scope',
    ],
    'for a scope that does not exist': [{ scope: 'openid service-api/everything' }, 'invalid_scope'],
    'for a scope without its prefix': [{ scope: 'openid contacts:read' }, 'invalid_scope'],
    'for a scope that is not registered, with no resource': [
      { scope: prefixed('invoices:read'), resource: undefined },
      'invalid_scope',
    ],
    'for a scope without its prefix, with no resource': [
      { scope: 'openid contacts:read', resource: undefined },
      'invalid_scope',
    ],
    'for another resource': [{ resource: 'https://other.example/customer-api/v1' }, 'invalid_target'],
    'for the resource with a slash at its end': [{ resource: `${resource}/` }, 'invalid_target'],
    'for a part of the resource': [{ resource: `${resource}/contacts` }, 'invalid_target'],
    'for the origin of the resource': [{ resource: baseUrl }, 'invalid_target'],
    'for what is no resource': [{ resource: 'customer-api' }, 'invalid_target'],
    'with a request object': [{ request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    'with a request by reference': [{ request_uri: 'https://evil.example/' }, 'request_uri_not_supported'],
    'without a page while nobody is signed in': [{ prompt: 'none' }, 'login_required'],
    'without a response type': [{ response_type: undefined }, 'invalid_request'],
    'for a token without a code': [{ response_type: 'token' }, 'unsupported_response_type'],
    'for an ID token without a code': [{ response_type: 'id_token' }, 'unsupported_response_type'],
  }
  for (const [name, [changes, error]] of Object.entries(refusals)) {
    test(name, async () => {
      const visit = await new Browser(origin).visit(authorizationRequest(application, newVerifier(), changes))
      assert.equal(visit.status, 303)
      const called = new URL(visit.location)
      assert.equal(called.origin + called.pathname, callback)
      const answer = new URLSearchParams(called.search || called.hash.slice(1))
      assert.deepEqual(
        [answer.get('error'), answer.get('state'), answer.get('iss'), answer.get('code')],
        [error, 'state of the test', baseUrl, null],
      )
    })
  }

  test('for two resources', async () => {
    const address = `${authorizationRequest(application, newVerifier())}&resource=https%3A%2F%2Fother.example`
    const { location } = await new Browser(origin).visit(address)
    assert.equal(new URL(location).searchParams.get('error'), 'invalid_target')
  })
})

describe('a native application', async () => {
  const redirectUris = ['http://127.0.0.1/callback', 'http://[::1]/callback', 'com.example.app:/callback']
  const native = await newApplication(service, { isNative: true, redirectUris })

  for (const redirect_uri of [
    'http://127.0.0.1:49152/callback',
    'http://[::1]:1/callback',
    'com.example.app:/callback',
  ]) {
    test(`is called back at ${redirect_uri}`, async () => {
      const request = { redirect_uri }
      await assertWorks(await authorize(origin, { application: native, person, request }))
    })
  }

  for (const redirect_uri of [
    'http://127.0.0.1:49152/callback/',
    'http://127.0.0.2:49152/callback',
    'http://localhost:49152/callback',
    'https://127.0.0.1:49152/callback',
    'http://127.0.0.1:49152@evil.example/callback',
    'com.example.app:/other',
  ]) {
    test(`is not called back at ${redirect_uri}`, async () => {
      const visit = await new Browser(origin).visit(authorizationRequest(native, newVerifier(), { redirect_uri }))
      assert.deepEqual([visit.status, visit.location], [400, ''])
      assert.match(visit.page, /\(invalid_redirect_uri\)/)
    })
  }

  test('exchanges a code only with the port that it was asked for with', async () => {
    const request = { redirect_uri: 'http://127.0.0.1:49152/callback' }
    const exchange = await obtainCode(origin, { application: native, person, request })
    assertError(await token({ ...exchange, redirect_uri: 'http://127.0.0.1:49153/callback' }), 'invalid_grant')
    assert.equal((await token(exchange)).status, 200)
  })
})

test('an application that is not native has the loopback port that it registered alone', async () => {
  const redirectUris = ['http://127.0.0.1:3000/callback']
  const web = await newApplication(service, { redirectUris })
  await assertWorks(await authorize(origin, { application: web, person }))
  for (const redirect_uri of ['http://127.0.0.1:3001/callback', 'http://127.0.0.1/callback']) {
    const visit = await new Browser(origin).visit(authorizationRequest(web, newVerifier(), { redirect_uri }))
    assert.deepEqual([visit.status, visit.location], [400, ''])
  }
})

/** As if a minute had passed. */
const expireCodes = () =>
  service.owner.query(`update authorization_state set payload = (payload::jsonb || '{"exp": 1}')::text
    where model = 'AuthorizationCode'`)

describe('an exchange', async () => {
  const other = await newApplication(service)

  const refusals: Record<string, [Parameters, string]> = {
    'with another verifier': [{ code_verifier: newVerifier() }, 'invalid_grant'],
    'without a verifier': [{ code_verifier: undefined }, 'invalid_grant'],
    'with an empty verifier': [{ code_verifier: '' }, 'invalid_grant'],
    'with another redirect URI': [{ redirect_uri: `${callback}/` }, 'invalid_grant'],
    'without a redirect URI': [{ redirect_uri: undefined }, 'invalid_request'],
    'of a code that was given to another application': [{ client_id: other.clientId }, 'invalid_grant'],
    'of a code that was never given': [{ code: 'x'.repeat(43) }, 'invalid_grant'],
    'without a code': [{ code: undefined }, 'invalid_request'],
    'without an application': [{ client_id: undefined }, 'invalid_request'],
    'for another resource': [{ resource: 'https://other.example/' }, 'invalid_target'],
    'by a password': [
      { grant_type: 'password', username: person.email, password: person.password },
      'unsupported_grant_type',
    ],
    'by nothing but an application': [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    'of no kind': [{ grant_type: undefined }, 'invalid_request'],
  }
  for (const [name, [changes, error]] of Object.entries(refusals)) {
    test(`${name} is refused`, async () => {
      const exchange = await obtainCode(origin, { application, person })
      assertError(await token({ ...exchange, ...changes }), error)
    })
  }

  test('with the challenge as verifier, as plain PKCE would have it, is refused', async () => {
    const exchange = await obtainCode(origin, { application, person })
    assertError(await token({ ...exchange, code_verifier: challengeOf(exchange.code_verifier) }), 'invalid_grant')
  })

  test('by an unknown application is refused', async () => {
    const exchange = await obtainCode(origin, { application, person })
    assertError(await token({ ...exchange, client_id: 'nobody' }), 'invalid_client', 401)
  })

  test('of a code that has expired is refused, after at most a minute', async () => {
    const exchange = await obtainCode(origin, { application, person })
    const { rows } = await service.owner.query(`select payload::json ->> 'exp' as expiry
      from authorization_state where model = 'AuthorizationCode' order by expires_at desc limit 1`)
    const seconds = Number(rows[0].expiry) - Date.now() / 1_000
    assert.ok(seconds > 30 && seconds <= 60, `${seconds} s`)
    await expireCodes()
    assertError(await token(exchange), 'invalid_grant')
  })

  test('of a code that was used and has expired since is refused, and what it gave dies', async () => {
    const exchange = await obtainCode(origin, { application, person })
    const tokens = (await token(exchange)).body
    await expireCodes()
    await assertWorks(tokens)
    assertError(await token(exchange), 'invalid_grant')
    await assertDead(application, tokens)
  })

  test('of a code that was used is refused, and what it gave dies', async () => {
    const exchange = await obtainCode(origin, { application, person })
    const tokens = (await token(exchange)).body
    await assertWorks(tokens)
    assertError(await token(exchange), 'invalid_grant')
    await assertDead(application, tokens)
  })

  test('leaves what other codes gave alone when one is used again', async () => {
    const kept = await authorize(origin, { application, person })
    const exchange = await obtainCode(origin, { application, person })
    for (const status of [200, 400]) assert.equal((await token(exchange)).status, status)
    await assertWorks(kept)
  })

  test('after the consent was withdrawn is refused', async () => {
    const fickle = await newPerson(service, [tenant, 'viewer'])
    const exchange = await obtainCode(origin, { application, person: fickle })
    await service.owner.query('update consents set withdrawn_at = now() where user_id = $1', [fickle.id])
    assertError(await token(exchange), 'invalid_grant')
  })
})

describe('a refresh', () => {
  test('gives a new access token and a new refresh token', async () => {
    const tokens = await authorize(origin, { application, person })
    const next = (await refresh(origin, application, tokens.refresh_token)).body
    assert.notEqual(next.access_token, tokens.access_token)
    assert.notEqual(next.refresh_token, tokens.refresh_token)
    assert.equal(next.scope, tokens.scope)
    assert.equal(decodeJwt(next.access_token).tenant, tenant.id)
    await assertWorks(next)
  })

  test('with a token that was used ends the whole family', async () => {
    const first = await authorize(origin, { application, person })
    const second = (await refresh(origin, application, first.refresh_token)).body
    const third = (await refresh(origin, application, second.refresh_token)).body
    await assertWorks(third)
    assertError(await refresh(origin, application, first.refresh_token), 'invalid_grant')
    for (const tokens of [first, second, third]) await assertDead(application, tokens)
  })

  test('of a wider scope is refused, and the token is not spent', async () => {
    const request = { scope: `openid ${prefixed('publications:read')}` }
    const { refresh_token } = await authorize(origin, { application, person, request })
    for (const scope of [prefixed('publications:read', 'contacts:read'), prefixed('invoices:read'), 'offline_access'])
      assertError(await refresh(origin, application, refresh_token, { scope }), 'invalid_scope')
    assert.equal((await refresh(origin, application, refresh_token)).status, 200)
  })

  test('of a narrower scope gives that', async () => {
    const tokens = await authorize(origin, { application, person })
    const scope = prefixed('publications:read')
    const narrow = (await refresh(origin, application, tokens.refresh_token, { scope })).body
    assert.equal(narrow.scope, scope)
    assert.equal((await contacts(narrow.access_token)).status, 403)
  })

  test('of another resource is refused', async () => {
    const { refresh_token } = await authorize(origin, { application, person })
    const changes = { resource: 'https://other.example/' }
    assertError(await refresh(origin, application, refresh_token, changes), 'invalid_target')
  })

  test('by another application is refused, and harms nobody', async () => {
    const other = await newApplication(service)
    const tokens = await authorize(origin, { application, person })
    assertError(await refresh(origin, other, tokens.refresh_token), 'invalid_grant')
    assert.equal((await refresh(origin, application, tokens.refresh_token)).status, 200)
  })

  test('is possible for thirty days', async () => {
    const { refresh_token } = await authorize(origin, { application, person })
    const { rows } = await service.owner.query(`select extract(epoch from expires_at - now())::float8 / 86400 as days
      from authorization_state where model = 'RefreshToken' order by expires_at desc limit 1`)
    assert.ok(rows[0].days > 29.9 && rows[0].days <= 30, `${rows[0].days} days`)
    await service.owner.query(`update authorization_state set expires_at = now() where model = 'RefreshToken'`)
    assertError(await refresh(origin, application, refresh_token), 'invalid_grant')
  })
})

describe('a revocation', () => {
  test('of a refresh token ends the family and its access tokens', async () => {
    const tokens = await authorize(origin, { application, person })
    const next = (await refresh(origin, application, tokens.refresh_token)).body
    const answer = await revoke(application, next.refresh_token)
    assert.deepEqual([answer.status, answer.text], [200, ''])
    await assertDead(application, tokens)
    await assertDead(application, next)
  })

  for (const hint of [undefined, 'access_token', 'refresh_token']) {
    test(`of an access token with the hint ${hint} ends the family too`, async () => {
      const tokens = await authorize(origin, { application, person })
      const answer = await revoke(application, tokens.access_token, hint)
      assert.deepEqual([answer.status, answer.text], [200, ''])
      await assertDead(application, tokens)
    })
  }

  test('of a token for userinfo ends it', async () => {
    const request = { scope: 'openid', resource: undefined }
    const tokens = await authorize(origin, { application, person, request })
    assert.equal((await userinfo(tokens.access_token)).status, 200)
    assert.equal((await revoke(application, tokens.access_token)).status, 200)
    assert.equal((await userinfo(tokens.access_token)).status, 401)
  })

  test('by another application ends nothing', async () => {
    const other = await newApplication(service)
    const tokens = await authorize(origin, { application, person })
    for (const mine of [tokens.access_token, tokens.refresh_token]) await revoke(other, mine)
    await assertWorks(tokens)
    assert.equal((await refresh(origin, application, tokens.refresh_token)).status, 200)
  })

  test('of an unknown token has the same response as of a known one', async () => {
    const tokens = await authorize(origin, { application, person })
    const [header, claims] = tokens.access_token.split('.')
    const forged = `${header}.${claims}.${tokens.id_token.split('.')[2]}`
    for (const nothing of ['unknown', forged, tokens.id_token, 'e30.e30.e30', '\0']) {
      const answer = await revoke(application, nothing)
      assert.deepEqual([answer.status, answer.text], [200, ''])
    }
    await assertWorks(tokens)
  })

  test('by nobody is refused', async () => {
    const { access_token } = await authorize(origin, { application, person })
    assertError(await post(origin, '/oauth2/revoke', { token: access_token }), 'invalid_request')
    assertError(await post(origin, '/oauth2/revoke', { token: access_token, client_id: 'x' }), 'invalid_client', 401)
    assertError(await post(origin, '/oauth2/revoke', { client_id: application.clientId }), 'invalid_request')
  })
})

test('an application may ask that the person signs in again', async () => {
  for (const request of [{ prompt: 'login' }, { prompt: 'login consent' }, { max_age: '0' }]) {
    const { access_token } = await authorize(origin, { application, person, request })
    assert.ok(access_token, JSON.stringify(request))
  }
})

test('an absolute address does not name the issuer', async () => {
  const raw =
    'GET http://evil.example/.well-known/openid-configuration HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n'
  const { status, text } = await sendRaw(origin, raw)
  assert.equal(status, 200)
  assert.ok(!text.includes('evil.example'))
})

describe('the tenant of a token', async () => {
  const [morning, evening, foreign] = [
    await service.newTenant('Morning'),
    await service.newTenant('Evening'),
    await service.newTenant('Foreign'),
  ]
  const both = await newPerson(service, [morning, 'viewer'], [evening, 'admin'])
  const consentPage = async (asking: Application, browser: Browser) => {
    const signIn = await browser.follow(authorizationRequest(asking, newVerifier()))
    return browser.follow(actionOf(signIn, 'sign-in') ?? '', { email: both.email, password: both.password })
  }

  test('is one that the user chooses among those he belongs to', async () => {
    const page = await consentPage(application, new Browser(origin))
    assert.deepEqual(offeredTenants(page), [evening.id, morning.id])
    for (const { id } of [morning, evening]) {
      const tokens = await authorize(origin, { application, person: both, tenantId: id })
      assert.equal(decodeJwt(tokens.access_token).tenant, id)
    }
  })

  test('is the only one whose records the token shows', async () => {
    await morning.add('publications', [samplePublication('MP', { name: 'The Morning Post' })])
    const names = async (tenantId: string) => {
      const { access_token } = await authorize(origin, { application, person: both, tenantId })
      const { body } = await service.call('GET', '/publications', { token: access_token })
      return body.items.map(({ name }: { name: string }) => name)
    }
    assert.deepEqual(await names(morning.id), ['The Morning Post'])
    assert.deepEqual(await names(evening.id), [])
  })

  for (const [name, id] of Object.entries({ 'that he does not belong to': foreign.id, 'that is none': 'x', '': '' })) {
    test(`is not one ${name || 'that was not chosen'}`, async () => {
      const browser = new Browser(origin)
      const page = await consentPage(application, browser)
      const again = await browser.follow(actionOf(page, 'consent') ?? '', { decision: 'allow', tenant: id })
      assert.equal(again.location, '')
      assert.deepEqual(offeredTenants(again), [evening.id, morning.id])
      const { rows } = await service.owner.query('select from consents where tenant_id = $1', [foreign.id])
      assert.equal(rows.length, 0)
    })
  }

  test('is that of the application when it is registered for one', async () => {
    const local = await newApplication(service, { tenantId: morning.id })
    const browser = new Browser(origin)
    const page = await consentPage(local, browser)
    assert.deepEqual(offeredTenants(page), [morning.id])
    const again = await browser.follow(actionOf(page, 'consent') ?? '', { decision: 'allow', tenant: evening.id })
    assert.equal(again.location, '')
    const allowed = await browser.follow(actionOf(again, 'consent') ?? '', { decision: 'allow', tenant: morning.id })
    assert.ok(new URL(allowed.location).searchParams.get('code'))
  })

  test('does not exist for a user outside the tenant of the application', async () => {
    const local = await newApplication(service, { tenantId: foreign.id })
    const page = await consentPage(local, new Browser(origin))
    assert.equal(page.status, 403)
    assert.deepEqual(offeredTenants(page), [])
  })

  test('is asked for at each authorization, and an earlier token keeps its own', async () => {
    const browser = new Browser(origin)
    const tenants = []
    const held = []
    for (const { id } of [morning, evening]) {
      const verifier = newVerifier()
      const called = await browser.answer(authorizationRequest(application, verifier), { person: both, tenantId: id })
      const { body } = await token({
        grant_type: 'authorization_code',
        client_id: application.clientId,
        redirect_uri: callback,
        code: called.searchParams.get('code') ?? '',
        code_verifier: verifier,
      })
      held.push(body)
      tenants.push(decodeJwt(body.access_token).tenant)
    }
    assert.deepEqual(tenants, [morning.id, evening.id])
    for (const tokens of held) await assertWorks(tokens)
  })
})
