import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { customerApi, managementApi } from '@masthead/contract'
import { ConsoleBrowser } from '../../../../test/browsers/console-session.ts'
import { newPerson } from '../../../../test/browsers/oauth-browser.ts'
import { injectRequest } from '../../../../test/requests/injected-request.ts'
import { generous, startService } from '../../../../test/service.ts'
import { operator } from '../../../audit/author.ts'
import { newToken } from '../../../identity/token-format.ts'
import { createToken, revokeToken } from '../../../identity/tokens/access-tokens.ts'

const most = 6
const service = await startService({ rateLimits: { ...generous, unknownTokens: most } })
const { app, database } = service
const tenant = await service.newTenant()

const contacts = `${customerApi.basePath}/contacts`
const call = (token: string, remoteAddress: string, url = contacts) =>
  injectRequest(app, { url, remoteAddress, headers: { authorization: `Bearer ${token}` } })
const statusOf = async (token: string, address: string, url?: string) => (await call(token, address, url)).statusCode
const statusesOf = (tokens: string[], address: string) => Promise.all(tokens.map((token) => statusOf(token, address)))
const guesses = (count: number) => Array.from({ length: count }, () => newToken('service'))

/** An address that may send no more unknown tokens. */
const spend = async (address: string): Promise<void> => {
  assert.deepEqual(await statusesOf(guesses(most), address), Array(most).fill(401))
}

describe('an address that has sent too many unknown tokens', async () => {
  const [address, neighbour, other] = ['2001:db8::1', '2001:db8::2', '2001:db8:1::1']
  const inUse = await tenant.serviceToken()
  assert.equal(await statusOf(inUse, address), 200)
  await spend(address)

  test('is told so, and when to go on', async () => {
    const { statusCode, headers, json } = await call(newToken('personal'), address)
    assert.equal(statusCode, 429)
    assert.match(String(headers['retry-after']), /^(60|5\d)$/)
    assert.equal(headers['access-control-allow-origin'], '*')
    assert.deepEqual([json().code, json().status], ['too_many_requests', 429])
    assert.match(
      json().detail,
      /^Your address has sent 6 unknown access tokens within a minute; go on in (60|5\d) s\.$/,
    )
  })

  test('is refused by its network, at every interface, also a token that was not in use before', async () => {
    const unseen = await tenant.serviceToken()
    assert.equal(await statusOf(newToken('service'), neighbour), 429)
    assert.equal(await statusOf(newToken('service'), address, `${managementApi.basePath}/me`), 429)
    assert.equal(await statusOf(unseen, address), 429)
    assert.equal(await statusOf(unseen, other), 200)
    // In use since then.
    assert.equal(await statusOf(unseen, address), 200)
  })

  test('goes on with tokens in use, also when somebody has changed who may do what', async () => {
    assert.equal(await statusOf(inUse, address), 200)
    const { id } = await newServiceToken()
    await revokeToken(database.query, operator, id)
    assert.equal(await statusOf(inUse, address), 200)
  })

  test('is told as before what is no token at all', async () => {
    for (const token of ['x', `${newToken('service')}x`, newToken('service').replace('svc', 'abc')])
      assert.equal(await statusOf(token, address), 401)
    assert.equal((await injectRequest(app, { url: contacts, remoteAddress: address })).statusCode, 401)
  })
})

const newServiceToken = (lifetime?: number) =>
  createToken(database.query, operator, {
    tenantId: tenant.id,
    name: 'test',
    service: 'test',
    scopes: ['contacts:read'],
    lifetime,
    defaultAssignee: null,
  })

test('unknown tokens that come all at once are not looked up beyond the limit', async () => {
  const statuses = await statusesOf(guesses(50), '192.0.2.1')
  assert.deepEqual(statuses.sort(), [...Array(most).fill(401), ...Array(50 - most).fill(429)])
})

test('new tokens that come all at once are served, however many they are', async () => {
  const tokens = await Promise.all(Array.from({ length: 5 * most }, () => tenant.serviceToken()))
  assert.deepEqual(await statusesOf(tokens, '192.0.2.2'), Array(5 * most).fill(200))
  // One place is left to each of these.
  await statusesOf(guesses(most - 1), '192.0.2.3')
  const others = await Promise.all(Array.from({ length: most }, () => tenant.serviceToken()))
  assert.deepEqual(await statusesOf(others, '192.0.2.3'), Array(most).fill(200))
})

test('a token that has ended is no guess, and its holder costs the neighbours nothing', async () => {
  const address = '192.0.2.4'
  const [revoked, expired] = [await newServiceToken(), await newServiceToken(1)]
  await revokeToken(database.query, operator, revoked.id)
  for (let number = 0; number < 2 * most; number++)
    for (const { token } of [revoked, expired]) assert.equal(await statusOf(token, address), 401)
  assert.equal(await statusOf(await tenant.serviceToken(), address), 200)
})

test('a token that is revoked while it is in use is refused, and told why', async () => {
  const { id, token } = await newServiceToken()
  assert.equal(await statusOf(token, '192.0.2.5'), 200)
  await revokeToken(database.query, operator, id)
  for (let number = 0; number < 2; number++)
    assert.match((await call(token, '192.0.2.5')).json().detail, /has been revoked/)
})

test('forged tokens of applications count too, and real ones in use go on', async () => {
  const address = '192.0.2.6'
  const { customer } = await new ConsoleBrowser(service.origin).signIn(await newPerson(service, [tenant, 'admin']))
  assert.equal(await statusOf(customer, address), 200)
  const [head, payload = ''] = customer.split('.')
  const forged = Array.from({ length: most + 4 }, (_, number) => `${head}.${payload}.${'A'.repeat(341)}${number}`)
  assert.deepEqual((await statusesOf(forged, address)).sort(), [...Array(most).fill(401), ...Array(4).fill(429)])
  assert.equal(await statusOf(customer, address), 200)
})
