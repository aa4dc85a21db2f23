import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { basePath, type Role, type Scope, scopePrefix } from '@masthead/contract'
import { decodeJwt, exportSPKI, SignJWT } from 'jose'
import { manage } from '../../../test/browsers/console-session.ts'
import {
  type Account,
  authorize,
  type Issuer,
  type Key,
  metadataAndKeys,
  newKey,
  realProvider,
  sign,
  startIssuer,
} from '../../../test/outside/issuers.ts'
import { runInSession } from '../../../test/processes/command-session.ts'
import { type Environment, startServing, until } from '../../../test/processes/masthead-process.ts'
import { samplePublication } from '../../../test/records/sample-records.ts'
import { cloneTemplate, type Service, startService } from '../../../test/service.ts'
import { operator } from '../../audit/author.ts'
import { registerApplication, setApplicationDisabled } from '../people/applications.ts'
import { addMember, createMember, removeMember, setRole } from '../people/members.ts'
import { noPassword } from '../people/passwords.ts'
import { allScopes } from '../people/roles.ts'
import { findAccounts, findProvenUser, hashPasswordOf } from '../people/users.ts'
import { createToken, findTokens } from './access-tokens.ts'
import type { OutsideIssuer } from './outside-issuer.ts'

const resource = `http://masthead.test${basePath}`
const claims = {
  client: 'client_id',
  scope: 'scope',
  tenant: 'tenant',
  email: 'email',
  emailVerified: 'email_verified',
}

const accepting = (issuer: string, more: Partial<OutsideIssuer> = {}) =>
  startService({
    delegation: { issuer, audience: resource, matchUsersBy: 'subject', claims, consoleClientId: null, ...more },
  })

/** Two tenants with a publication each, and applications that the operator has registered. */
const furnish = async (service: Service) => {
  const { query } = service.database
  const register = (clientId: string, more: { scopes?: Scope[]; tenantId?: string } = {}) =>
    registerApplication(query, operator, {
      clientId,
      name: clientId,
      scopes: allScopes,
      redirectUris: [],
      isNative: false,
      mayRefresh: false,
      ...more,
    })
  const [herald, gazette] = [await service.newTenant('Herald'), await service.newTenant('Gazette')]
  await herald.add('publications', [samplePublication('HERALD')])
  await gazette.add('publications', [samplePublication('GAZETTE')])
  await register('ledger-sync')
  const newMember = async (
    tenants: readonly { id: string }[],
    role: Role = 'admin',
    email = `${randomUUID()}@x.org`,
  ) => {
    const subject = randomUUID()
    const [first, ...others] = tenants
    const given = { tenantId: first?.id ?? '', email, name: 'Ada', role, subject, passwordHash: noPassword }
    await createMember(query, operator, { ...given, isProven: true })
    const user = await findProvenUser(query, email)
    for (const { id: tenantId } of others) if (user) await addMember(query, operator, user, { tenantId, role })
    return { subject, email }
  }
  const see = async (token: string): Promise<string> => {
    const { status, body } = await service.call('GET', '/publications', { token })
    return status === 200 ? body.items.map(({ code }: { code: string }) => code).join() : `${status} ${body.detail}`
  }
  const write = (token: string) => service.call('POST', '/contacts', { token, body: {} })
  return { service, query, register, herald, gazette, newMember, see, write }
}

const unknown = '401 The application, the user or the membership behind this access token is not known here.'

