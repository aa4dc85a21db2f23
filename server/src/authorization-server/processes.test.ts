import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { after, describe, test } from 'node:test'
import {
  authorizationRequest,
  authorize,
  form,
  newApplication,
  newPerson,
  newVerifier,
  obtainCode,
  type Parameters,
  post,
  refresh,
  type TokenAnswer,
} from '../../test/browsers/oauth-browser.ts'
import { startServing } from '../../test/processes/masthead-process.ts'
import { baseUrl, secret, startService } from '../../test/service.ts'

/** Two servers as an operator runs them, on one database. */
const service = await startService()
const tenant = await service.newTenant()
const application = await newApplication(service)
const person = await newPerson(service, [tenant, 'viewer'])

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, 'localhost', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

const start = async (more: Record<string, string> = {}): Promise<string> => {
  const port = await freePort()
  const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret, BASE_URL: baseUrl }
  const serving = await startServing(['--port', `${port}`], { ...environment, ...more })
  after(() => serving.stop())
  return `http://localhost:${port}`
}
const [one, other] = await Promise.all([start(), start({ TRUST_PROXY: '127.0.0.0/8, ::1' })])

/** Twelve at once, half of them at each. */
const race = (fields: Parameters): Promise<TokenAnswer[]> =>
  Promise.all(Array.from({ length: 12 }, (_, turn) => post(turn % 2 ? one : other, '/oauth2/token', fields)))

const assertAtMostOne = async (answers: TokenAnswer[]): Promise<void> => {
  const winners = answers.filter(({ status }) => status === 200)
  assert.ok(winners.length <= 1, `${winners.length} succeeded`)
  for (const { status, body } of answers)
    if (status !== 200) assert.deepEqual([status, body.error], [400, 'invalid_grant'])
  // It was used again, so also what it gave is dead, at both.
  for (const { body } of winners) {
    for (const origin of [one, other]) {
      const headers = { authorization: `Bearer ${body.access_token}` }
      assert.equal((await fetch(`${origin}/customer-api/v1/contacts`, { headers })).status, 401)
      assert.equal((await refresh(origin, application, body.refresh_token)).body.error, 'invalid_grant')
    }
  }
}

describe('two processes', () => {
  test('share a flow: what one begins, the other ends', async () => {
    const answer = await post(other, '/oauth2/token', await obtainCode(one, { application, person }))
    assert.equal(answer.status, 200)
    assert.equal((await refresh(one, application, answer.body.refresh_token)).status, 200)
  })

  for (let round = 1; round <= 5; round++) {
    test(`exchange one code at most once of 12 times at once, round ${round}`, async () => {
      await assertAtMostOne(await race(await obtainCode(one, { application, person })))
    })

    test(`use one refresh token at most once of 12 times at once, round ${round}`, async () => {
      const { refresh_token } = await authorize(one, { application, person })
      await assertAtMostOne(await race({ grant_type: 'refresh_token', client_id: application.clientId, refresh_token }))
    })
  }
})

test('what a proxy says of its caller counts where TRUST_PROXY names the proxy', async () => {
  /** The statuses of wrong passwords for one account, each from the address that a header claims. */
  const tried = async (origin: string, addresses: string[]): Promise<number[]> => {
    const { email } = await newPerson(service, [tenant, 'viewer'])
    const asked = await fetch(origin + authorizationRequest(application, newVerifier()), { redirect: 'manual' })
    const cookie = asked.headers.getSetCookie().map((text) => text.split(';', 1)[0])
    const address = `${origin}${new URL(asked.headers.get('location') ?? '', origin).pathname}/sign-in`
    const statuses: number[] = []
    for (const claimed of addresses) {
      const headers = { cookie: cookie.join('; '), 'x-forwarded-for': claimed }
      const body = form({ email, password: 'wrong horse battery' })
      statuses.push((await fetch(address, { method: 'POST', headers, body })).status)
    }
    return statuses
  }
  const [first, second] = ['203.0.113.1', '203.0.113.2']
  const addresses = [first, first, first, first, first, second, first]
  assert.deepEqual(await tried(other, addresses), [401, 401, 401, 401, 401, 401, 429])
  assert.deepEqual(await tried(one, addresses), [401, 401, 401, 401, 401, 429, 429])
  const token = await tenant.serviceToken()
  /** The address that the audit log tells of a write. */
  const told = async (origin: string): Promise<string> => {
    const requestId = randomUUID()
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-request-id': requestId,
      'x-forwarded-for': second,
    }
    const body = JSON.stringify({ company: 'Acme' })
    assert.equal((await fetch(`${origin}/customer-api/v1/accounts`, { method: 'POST', headers, body })).status, 201)
    const { rows } = await service.owner.query(
      `select author->>'address' as address from audit_entries where author->>'requestId' = $1`,
      [requestId],
    )
    return rows[0]?.address
  }
  assert.equal(await told(other), second)
  assert.notEqual(await told(one), second)
})
