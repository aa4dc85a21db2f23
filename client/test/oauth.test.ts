import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import { Browser, callback, newApplication, newPerson } from '../../server/test/browsers/oauth-browser.ts'
import { sampleAccount, sampleContact } from '../../server/test/records/sample-records.ts'
import { freeAddress, startService } from '../../server/test/service.ts'
import {
  AuthorizationError,
  type AuthorizationRequest,
  isProblem,
  Masthead,
  OAuthClient,
  type OAuthClientOptions,
  type OAuthSession,
  type Tokens,
} from '../src/index.ts'

const baseUrl = await freeAddress()
const service = await startService({ baseUrl })
const tenant = await service.newTenant()
await tenant.add('accounts', [sampleAccount('A1')])
await tenant.add('contacts', [sampleContact('A1')])
const person = await newPerson(service, [tenant, 'editor'])
const application = await newApplication(service)

const issued: Tokens[] = []
const onTokens = (tokens: Tokens) => {
  issued.push(tokens)
}
const oauthClient = (more: Partial<OAuthClientOptions> = {}) =>
  new OAuthClient({
    baseUrl,
    clientId: application.clientId,
    redirectUri: callback,
    scopes: ['contacts:read'],
    onTokens,
    ...more,
  })
const oauth = oauthClient()

/** The user signs in and decides; where the application is called back. */
const visit = ({ url }: AuthorizationRequest, decision: 'allow' | 'deny' = 'allow') =>
  new Browser(service.origin).answer(url, { person, decision })

const signIn = async (client = oauth): Promise<OAuthSession> => {
  const request = await client.createAuthorizationRequest()
  const session = await client.exchange(await visit(request), request)
  issued.length = 0
  return session
}

const mastheadOf = (session: OAuthSession) => new Masthead({ baseUrl, token: session })
const inAnHour = () => Date.now() + 3_600_000

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => assert.fail('it went well'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof AuthorizationError, String(error))
  return error.code
}

describe('an application', () => {
  test('gets tokens for a user who allows it, and calls with them', async () => {
    const request = await oauth.createAuthorizationRequest()
    const session = await oauth.exchange(String(await visit(request)), JSON.parse(JSON.stringify(request)))
    assert.deepEqual(session.tokens.scopes, ['contacts:read'])
    assert.ok(session.tokens.refreshToken && session.tokens.expiresAt > Date.now())
    assert.deepEqual(issued, [session.tokens])
    assert.equal((await mastheadOf(session).contacts.list()).total, 1)
    const refused = await mastheadOf(session)
      .accounts.list()
      .then(undefined, (error: unknown) => error)
    assert.ok(isProblem(refused, 'insufficient_scope'))
  })

  test('asks with a state and a challenge of their own each time', async () => {
    const requests = await Promise.all([oauth.createAuthorizationRequest(), oauth.createAuthorizationRequest()])
    const [first, second] = requests.map(({ url }) => new URL(url).searchParams)
    for (const name of ['state', 'code_challenge']) assert.notEqual(first?.get(name), second?.get(name))
    assert.equal(first?.get('code_challenge_method'), 'S256')
    assert.ok(!requests[0]?.url.includes(requests[0].codeVerifier))
  })

  test('refuses an answer to another request, before it exchanges the code', async () => {
    const [mine, other] = [await oauth.createAuthorizationRequest(), await oauth.createAuthorizationRequest()]
    const answer = await visit(mine)
    assert.equal(await codeOf(oauth.exchange(answer, other)), 'state_mismatch')
    const without = new URL(answer)
    without.searchParams.delete('state')
    assert.equal(await codeOf(oauth.exchange(without, mine)), 'state_mismatch')
    assert.equal(await codeOf(oauth.exchange(without, { ...mine, state: '' })), 'state_mismatch')
    // The code is still good.
    assert.ok(await oauth.exchange(answer, mine))
  })

  test('refuses an answer of another authorization server', async () => {
    const request = await oauth.createAuthorizationRequest()
    const answer = await visit(request)
    assert.equal(answer.searchParams.get('iss'), baseUrl)
    answer.searchParams.set('iss', 'https://elsewhere.example')
    assert.equal(await codeOf(oauth.exchange(answer, request)), 'issuer_mismatch')
    answer.searchParams.set('iss', 'no address')
    assert.equal(await codeOf(oauth.exchange(answer, request)), 'issuer_mismatch')
  })

  test('has the scopes that it asked for, until its token is refused, where an authorization server outside names neither', async () => {
    let count = 0
    const outside = createServer((_request, response) =>
      response.end(JSON.stringify({ access_token: `a${++count}`, token_type: 'Bearer', refresh_token: 'r' })),
    )
    await once(outside.listen(0, '127.0.0.1'), 'listening')
    after(() => outside.close())
    const token = `http://127.0.0.1:${Object(outside.address()).port}/token`
    const client = oauthClient({ endpoints: { authorization: 'https://elsewhere.example/authorize', token } })
    const request = await client.createAuthorizationRequest()
    const session = await client.exchange(`${callback}?state=${request.state}&code=c`, request)
    assert.deepEqual(session.tokens.scopes, ['contacts:read'])
    assert.deepEqual([await session.accessToken(), await session.accessToken()], ['a1', 'a1'])
    assert.match(new Date(session.tokens.expiresAt).toISOString(), /Z$/)
    assert.equal(await session.accessToken('a1'), 'a2')
    const resumed = client.resume({ ...session.tokens, scopes: ['accounts:read'] })
    assert.deepEqual((await resumed.refresh()).scopes, ['accounts:read'])
  })

  test('learns that the user said no, that a code is spent, and that an address is no answer', async () => {
    const request = await oauth.createAuthorizationRequest()
    assert.equal(await codeOf(oauth.exchange(await visit(request, 'deny'), request)), 'access_denied')
    const answer = await visit(request)
    await oauth.exchange(answer, request)
    assert.equal(await codeOf(oauth.exchange(answer, request)), 'invalid_grant')
    assert.equal(await codeOf(oauth.exchange(`${callback}?state=${request.state}`, request)), 'not_a_callback')
  })

  test('on the machine of the user is called back at any port of it', async () => {
    const native = await newApplication(service, { redirectUris: ['http://127.0.0.1/back'], isNative: true })
    const local = oauthClient({ clientId: native.clientId, redirectUri: 'http://127.0.0.1:50123/back' })
    assert.equal((await mastheadOf(await signIn(local)).contacts.list()).total, 1)
  })
})