describe('the console at an issuer outside', async () => {
  const outside = await startIssuer()
  const key = await newKey('first')
  const endpoints = {
    authorization_endpoint: `${outside.issuer}/authorize`,
    token_endpoint: 'https://tokens.example/token',
  }
  outside.answer(metadataAndKeys(outside.issuer, [key], endpoints))
  const { service, herald, newMember, register } = await furnish(
    await accepting(outside.issuer, { consoleClientId: 'our-console' }),
  )
  await register('reader')
  const { subject, email } = await newMember([herald])
  const tokenOf = (clientId: string, scope: string) =>
    sign(
      key,
      { iss: outside.issuer, aud: resource, sub: subject, client_id: clientId, scope, exp: Date.now() / 1_000 + 600 },
      'at+jwt',
    )
  const both = `${scopePrefix}publications:read management-api/self:manage management-api/members:manage`

  test('is told where to sign in, and may fetch its tokens there', async () => {
    const { body } = await service.call('GET', '//console.json')
    assert.deepEqual(body, {
      baseUrl: 'http://masthead.test',
      issuer: outside.issuer,
      clientId: 'our-console',
      endpoints: { authorization: endpoints.authorization_endpoint, token: endpoints.token_endpoint },
    })
    const page = await service.call('GET', '//')
    assert.match(page.headers.get('content-security-policy') ?? '', /connect-src 'self' https:\/\/tokens\.example;/)
  })

  test('calls both interfaces with one access token, within the role of the user', async () => {
    const token = await tokenOf('our-console', both)
    const me = await manage(service.origin, 'GET', '/me', { token })
    assert.deepEqual([me.status, me.body.email], [200, email])
    assert.equal((await service.call('GET', '/publications', { token })).status, 200)
    assert.equal((await manage(service.origin, 'GET', '/consents', { token })).body.code, 'insufficient_scope')
  })

  test('is no other application, whatever its token carries', async () => {
    for (const clientId of ['reader', 'masthead-console', 'stranger', '']) {
      const { status } = await manage(service.origin, 'GET', '/me', { token: await tokenOf(clientId, both) })
      assert.equal(status, 401, clientId)
    }
  })

  test('invites nobody and registers nothing, which is the matter of the issuer', async () => {
    const token = await tokenOf('our-console', `${both} management-api/applications:manage`)
    const invitation = { email: 'new@example.com', role: 'viewer' }
    const application = { name: 'x', redirectUris: ['https://x.example/'], scopes: ['contacts:read'] }
    for (const [path, body] of [
      ['/invitations', invitation],
      ['/applications', application],
    ] as const)
      assert.equal((await manage(service.origin, 'POST', path, { token, body })).body.code, 'conflict')
  })

  test('is off where the issuer does not know it', async () => {
    const { service: without } = await furnish(await accepting(outside.issuer))
    const answer = await without.call('GET', '//console.json')
    assert.deepEqual([answer.status, answer.body.code], [404, 'not_found'])
    const { status } = await manage(without.origin, 'GET', '/me', { token: await tokenOf('our-console', both) })
    assert.equal(status, 401)
  })
})

