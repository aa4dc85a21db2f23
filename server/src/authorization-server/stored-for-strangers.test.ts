import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { customerApi, managementApi } from '@masthead/contract'
import {
  actionOf,
  authorizationRequest,
  Browser,
  newApplication,
  newPerson,
  newVerifier,
  type Parameters,
} from '../../test/browsers/oauth-browser.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { injectRequest } from '../../test/requests/injected-request.ts'
import { sendRaw } from '../../test/requests/raw-connection.ts'
import { generous, startService } from '../../test/service.ts'

const service = await startService()
const { app, origin, owner } = service
const tenant = await service.newTenant()
const person = await newPerson(service, [tenant, 'viewer'])
const application = await newApplication(service)

const tables = (
  await owner.query(`select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`)
).rows.map(({ name }) => String(name))

/** How many bytes each table holds, and how much of the provider's is for longer than some minutes. */
const stored = async (): Promise<Map<string, number>> => {
  const bytes = '(select sum(octet_length(value)) from jsonb_each_text(to_jsonb(t)))'
  const sums = tables.map(
    (name) => `select '${name}' as name, coalesce(sum(${bytes}), 0)::integer as bytes from "${name}" t`,
  )
  const lasting = `select 'lasting', count(*)::integer from authorization_state
    where expires_at > now() + interval '${mostMinutes} minutes'`
  const { rows } = await owner.query([...sums, lasting].join(' union all '))
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}

/** What one request may leave behind: an authorization request with its parameters. */
const mostBytes = 17_000
const mostMinutes = 15

/** By table, how many bytes were left behind. */
const leftBy = async (send: () => Promise<unknown>): Promise<Record<string, number>> => {
  const before = await stored()
  await send()
  return grownSince(before, await stored())
}

const grownSince = (before: Map<string, number>, after: Map<string, number>): Record<string, number> => {
  const grown = [...after].map(([name, bytes]) => [name, bytes - (before.get(name) ?? 0)] as const)
  return Object.fromEntries(grown.filter(([, bytes]) => bytes > 0))
}

const assertLittle = (left: Record<string, number>, what: string): void => {
  for (const [table, bytes] of Object.entries(left)) {
    assert.ok(table === 'authorization_state' && bytes <= mostBytes, `${what} left ${bytes} bytes in ${table}`)
  }
}

/** Every method and path that is served. */
const routes = [
  ...[customerApi, managementApi].flatMap(({ basePath, operations }) =>
    operations.map(({ operation: { method, path } }) => ({ method: `${method}`, path: basePath + path })),
  ),
  ...app.pages.routes.flatMap(({ path, GET, POST }) => [
    ...(GET ? [{ method: 'GET', path }] : []),
    ...(POST ? [{ method: 'POST', path }] : []),
  ]),
  { method: 'POST', path: '/oauth2/{nothing}' },
]

const long = 'x'.repeat(3_500)
const tooLong = 'x'.repeat(7_000)
const parameters = [
  'state',
  'nonce',
  'ui_locales',
  'claims_locales',
  'login_hint',
  'id_token_hint',
  'acr_values',
  'display',
  'tenant',
  'scope',
  'max_age',
  'prompt',
  'resource',
  'response_mode',
  'response_type',
  'claims',
  'registration',
  'unknown',
]

