import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { authorize, newApplication, newPerson, obtainCode, post, refresh } from '../../test/browsers/oauth-browser.ts'
import { isAlive, type Serving, startServing } from '../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { baseUrl, freeAddress, secret, startService } from '../../test/service.ts'
import { allScopes } from '../identity/people/roles.ts'

const minute = 60_000
const hour = 60 * minute

describe('when the clock is set forward and back while it serves', async () => {
  // For what is there before and beside the process whose clock is set: its database and a clock that is right.
  const right = await startService()
  const tenant = await right.newTenant()
  const folder = await mkdtemp(join(tmpdir(), 'masthead-clock-'))
  const offset = join(folder, 'offset')
  const origin = await freeAddress('localhost')
  let serving: Serving

  /** As a whole, for it is read at any moment. */
  const setClock = (milliseconds: number) => {
    writeFileSync(`${offset}.new`, String(milliseconds))
    renameSync(`${offset}.new`, offset)
  }
  const start = async () => {
    serving = await startServing([], {
      DATABASE_URL: right.connectionString,
      MASTHEAD_SECRET: secret,
      BASE_URL: baseUrl,
      PORT: new URL(origin).port,
      RATE_LIMIT_TOKEN: '30',
      NODE_OPTIONS: `--import=${new URL('../../test/processes/shifted-clock.ts', import.meta.url)}`,
      CLOCK_OFFSET_FILE: offset,
    })
  }
  const call = async (method: string, path: string, token: string, body?: object, key?: string) => {
    const response = await fetch(`${origin}/customer-api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
  }

  before(async () => {
    setClock(0)
    await tenant.add('accounts', [sampleAccount('A')])
    await start()
  })
  after(async () => {
    await serving.kill()
    await rm(folder, { recursive: true })
  })

  test('the clock of the process is the one that we set', async () => {
    const token = await tenant.serviceToken()
    for (const jump of [-5 * hour, 5 * hour, 0]) {
      setClock(jump)
      const { body } = await call('POST', '/contacts', token, { accountId: 'A', name: 'Clock' })
      assert.ok(Math.abs(Date.parse(body.createdAt) - Date.now() - jump) < minute, body.createdAt)
    }
  })

  test('nobody is shut out by limits for longer than a minute', async () => {
    const token = await tenant.serviceToken()
    let last = await call('GET', '/accounts', token)
    for (let sent = 1; sent <= 30; sent++) last = await call('GET', '/accounts', token)
    assert.equal(last.status, 429)
    for (const jump of [-hour, hour, -26 * hour, 0]) {
      setClock(jump)
      const { status, headers } = await call('GET', '/accounts', token)
      assert.ok(status === 200 || Number(headers.get('retry-after')) <= 60, `${status} ${headers.get('retry-after')}`)
      assert.equal((await call('GET', '/accounts', await tenant.serviceToken())).status, 200)
    }
  })

  test('a walk meets every record once, in the order of arrival, and ids ascend, also over a restart', async () => {
    const created: { id: string; name: string }[] = []
    const create = async (name: string) => {
      const { status, body } = await call('POST', '/contacts', token, { accountId: 'A', name, hideContact: true })
      assert.equal(status, 201)
      created.push({ id: body.id, name })
    }
    let token = await tenant.serviceToken()
    const seen: string[] = []
    let next = '/contacts?includeHidden=true&search=walk&pageSize=2'
    const walkOn = async () => {
      const { status, headers, body } = await call('GET', next, token)
      assert.equal(status, 200)
      seen.push(...body.items.map(({ name }: { name: string }) => name))
      const [, address = ''] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? []
      next = address.replace(`${baseUrl}/customer-api/v1`, '')
    }
    for (const jump of [0, 2 * hour, -3 * hour, 26 * hour]) {
      setClock(jump)
      for (const letter of ['a', 'b']) await create(`walk ${jump} ${letter}`)
      if (jump < 26 * hour && jump !== 0) await walkOn()
    }
    const ids = created.map(({ id }) => id)
    assert.deepEqual(ids, ids.toSorted())
    await serving.stop()
    setClock(-3 * hour)
    await start()
    token = await tenant.serviceToken()
    await create('walk after the restart')
    assert.ok((created.at(-1)?.id ?? '') < (created.at(-2)?.id ?? ''), 'the new process cannot know of later ids')
    while (next !== '') await walkOn()
    assert.deepEqual(
      seen,
      created.map(({ name }) => name),
    )
  })

  test('tokens live and end by the clock, and none that was good is lost to a jump', async () => {
    setClock(0)
    const ofAnHour = await tenant.serviceToken(allScopes, { lifetime: hour })
    const person = await newPerson(right, [tenant, 'editor'])
    const application = await newApplication(right, { scopes: ['accounts:read'] })
    const { access_token: delegated } = await authorize(origin, { application, person })
    const statuses = async () => [
      (await call('GET', '/accounts', ofAnHour)).status,
      (await call('GET', '/accounts', delegated)).status,
    ]
    assert.deepEqual(await statuses(), [200, 200])
    setClock(30 * minute)
    assert.deepEqual(await statuses(), [200, 401])
    setClock(2 * hour)
    assert.deepEqual(await statuses(), [401, 401])
    // Issued in the future, as it now seems.
    setClock(-2 * hour)
    assert.deepEqual(await statuses(), [200, 200])
    setClock(0)
    assert.deepEqual(await statuses(), [200, 200])
  })

  test('a code and a refresh token outlast a clock that is set back', async () => {
    setClock(0)
    const person = await newPerson(right, [tenant, 'editor'])
    const application = await newApplication(right, { scopes: ['accounts:read'] })
    const exchange = await obtainCode(origin, { application, person })
    setClock(-hour)
    const { status, body } = await post(origin, '/oauth2/token', exchange)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal((await call('GET', '/accounts', body.access_token)).status, 200)
    setClock(-3 * hour)
    const refreshed = await refresh(origin, application, body.refresh_token)
    assert.equal(refreshed.status, 200, refreshed.text)
    assert.equal((await call('GET', '/accounts', refreshed.body.access_token)).status, 200)
  })

  test('a retry is answered as the first request', async () => {
    const token = await tenant.serviceToken()
    const contact = { accountId: 'A', name: 'Once' }
    setClock(0)
    const first = await call('POST', '/contacts', token, contact, 'one')
    for (const jump of [25 * hour, -25 * hour, 0]) {
      setClock(jump)
      const again = await call('POST', '/contacts', token, contact, 'one')
      assert.deepEqual([again.headers.get('idempotency-replayed'), again.body], ['true', first.body])
    }
  })

  test('the process lives, and stops in good order', async () => {
    assert.ok(isAlive(serving.pid))
    assert.equal((await serving.stop()).code, 0)
  })
})