describe('a session', () => {
  test('refreshes once for ten calls at the same time whose token is refused', async () => {
    const { tokens } = await signIn()
    const session = oauth.resume({ ...tokens, accessToken: 'no.longer.good', expiresAt: inAnHour() })
    const masthead = mastheadOf(session)
    const pages = await Promise.all(Array.from({ length: 10 }, () => masthead.contacts.list()))
    assert.deepEqual(
      pages.map(({ total }) => total),
      Array(10).fill(1),
    )
    assert.equal(issued.length, 1)
    // A refresh token that is sent twice ends the family, so this one would fail.
    await session.refresh()
    assert.equal((await masthead.contacts.list()).total, 1)
  })

  test('refreshes once for ten calls at the same time when its token has expired', async () => {
    const { tokens } = await signIn()
    const sent: number[] = []
    const session = oauth.resume({ ...tokens, expiresAt: Date.now() })
    const masthead = new Masthead({ baseUrl, token: session, hooks: { answer: ({ status }) => sent.push(status) } })
    await Promise.all(Array.from({ length: 10 }, () => masthead.contacts.list()))
    assert.equal(issued.length, 1)
    assert.ok(!sent.includes(401))
    assert.notEqual(session.tokens.refreshToken, tokens.refreshToken)
    assert.deepEqual(session.tokens, issued[0])
  })

  test('does not refresh for a refusal that comes when it has new tokens already', async () => {
    const session = await signIn()
    const old = session.tokens.accessToken
    const { accessToken } = await session.refresh()
    assert.equal(await session.accessToken(old), accessToken)
    assert.equal(issued.length, 1)
  })

  test('keeps new tokens that could not be stored', async () => {
    const { tokens } = await signIn()
    const forgetful = oauthClient({ onTokens: () => Promise.reject(new Error('the disk is full')) })
    const session = forgetful.resume(tokens)
    await assert.rejects(session.refresh(), /the disk is full/)
    assert.notEqual(session.tokens.refreshToken, tokens.refreshToken)
    assert.equal((await mastheadOf(session).contacts.list()).total, 1)
  })

  test('ends with the refusal of its refresh token', async () => {
    const { tokens } = await signIn()
    await oauth.resume(tokens).refresh()
    const again = mastheadOf(oauth.resume({ ...tokens, expiresAt: 0 }))
    assert.equal(await codeOf(again.contacts.get('x')), 'invalid_grant')
  })

  test('without a refresh token ends when the service refuses its access token', async () => {
    const session = oauth.resume({ ...(await signIn()).tokens, accessToken: 'over', refreshToken: null, expiresAt: 0 })
    await assert.rejects(mastheadOf(session).contacts.get('x'), (error) => isProblem(error, 'invalid_token'))
    assert.equal(await codeOf(session.refresh()), 'no_refresh_token')
  })
})