describe('a real OpenID provider outside', async () => {
  const outside = await startIssuer()
  const key = await newKey('first')
  const accounts = new Map<string, Account>()
  const clients = ['ledger-sync', 'gazette-only', 'reader', 'retired', 'stranger']
  const serve = async (keys: readonly Key[]) =>
    outside.answer(await realProvider(outside.issuer, keys, { clients, accounts }))
  await serve([key])
  const scope = `${scopePrefix}publications:read ${scopePrefix}contacts:write`
  const tokensFor = (subject: string, clientId = 'ledger-sync', more: { resource?: string; scope?: string } = {}) =>
    authorize(outside.issuer, { clientId, subject, resource, scope, ...more })
  const tokenFor = async (...given: Parameters<typeof tokensFor>) => (await tokensFor(...given)).accessToken
  const keysFetched = () => outside.requests.filter((path) => path === '/jwks').length

  describe('whose users are known by their subject', async () => {
    const furnished = await furnish(await accepting(outside.issuer))
    const { service, register, herald, gazette, newMember, see, write } = furnished
    const ada = await newMember([herald])

    test('its token lets a registered application act for the user', async () => {
      assert.equal(await see(await tokenFor(ada.subject)), 'HERALD')
    })

    test('a user whom only the issuer knows is refused', async () => {
      assert.equal(await see(await tokenFor('a stranger')), unknown)
    })

    test('an application that is not registered here is refused', async () => {
      assert.equal(await see(await tokenFor(ada.subject, 'stranger')), unknown)
    })

    test('a disabled application is refused from the next call on, with the same token', async () => {
      await register('retired')
      const token = await tokenFor(ada.subject, 'retired')
      assert.equal(await see(token), 'HERALD')
      await service.database.transaction((query) => setApplicationDisabled(query, operator, 'retired', true))
      assert.equal(await see(token), unknown)
    })

    test('the end of a membership ends its access from the next call on', async () => {
      const leaving = await newMember([herald])
      const token = await tokenFor(leaving.subject)
      assert.equal(await see(token), 'HERALD')
      await service.database.transaction((query) => removeMember(query, operator, herald.id, leaving.email))
      assert.equal(await see(token), unknown)
    })

    test('a tenant is chosen by the claim, by its slug or its identifier', async () => {
      const { subject } = await newMember([herald, gazette])
      for (const tenant of [gazette.slug, gazette.id]) {
        accounts.set(subject, { tenant })
        assert.equal(await see(await tokenFor(subject)), 'GAZETTE', tenant)
      }
    })

    test('several memberships and no claim are refused', async () => {
      const { subject } = await newMember([herald, gazette])
      const severally = '401 This user belongs to several tenants, and the access token names none.'
      assert.equal(await see(await tokenFor(subject)), severally)
    })

    test('a claim that names a tenant of others is refused', async () => {
      accounts.set(ada.subject, { tenant: gazette.slug })
      assert.equal(await see(await tokenFor(ada.subject)), unknown)
      accounts.delete(ada.subject)
    })

    test('an application of one tenant acts in that one only', async () => {
      await register('gazette-only', { tenantId: gazette.id })
      const { subject } = await newMember([herald, gazette])
      assert.equal(await see(await tokenFor(subject, 'gazette-only')), 'GAZETTE')
      assert.equal(await see(await tokenFor(ada.subject, 'gazette-only')), unknown)
    })

    test('a call needs its scope in the token', async () => {
      const token = await tokenFor(ada.subject, 'ledger-sync', { scope: `${scopePrefix}contacts:read` })
      assert.equal(await see(token), '403 This call needs a token with the scope `publications:read`.')
    })

    test('a call needs its scope in the role, as it is now', async () => {
      const member = await newMember([herald], 'editor')
      const token = await tokenFor(member.subject)
      assert.equal((await write(token)).body.code, 'invalid_body')
      await service.database.transaction((query) => setRole(query, operator, herald.id, member.email, 'viewer'))
      assert.equal((await write(token)).body.code, 'insufficient_role')
      assert.equal(await see(token), 'HERALD')
    })

    test('an application has no scope that it is not registered for', async () => {
      await register('reader', { scopes: ['publications:read'] })
      const token = await tokenFor(ada.subject, 'reader')
      assert.equal(await see(token), 'HERALD')
      assert.equal((await write(token)).body.code, 'insufficient_scope')
    })

    test('a token for another resource is refused', async () => {
      const token = await tokenFor(ada.subject, 'ledger-sync', { resource: 'https://other.example/api' })
      assert.equal(await see(token), '401 This access token is for another resource.')
    })

    test('an ID token is refused', async () => {
      const { idToken } = await tokensFor(ada.subject)
      assert.equal(await see(idToken), '401 This access token is for another resource.')
      const forUs = await sign(key, { ...decodeJwt(idToken), aud: resource, client_id: 'ledger-sync', scope }, 'JWT')
      assert.equal(await see(forUs), '401 This is not an access token; an ID token is not accepted.')
    })

    describe('refuses a token that differs in one thing from one that it accepts', async () => {
      const good = decodeJwt(await tokenFor(ada.subject))
      const signed = (change: Record<string, unknown>, by = key) => sign(by, { ...good, ...change }, 'at+jwt')
      const now = Math.floor(Date.now() / 1_000)
      const notSigned = '401 This access token was not signed by the expected issuer.'
      const notOurs = '401 This access token is not complete, or not one of this service.'

      test('in nothing: accepted', async () => {
        assert.equal(await see(await signed({})), 'HERALD')
      })

      for (const [what, change, answer] of [
        ['issuer', { iss: 'https://other.example' }, /its `iss` is not the expected one/],
        ['issuer, by a slash', { iss: `${outside.issuer}/` }, /its `iss` is not the expected one/],
        ['audience', { aud: 'https://other.example' }, /for another resource/],
        ['audience left out', { aud: undefined }, /for another resource/],
        ['expiry', { exp: now - 1 }, /has expired/],
        ['expiry left out', { exp: undefined }, /its `exp` is not/],
        ['beginning', { nbf: now + 600 }, /its `nbf` is not/],
        ['subject left out', { sub: undefined }, /its `sub` is not/],
        ['client left out', { client_id: undefined }, /is not known here/],
        ['client that is no text', { client_id: ['ledger-sync'] }, /is not known here/],
        ['client with a NUL', { client_id: 'ledger-sync\0' }, /is not known here/],
        ['proof of possession', { cnf: { jkt: 'x' } }, /bound to a key/],
      ] as const) {
        test(`in its ${what}`, async () => {
          const seen = await see(await signed(change))
          assert.match(seen, /^401 /)
          assert.match(seen, answer)
        })
      }

      test('in its key, under the same name', async () => {
        assert.equal(await see(await signed({}, await newKey(key.kid))), notSigned)
      })

      test('in its algorithm: none', async () => {
        const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
        for (const alg of ['none', 'None', ''])
          assert.equal(await see(`${part({ alg, typ: 'at+jwt' })}.${part(good)}.`), notOurs)
      })

      test('in its algorithm: a MAC by the public key', async () => {
        for (const secret of [await exportSPKI(key.publicKey), (await exportSPKI(key.publicKey)).trim()]) {
          const header = { alg: 'HS256', kid: key.kid, typ: 'at+jwt' }
          const forged = await new SignJWT(good).setProtectedHeader(header).sign(new TextEncoder().encode(secret))
          assert.equal(await see(forged), notOurs)
        }
      })

      test('in a byte of its claims', async () => {
        const [header, , signature] = (await signed({})).split('.')
        const [, payload] = (await signed({ sub: 'somebody else' })).split('.')
        assert.equal(await see(`${header}.${payload}.${signature}`), notSigned)
      })
    })

    test('a key that the issuer begins to use is taken up, the one before works on while it is published', async () => {
      const before = await tokenFor(ada.subject)
      const second = await newKey('second')
      await serve([second, key])
      const token = await tokenFor(ada.subject)
      await until('the new key is taken up', async () => (await see(token)) === 'HERALD')
      assert.equal(await see(before), 'HERALD')
      const fetched = keysFetched()
      const began = Date.now()
      for (let count = 0; count < 50; count += 1) {
        const stranger = await sign({ ...second, kid: randomUUID() }, decodeJwt(token), 'at+jwt')
        assert.equal(await see(stranger), '401 This access token was not signed by the expected issuer.')
      }
      const most = 1 + Math.floor((Date.now() - began) / 5_000)
      assert.ok(keysFetched() - fetched <= most, `${keysFetched() - fetched} fetches for 50 unknown keys`)
    })

    test('a key that the issuer no longer publishes is refused', async () => {
      const withdrawn = await sign(key, { ...decodeJwt(await tokenFor(ada.subject)), jti: randomUUID() }, 'at+jwt')
      const third = await newKey('third')
      await serve([third])
      const token = await tokenFor(ada.subject)
      await until('the new key is taken up', async () => (await see(token)) === 'HERALD')
      assert.equal(await see(withdrawn), '401 This access token was not signed by the expected issuer.')
      await serve([key])
    })

    test('our own authorization server is off, and the metadata names the one outside', async () => {
      for (const path of ['/oauth2/authorize', '/oauth2/token', '/oauth2/jwks', '/.well-known/openid-configuration'])
        assert.equal((await service.call('GET', `/${path}`)).status, 404, path)
      const metadata = await service.call('GET', `//.well-known/oauth-protected-resource${basePath}`)
      assert.deepEqual(metadata.body.authorization_servers, [outside.issuer])
    })

    test('personal access tokens and service tokens work as before', async () => {
      assert.equal(await see(await herald.personalToken('viewer')), 'HERALD')
      assert.equal(await see(await gazette.serviceToken()), 'GAZETTE')
    })
  })

  describe('whose users are known by a verified e-mail address', async () => {
    const { herald, newMember, see } = await furnish(await accepting(outside.issuer, { matchUsersBy: 'email' }))
    const { email } = await newMember([herald], 'admin', 'Ada.Lovelace@Example.com')
    const unverified = '401 The issuer has not verified the e-mail address of this user.'

    for (const [what, account, answer] of [
      ['verified', { email, email_verified: true }, 'HERALD'],
      ['verified, in other letters', { email: 'ADA.lovelace@example.COM', email_verified: true }, 'HERALD'],
      ['verified, as Cognito writes it', { email, email_verified: 'true' }, 'HERALD'],
      ['not verified', { email, email_verified: false }, unverified],
      ['not verified, as text', { email, email_verified: 'false' }, unverified],
      ['of which nothing is said', { email }, unverified],
      ['of nobody here', { email: 'eve@example.com', email_verified: true }, unknown],
      ['left out', { email_verified: true }, unknown],
    ] as const) {
      test(`an address ${what}: ${answer}`, async () => {
        const subject = randomUUID()
        accounts.set(subject, account)
        assert.equal(await see(await tokenFor(subject)), answer)
      })
    }

    test('a subject alone is not enough', async () => {
      assert.equal(await see(await tokenFor((await newMember([herald])).subject)), unverified)
    })
  })

  test('an issuer that is down when the service starts: 503 until it is back', async () => {
    const { service, herald, newMember, see } = await furnish(await accepting(outside.issuer))
    const token = await tokenFor((await newMember([herald])).subject)
    await outside.down()
    const refused = await service.call('GET', '/publications', { token })
    assert.equal(refused.status, 503, refused.text)
    assert.equal(refused.body.code, 'unavailable')
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
    assert.equal(await see(await herald.personalToken('viewer')), 'HERALD')
    await outside.up()
    await until('the issuer is asked again', async () => (await see(token)) === 'HERALD')
  })
})

