import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose'
import {
  authorize,
  newApplication,
  newPerson,
  prefixed,
  refresh,
  type Tokens,
} from '../../../test/browsers/oauth-browser.ts'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { withTokens } from '../../../test/requests/access-tokens.ts'
import { secret, startService } from '../../../test/service.ts'
import { operator } from '../../audit/author.ts'
import { setApplicationDisabled } from '../people/applications.ts'
import { withdrawConsents } from '../people/consents.ts'
import { removeMember, setRole } from '../people/members.ts'
import { loadSigningKeys } from './signing-keys.ts'

const service = await startService()
const { origin, database } = service
const tenant = await service.newTenant()
const application = await newApplication(service)
const person = await newPerson(service, [tenant, 'admin'])

const { contacts, assertWorks, assertRefused } = withTokens(service)

const { privateKey: stranger } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const [own] = await loadSigningKeys(database.query, secret)
const ownKey = createPrivateKey({ key: own?.privateKey ?? {}, format: 'jwk' })

/** What is undefined is left out. */
type Forgery = { header?: Record<string, unknown>; claims?: Record<string, unknown>; key?: KeyObject }

/** An access token with changes, signed by the key of the service unless another is given. */
const forge = ({ access_token }: Tokens, { header, claims, key = ownKey }: Forgery): string => {
  const signed = [
    { ...decodeProtectedHeader(access_token), ...header },
    { ...decodeJwt(access_token), ...claims },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  return [...signed, sign('sha256', Buffer.from(signed.join('.')), key).toString('base64url')].join('.')
}

describe('the API', async () => {
  const tokens = await authorize(origin, { application, person })
  const elsewhere = await service.newTenant()

  test('accepts what the service signed', async () => {
    assert.equal((await contacts(forge(tokens, {}))).status, 200)
  })

  const now = Math.floor(Date.now() / 1_000)
  const forgeries: Record<string, Forgery> = {
    'a token signed by a stranger': { key: stranger },
    'a token signed by a stranger under a key id of his own': { key: stranger, header: { kid: 'his' } },
    'a token signed by a stranger who encloses his key': {
      key: stranger,
      header: { jwk: createPublicKey(stranger).export({ format: 'jwk' }) },
    },
    'a token for another audience': { claims: { aud: 'https://other.example/customer-api/v1' } },
    'a token for the application itself': { claims: { aud: application.clientId } },
    'a token for no audience': { claims: { aud: undefined } },
    'a token of another issuer': { claims: { iss: 'https://other.example' } },
    'a token that has expired': { claims: { iat: now - 700, exp: now - 100 } },
    'a token that never expires': { claims: { exp: undefined } },
    'a token that is not valid yet': { claims: { nbf: now + 600 } },
    'a token of another type': { header: { typ: 'JWT' } },
    'a token of no type': { header: { typ: undefined } },
    'a token with an extension that must be understood': { header: { crit: ['unheard-of'], 'unheard-of': true } },
    'a token of another application': { claims: { client_id: 'another' } },
    'a token for another user': { claims: { sub: '00000000-0000-7000-8000-000000000000' } },
    'a token for another tenant': { claims: { tenant: elsewhere.id } },
    'a token without a grant': { claims: { grant: undefined } },
    'a token of an unknown grant': { claims: { grant: 'unknown' } },
    'a token that is bound to a key': { claims: { cnf: { jkt: 'thumbprint' } } },
  }
  for (const [name, forgery] of Object.entries(forgeries)) {
    test(`refuses ${name}`, async () => {
      await assertRefused(forge(tokens, forgery))
    })
  }

  test('refuses an ID token', () => assertRefused(tokens.id_token))

  test('refuses a refresh token', () => assertRefused(tokens.refresh_token))

  test('refuses the algorithm none, however it is written', async () => {
    const unsecured = new UnsecuredJWT(decodeJwt(tokens.access_token)).encode()
    await assertRefused(unsecured)
    const [, claims = '', signature = ''] = tokens.access_token.split('.')
    for (const alg of ['none', 'None', 'NONE', '', undefined]) {
      const header = Buffer.from(JSON.stringify({ ...decodeProtectedHeader(tokens.access_token), alg }))
      for (const end of ['', signature]) await assertRefused(`${header.toString('base64url')}.${claims}.${end}`)
    }
  })

  test('refuses an HMAC under the public key', async () => {
    const { body } = await service.call('GET', '//oauth2/jwks')
    const header = { ...decodeProtectedHeader(tokens.access_token), alg: 'HS256' }
    const hmac = new SignJWT(decodeJwt(tokens.access_token)).setProtectedHeader(header)
    await assertRefused(await hmac.sign(new TextEncoder().encode(JSON.stringify(body.keys[0]))))
  })

  test('refuses a token whose claims were changed, also after it has accepted the true one', async () => {
    await assertWorks(tokens)
    const [header, , signature] = tokens.access_token.split('.')
    const claims = { ...decodeJwt(tokens.access_token), scope: prefixed('contacts:read', 'contacts:write') }
    await assertRefused(`${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`)
  })
})

describe('a delegated token ends at the next call', () => {
  test('when its application is disabled, and works again when it is enabled', async () => {
    const unlucky = await newApplication(service)
    const tokens = await authorize(origin, { application: unlucky, person })
    await assertWorks(tokens)
    await database.transaction((query) => setApplicationDisabled(query, operator, unlucky.clientId, true))
    await assertRefused(tokens.access_token)
    assert.equal((await refresh(origin, unlucky, tokens.refresh_token)).body.error, 'invalid_client')
    await database.transaction((query) => setApplicationDisabled(query, operator, unlucky.clientId, false))
    await assertWorks(tokens)
  })

  test('when the membership ends, for good', async () => {
    const leaver = await newPerson(service, [tenant, 'editor'])
    const tokens = await authorize(origin, { application, person: leaver })
    await assertWorks(tokens)
    await database.transaction((query) => removeMember(query, operator, tenant.id, leaver.email))
    await assertRefused(tokens.access_token)
    assert.equal((await refresh(origin, application, tokens.refresh_token)).body.error, 'invalid_grant')
  })

  test('when the consent is withdrawn, and no other', async () => {
    const [withdrawn, kept] = [
      await authorize(origin, { application, person }),
      await authorize(origin, { application, person }),
    ]
    await database.transaction((query) =>
      withdrawConsents(query, operator, [String(decodeJwt(withdrawn.access_token).grant)]),
    )
    await assertRefused(withdrawn.access_token)
    assert.equal((await refresh(origin, application, withdrawn.refresh_token)).body.error, 'invalid_grant')
    await assertWorks(kept)
  })
})

describe('a delegated token may do', async () => {
  const writer = await newApplication(service, { scopes: ['contacts:read', 'contacts:write'] })
  await tenant.add('accounts', [sampleAccount('A-1')])
  const create = (accessToken: string) =>
    service.call('POST', '/contacts', {
      token: accessToken,
      body: { accountId: 'A-1', firstName: 'Ada', lastName: 'Lovelace' },
    })

  test('what both the role and its scopes allow', async () => {
    const member = await newPerson(service, [tenant, 'viewer'])
    const tokens = await authorize(origin, { application: writer, person: member })
    assert.equal(`openid ${decodeJwt(tokens.access_token).scope}`, tokens.scope)
    await assertWorks(tokens)
    const refused = await create(tokens.access_token)
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_role'])
    await database.transaction((query) => setRole(query, operator, tenant.id, member.email, 'editor'))
    assert.equal((await create(tokens.access_token)).status, 201)
    await database.transaction((query) => setRole(query, operator, tenant.id, member.email, 'viewer'))
    assert.equal((await create(tokens.access_token)).status, 403)
  })

  test('nothing that the role allows but its scopes do not', async () => {
    const request = { scope: prefixed('contacts:read') }
    const { access_token } = await authorize(origin, { application: writer, person, request })
    const refused = await create(access_token)
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_scope'])
    assert.match(
      refused.headers.get('www-authenticate') ?? '',
      /error="insufficient_scope".*scope="service-api\/contacts:write"/,
    )
  })
})