describe('a stranger leaves next to nothing behind, and for minutes', () => {
  test('at any route, by long paths, queries, bodies and headers', async () => {
    assert.ok(
      routes.some(({ method, path }) => method === 'GET' && path === '/oauth2/logout'),
      JSON.stringify(routes),
    )
    let before = await stored()
    for (const { method, path } of routes) {
      for (const value of ['', long]) {
        const url = `${path.replaceAll(/\{\w+\}/g, 'x'.repeat(value.length / 2))}?state=${value}&ui_locales=${value}`
        await injectRequest(app, {
          method: method as 'POST',
          url,
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            'x-request-id': value.slice(0, 128),
            'user-agent': value,
            cookie: `masthead_session=${value}; masthead_interaction=${value}; masthead_resume=${value}`,
          },
          ...(/^(POST|PUT|PATCH)$/.test(method) && {
            payload: `client_id=${application.clientId}&state=${value}&token=${value}&code=${value}&refresh_token=${value}&grant_type=refresh_token`,
          }),
        })
        const after = await stored()
        assertLittle(grownSince(before, after), `${method} ${path}`)
        before = after
      }
    }
  })

  for (const name of parameters) {
    test(`by an authorization request with a long ${name}`, async () => {
      for (const value of [long, tooLong, '\0'.repeat(1_000)]) {
        const url = authorizationRequest(application, newVerifier(), { [name]: value })
        assertLittle(await leftBy(() => injectRequest(app, { url })), `a request of ${url.length} bytes`)
      }
    })
  }

  test('by the authorization request that takes most', async () => {
    const short = { scope: 'openid', resource: undefined, state: undefined }
    const start = `${authorizationRequest(application, newVerifier(), short)}&login_hint=`
    // The provider stores the hint twice, and JSON takes two bytes for a quotation mark. A browser would encode it.
    const hint = '"'.repeat(4_096 - start.length)
    const left = await leftBy(async () => {
      const { status } = await sendRaw(origin, `GET ${start}${hint} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      assert.equal(status, 303)
    })
    assert.ok((left.authorization_state ?? 0) > hint.length * 4, JSON.stringify(left))
    assertLittle(left, 'it')
  })

  test('by signing out without having signed in', async () => {
    for (const changes of [{}, { state: long }, { state: tooLong }, { client_id: application.clientId, state: long }]) {
      const url = `/oauth2/logout?${new URLSearchParams(changes as Record<string, string>)}`
      assert.deepEqual(await leftBy(() => injectRequest(app, { url })), {})
    }
  })

  test('by a cookie whose session is over', async () => {
    const browser = new Browser(origin)
    await browser.answer(authorizationRequest(application, newVerifier()), { person })
    const cookie = browser.cookiesAt('/oauth2/authorize')
    assert.match(cookie, /masthead_session=/)
    await owner.query(`delete from authorization_state where model = 'Session'`)
    const lost = authorizationRequest(application, newVerifier(), { client_id: 'nobody' })
    for (const url of [lost, '/oauth2/logout', '/oauth2/authorize/x'])
      assert.deepEqual(await leftBy(() => injectRequest(app, { url, headers: { cookie } })), {}, url)
  })

  test('by walking through the pages without a password', async () => {
    const browser = new Browser(origin)
    const left = await leftBy(async () => {
      const page = await browser.follow(authorizationRequest(application, newVerifier()))
      const at = (actionOf(page, 'sign-in') ?? '').replace(/sign-in$/, '')
      for (const action of ['consent', 'switch-user', 'consent', 'cancel'])
        await browser.follow(`${at}${action}`, { decision: 'allow', tenant: long, email: long })
    })
    assertLittle(left, 'the pages')
  })
})

describe('wrong passwords', () => {
  let [address, cookie] = ['', '']
  // Not while the suite is declared: the tests above would find the request that it stores.
  before(async () => {
    const asked = await injectRequest(app, { url: authorizationRequest(application, newVerifier()) })
    address = `${asked.headers.location}/sign-in`
    cookie = asked.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  })
  const attempt = (host: number, email: string) =>
    injectRequest(app, {
      method: 'POST',
      url: address,
      remoteAddress: `198.51.100.${host}`,
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      payload: `${new URLSearchParams({ email, password: 'wrong horse battery' })}`,
    })
  /** What the log tells of them: how many there were, where an entry stands for several. */
  const noted = async (recordId: string) => {
    const { rows } = await owner.query(
      `select sealed is not null as "isCount"
      from audit_entries where resource = 'sign_ins' and record_id = $1 and action = 'failed' order by number`,
      [recordId],
    )
    return rows.map(({ isCount }) => isCount)
  }
  const few = Array(8).fill(false)

  test('for an account fill no log, from however many addresses they come', async () => {
    for (let host = 1; host <= 40; host++) assert.equal((await attempt(host, person.email)).statusCode, 401)
    assert.deepEqual(await noted(person.id), [...few, true, true])
  })

  test('for accounts that do not exist fill no log, however many they are', async () => {
    for (let host = 1; host <= 40; host++) assert.equal((await attempt(host, `${host}@example.com`)).statusCode, 401)
    assert.deepEqual(await noted('unknown'), [...few, true, true])
  })
})

test('an authorization request that is longer than any application needs is refused by a page', async () => {
  const request = (state: string) => authorizationRequest(application, newVerifier(), { state })
  const { status, location, page } = await new Browser(origin).visit(request('x'.repeat(4_000)))
  assert.deepEqual([status, location], [414, ''])
  assert.match(page, /longer than 4 KiB/)
  const called = await new Browser(origin).answer(request('x'.repeat(3_000)), { person })
  assert.equal(called.searchParams.get('state')?.length, 3_000)
})

test('signing out without a session shows that nobody is signed in', async () => {
  const { status, page, headers } = await new Browser(origin).visit('/oauth2/logout?state=x')
  assert.equal(status, 200)
  assert.match(page, /You are signed out/)
  assert.equal(headers.get('set-cookie'), null)
})

test('a browser whose session is over signs in again', async () => {
  const browser = new Browser(origin)
  const ask = () => browser.answer(authorizationRequest(application, newVerifier()), { person })
  await ask()
  await owner.query(`delete from authorization_state where model = 'Session'`)
  assert.ok((await ask()).searchParams.get('code'))
})

test('a request that was continued cannot be continued again', async () => {
  const browser = new Browser(origin)
  const { location } = await browser.visit(authorizationRequest(application, newVerifier()))
  const resume = location.replace('/interaction/', '/authorize/')
  const cookie = browser.cookiesAt(resume)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => fetch(origin + resume, { redirect: 'manual', headers: { cookie } })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, ...Array(7).fill(400)])
})

test('an address begins so many authorizations a minute, and those that end at once do not count', async () => {
  const strict = await startService({
    connectionString: service.connectionString,
    rateLimits: { ...generous, signIn: 2 },
  })
  const ask = (remoteAddress: string, changes: Parameters = {}, path = '/oauth2/authorize') =>
    injectRequest(strict.app, {
      url: authorizationRequest(application, newVerifier(), changes).replace('/oauth2/authorize', path),
      remoteAddress,
    })
  const [busy, quiet] = ['192.0.2.1', '192.0.2.2']
  for (let number = 0; number < 5; number++) assert.equal((await ask(busy, { prompt: 'none' })).statusCode, 303)
  const statuses = []
  for (const path of ['/oauth2/authorize', '/oauth2/%61uthorize', '/oauth2/authorize', '/oauth2/%61uthorize'])
    statuses.push((await ask(busy, {}, path)).statusCode)
  assert.deepEqual(statuses, [303, 303, 429, 429])
  for (const path of ['/oauth2/AUTHORIZE', '/oauth2/authorize/', '/OAUTH2/authorize', '//oauth2/authorize'])
    assert.deepEqual(await leftBy(() => ask(quiet, {}, path)), {}, path)
  assert.equal((await ask(quiet)).statusCode, 303)
})

test('an authorization counts also when the caller hangs up before it is stored', async () => {
  const strict = await startService({
    connectionString: service.connectionString,
    rateLimits: { ...generous, signIn: 1 },
  })
  const ask = (signal?: AbortSignal) =>
    strict.call('GET', `/${authorizationRequest(application, newVerifier())}`, signal ? { signal } : {})
  const hangUp = new AbortController()
  await owner.query('begin')
  await owner.query('lock applications')
  const gone = ask(hangUp.signal)
  await until('the application is looked up', async () => {
    const waiting = `select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`
    return (await owner.query(waiting)).rows.length > 0
  })
  hangUp.abort()
  await assert.rejects(gone)
  const connections = promisify(strict.app.server.getConnections.bind(strict.app.server))
  await until('the connection is closed', async () => (await connections()) === 0)
  await owner.query('commit')
  assert.equal((await ask()).status, 429)
})