describe('an issuer that misbehaves', async () => {
  const key = await newKey('only')
  const outside: Issuer = await startIssuer()
  const { issuer } = outside
  const furnished = await furnish(await accepting(issuer))
  const { subject } = await furnished.newMember([furnished.herald])
  const good = () => ({
    iss: issuer,
    aud: resource,
    sub: subject,
    client_id: 'ledger-sync',
    jti: randomUUID(),
    scope: `${scopePrefix}publications:read`,
    exp: Math.floor(Date.now() / 1_000) + 600,
  })
  const working = metadataAndKeys(issuer, [key])

  for (const [what, listener] of Object.entries({
    'answers 500': (_request, response) => void response.writeHead(500).end('{}'),
    'answers what is no JSON': (_request, response) => void response.end('<html>'),
    'names another issuer': metadataAndKeys(issuer, [key], { issuer: 'https://other.example' }),
    'names no keys': metadataAndKeys(issuer, [key], { jwks_uri: undefined }),
    'has no keys where it says': metadataAndKeys(issuer, [key], { jwks_uri: `${issuer}/nowhere` }),
    'gives keys that are none': metadataAndKeys(issuer, [key], {
      jwks_uri: `${issuer}/.well-known/openid-configuration`,
    }),
  } satisfies Record<string, ReturnType<typeof metadataAndKeys>>)) {
    test(`${what}: 503, and once it works 200`, async () => {
      const service = await accepting(issuer)
      const { herald, newMember, see } = await furnish(service)
      const member = await newMember([herald])
      const token = await sign(key, { ...good(), sub: member.subject }, 'at+jwt')
      outside.answer(listener)
      const { status, body } = await service.call('GET', '/publications', { token })
      assert.deepEqual([status, body.code], [503, 'unavailable'], body.detail)
      outside.answer(working)
      await until('the issuer is asked again', async () => (await see(token)) === 'HERALD')
    })
  }

  test('is asked again at once, and for new keys, when the clock has been set back since', async (context) => {
    const service = await accepting(issuer)
    const { herald, newMember, see } = await furnish(service)
    const { subject: sub } = await newMember([herald])
    outside.answer((_request, response) => void response.writeHead(500).end())
    const token = await sign(key, { ...good(), sub }, 'at+jwt')
    assert.match(await see(token), /^503/)
    const now = Date.now()
    context.mock.timers.enable({ apis: ['Date'], now: now - 3_600_000 })
    outside.answer(working)
    await until('the issuer is asked again', async () => (await see(token)) === 'HERALD')
    const fresh = await newKey('made since')
    outside.answer(metadataAndKeys(issuer, [fresh]))
    context.mock.timers.setTime(now - 7_200_000)
    assert.equal(await see(await sign(fresh, { ...good(), sub }, 'at+jwt')), 'HERALD')
  })

  test('is asked at a bounded rate while it fails, and known keys work meanwhile', async () => {
    const { see } = furnished
    outside.answer(working)
    assert.equal(await see(await sign(key, good(), 'at+jwt')), 'HERALD')
    outside.answer((_request, response) => void response.writeHead(500).end())
    const stranger = { ...key, kid: 'unknown' }
    // The first fetch of keys has just been, so the next is made after a while only.
    const isAskedInVain = async () => (await see(await sign(stranger, good(), 'at+jwt'))).startsWith('503')
    await until('the issuer is asked for an unknown key', isAskedInVain)
    const asked = outside.requests.length
    const began = Date.now()
    for (let count = 0; count < 50; count += 1) {
      await see(await sign(stranger, good(), 'at+jwt'))
      assert.equal(await see(await sign(key, good(), 'at+jwt')), 'HERALD')
    }
    const most = 1 + Math.floor((Date.now() - began) / 1_000)
    assert.ok(outside.requests.length - asked <= most, `${outside.requests.length - asked} requests, at most ${most}`)
  })
})

describe('tokens as other issuers shape them', async () => {
  const exp = () => Math.floor(Date.now() / 1_000) + 600

  describe('Cognito: no `typ`, no `aud`, `token_use`', async () => {
    const pool = await startIssuer('/eu-central-1_Pool')
    const key = await newKey('cognito')
    pool.answer(metadataAndKeys(pool.issuer, [key]))
    const { herald, newMember, see } = await furnish(await accepting(pool.issuer, { audience: null }))
    const { subject } = await newMember([herald])
    const shaped = (change: Record<string, unknown>) =>
      sign(key, {
        sub: subject,
        iss: pool.issuer,
        version: 2,
        client_id: 'ledger-sync',
        token_use: 'access',
        exp: exp(),
        scope: `openid ${scopePrefix}publications:read`,
        username: 'ada',
        jti: randomUUID(),
        ...change,
      })

    test('an access token is accepted', async () => {
      assert.equal(await see(await shaped({})), 'HERALD')
    })

    for (const token_use of ['id', undefined]) {
      test(`a token whose use is ${token_use} is refused`, async () => {
        const refused = '401 This is not an access token; an ID token is not accepted.'
        assert.equal(await see(await shaped({ token_use })), refused)
      })
    }

    test('a token of a client that is not registered here is refused', async () => {
      assert.equal(await see(await shaped({ client_id: 'another-of-the-pool' })), unknown)
    })

    test('a token of another pool is refused', async () => {
      assert.match(await see(await shaped({ iss: pool.issuer.replace('Pool', 'Pond') })), /^401 .* `iss`/)
    })
  })

  describe('Keycloak and others: claims of other names', async () => {
    const realm = await startIssuer('/realms/press')
    const keys = await Promise.all(['RS256', 'PS256', 'ES256', 'EdDSA'].map((alg) => newKey(`key ${alg}`, alg)))
    realm.answer(metadataAndKeys(realm.issuer, keys))
    const names = { client: 'azp', scope: 'permissions', tenant: 'https://press.example/tenant', email: 'mail' }
    const { query, herald, gazette, newMember, see } = await furnish(
      await accepting(realm.issuer, { claims: { ...names, emailVerified: 'mail_ok' }, matchUsersBy: 'email' }),
    )
    const { email } = await newMember([herald, gazette])
    const shaped = (key: Key, change: Record<string, unknown> = {}) =>
      sign(
        key,
        {
          sub: randomUUID(),
          iss: realm.issuer,
          aud: ['account', resource],
          azp: 'ledger-sync',
          typ: 'Bearer',
          [names.tenant]: gazette.slug,
          mail: email,
          mail_ok: true,
          exp: exp(),
          permissions: [`${scopePrefix}publications:read`],
          ...change,
        },
        'JWT',
      )

    for (const key of keys) {
      test(`are found under the configured names, signed with ${key.alg}`, async () => {
        assert.equal(await see(await shaped(key)), 'GAZETTE')
      })
    }

    test('vouch for an address: its oldest account takes over the others, and no password opens it', async () => {
      const [key] = keys
      assert.ok(key)
      const mail = `${randomUUID()}@x.org`
      for (const { id: tenantId } of [herald, gazette]) {
        const passwordHash = await hashPasswordOf(query, mail, 'the password of a stranger')
        await createMember(query, operator, { tenantId, email: mail, name: 'Ada', role: 'viewer', passwordHash })
      }
      const [first] = await findAccounts(query, mail)
      const given = { tenantId: herald.id, userId: first?.id ?? '', name: 'of the stranger', scopes: allScopes }
      const { id: tokenId } = await createToken(query, operator, given)
      const unverified = '401 The issuer has not verified the e-mail address of this user.'
      assert.equal(await see(await shaped(key, { mail, mail_ok: false })), unverified)
      assert.equal((await findAccounts(query, mail)).length, 2)
      assert.equal(await see(await shaped(key, { mail })), 'GAZETTE')
      assert.equal(await see(await shaped(key, { mail, [names.tenant]: herald.slug })), 'HERALD')
      const [token] = await findTokens(query, herald.id, given.userId, tokenId)
      assert.notEqual(token?.revokedAt, null)
      const accounts = await findAccounts(query, mail)
      assert.deepEqual(
        accounts.map(({ tenantId, passwordHash }) => [tenantId, passwordHash]),
        [[null, noPassword]],
      )
    })

    test('are not found under the usual names', async () => {
      const [key] = keys
      assert.ok(key)
      const usual = { azp: undefined, client_id: 'ledger-sync' }
      assert.equal(await see(await shaped(key, usual)), unknown)
    })

    test('an ID token of the realm is refused', async () => {
      const [key] = keys
      assert.ok(key)
      const refused = '401 This is not an access token; an ID token is not accepted.'
      assert.equal(await see(await shaped(key, { typ: 'ID' })), refused)
    })
  })
})

test('an operator sets it up by environment and commands', async (t) => {
  const outside = await startIssuer()
  const accounts = new Map<string, Account>()
  const clients = ['ledger-sync', 'stranger']
  outside.answer(await realProvider(outside.issuer, [await newKey('only')], { clients, accounts }))
  const environment: Environment = { DATABASE_URL: await cloneTemplate(), AUTH_ISSUER: outside.issuer }
  const masthead = async (command: string, input = '') => {
    const { code, stderr } = await runInSession(command.split(' '), environment, input)
    assert.equal(code, 0, stderr)
  }
  await masthead('tenant create herald --name Herald')
  const ada = '--email ada@example.com --name Ada --role viewer --subject ada-at-the-issuer'
  await masthead(`user create --tenant herald ${ada} --password-stdin`, 'correct horse')
  await masthead('app register --client-id ledger-sync --name Ledger --scopes publications:read')
  const serving = await startServing(['--port', '0'], environment)
  t.after(serving.kill)
  const { api, url } = serving.announced
  const call = async (subject: string, clientId = 'ledger-sync'): Promise<number> => {
    const scope = `${scopePrefix}publications:read`
    const { accessToken } = await authorize(outside.issuer, { clientId, subject, resource: api, scope })
    return (await fetch(`${api}/publications`, { headers: { authorization: `Bearer ${accessToken}` } })).status
  }
  assert.equal(await call('ada-at-the-issuer'), 200)
  assert.equal(await call('somebody-else'), 401)
  assert.equal(await call('ada-at-the-issuer', 'stranger'), 401)
  assert.equal((await fetch(`${url}/oauth2/authorize`)).status, 404)
  await masthead('app disable ledger-sync')
  assert.equal(await call('ada-at-the-issuer'), 401)
  assert.equal((await serving.stop()).code, 0)
})
