import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { basePath, operations } from '@masthead/contract'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { authorize, newApplication, newPerson } from '../../test/browsers/oauth-browser.ts'
import { runInSession } from '../../test/processes/command-session.ts'
import { runMasthead, spawnMasthead, until } from '../../test/processes/masthead-process.ts'
import { populatedTenant } from '../../test/records/populated-tenant.ts'
import { garblers } from '../../test/requests/judged-responses.ts'
import { cloneTemplate, freeAddress, generous, secret, startService } from '../../test/service.ts'
import { chainWaiting } from '../audit/queries.ts'
import type { Database } from '../database/database.ts'
import { type TenantQuery, tenantQuery } from '../database/tenant-query.ts'
import { allScopes } from '../identity/people/roles.ts'
import { createTenant } from '../identity/people/tenants.ts'
import { leftAlone, probe } from './probe.ts'
import { probeTables } from './queries.ts'
import { columns } from './report.ts'

// The limits are those of production: the probe stays below them.
const service = await startService({ rateLimits: { ...generous, token: 1_200, tenant: 6_000, atOnce: 50 } })
const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret }
const bystander = await populatedTenant(service)
await createTenant(service.database.query, { slug: 'canary-islands', name: 'Canary Islands Gazette' })
await createTenant(service.database.query, { slug: `canary-${'0'.repeat(32)}`, name: 'Canary of masthead probe' })

const tablesWithPolicy = async (): Promise<string[]> => {
  const { rows } = await service.owner.query<{ name: string }>(
    `select relname as name from pg_class where relrowsecurity and relnamespace = 'public'::regnamespace order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** All rows of all tables, but for what the service notes about the use of tokens. */
const everyRow = async (): Promise<Record<string, string[]>> => {
  const { rows: tables } = await service.owner.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables
      where schemaname = 'public' and tablename <> 'identity_revision' order by 1`,
  )
  const found: Record<string, string[]> = {}
  for (const { name } of tables) {
    const { rows } = await service.owner.query<{ row: string }>(
      `select (to_jsonb(rows) - 'last_used_at')::text as row from ${name} as rows order by 1`,
    )
    found[name] = rows.map(({ row }) => row)
  }
  return found
}

const canaryCount = async (): Promise<number> => {
  const { rows } = await service.owner.query<{ count: string }>(
    `select count(*)::integer as count from access_tokens join tenants on tenants.id = tenant_id where slug like 'canary-%'`,
  )
  return Number(rows[0]?.count)
}

const probeOnce = (url = service.origin) =>
  probe(service.database, {
    url,
    secret: async () => secret,
    signal: new AbortController().signal,
    onProgress: () => {},
  })

describe('masthead probe', () => {
  test('finds no leak in the service as it is, calls every operation with every kind of token, and leaves nothing behind', async () => {
    // As the service does it each second.
    await chainWaiting(service.database)
    const before = await everyRow()
    const outcome = await runMasthead(['probe', '--url', `${service.origin}/`, '--json'], environment)
    assert.deepEqual([outcome.code, outcome.stderr], [0, ''], outcome.stdout)
    const report = JSON.parse(outcome.stdout)
    assert.deepEqual([report.url, report.isClean], [service.origin, true])
    assert.deepEqual([report.leaks, report.notProbed, report.notes], [[], [], []])
    const called = new Map<string, Record<string, number>>()
    for (const { operation, byToken } of report.operations) called.set(operation, byToken)
    const expected = operations.map(({ name }) => name).filter((name) => !leftAlone.includes(name))
    assert.deepEqual([...called.keys()].sort(), expected.sort())
    for (const [operation, byToken] of called) {
      for (const column of columns) assert.ok((byToken[column] ?? 0) > 0, `${operation} ${column}`)
    }
    assert.deepEqual(report.tables.toSorted(), await tablesWithPolicy())
    assert.deepEqual(await everyRow(), before)
  })

  test('is stopped by SIGINT, and removes its canaries first', async () => {
    const { child, ended } = spawnMasthead(['probe', '--url', service.origin], environment)
    await until('the canaries have tokens', async () => (await canaryCount()) > 0)
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    assert.deepEqual([code, stdout, stderr], [1, '', 'masthead: interrupted; the canaries are removed\n'])
    assert.equal(await canaryCount(), 0)
  })

  test('removes what a killed one left, says that tokens of an outside issuer are left out, and shows a table', async () => {
    const before = await everyRow()
    const { child, ended } = spawnMasthead(['probe', '--url', service.origin], environment)
    await until('the canaries have tokens', async () => (await canaryCount()) > 0)
    child.kill('SIGSTOP')
    const second = await runInSession(['probe', '--url', service.origin], environment)
    assert.deepEqual([second.code, second.stdout], [1, ''])
    assert.equal(second.stderr, 'masthead: another probe is running: wait until it has ended\n')
    child.kill('SIGKILL')
    await ended
    assert.ok((await canaryCount()) > 0)
    const outside = { ...environment, AUTH_ISSUER: 'https://issuer.example' }
    const outcome = await runInSession(['probe', '--url', service.origin], outside)
    assert.deepEqual([outcome.code, outcome.stderr], [0, ''], outcome.stdout)
    assert.match(outcome.stdout, /^operation +admin +editor +viewer +service +delegated +refused +leaks\n/)
    assert.match(outcome.stdout, /\nGetContacts +\d+ +\d+ +\d+ +\d+ +- +\d+ +0\n/)
    assert.match(outcome.stdout, /\ndelegated tokens are not probed: the issuer of AUTH_ISSUER gives them\n/)
    assert.match(outcome.stdout, /\nNothing leaks\.\n$/)
    assert.deepEqual(await everyRow(), before)
  })

  test('says in one line why it could not begin', async () => {
    const complaint = async (url: string | null, given: Record<string, string> = environment) => {
      const { code, stdout, stderr } = await runInSession(['probe', ...(url === null ? [] : ['--url', url])], given)
      assert.deepEqual([code, stdout], [1, ''])
      return stderr
    }
    const nobody = await freeAddress()
    const silent = `masthead: no service answers at ${nobody} (ECONNREFUSED): start it, or name its address with --url\n`
    assert.equal(await complaint(nobody), silent)
    assert.equal(await complaint(null, { ...environment, BASE_URL: nobody }), silent)
    assert.match(
      await complaint('masthead'),
      /--url must be an address like https:\/\/api\.example\.com, not "masthead"/,
    )
    const elsewhere = { ...environment, DATABASE_URL: await cloneTemplate() }
    assert.match(await complaint(service.origin, elsewhere), /no signing key yet|uses another database/)
  })
})

describe('a policy that is missing', () => {
  const plant = async (statement: string, remedy: string) => {
    await service.owner.query(statement)
    return { [Symbol.asyncDispose]: () => service.owner.query(remedy).then(() => {}) }
  }
  const policy = (table: string) => `create policy tenant on ${table} using (tenant_id = current_tenant())`
  const open = (table: string) =>
    plant(
      `drop policy tenant on ${table}; create policy tenant on ${table} using (true)`,
      `drop policy tenant on ${table}; ${policy(table)}`,
    )

  test('is found at each table, one at a time', async () => {
    const [own, other] = [await service.newTenant(), await service.newTenant()]
    const tables = await tablesWithPolicy()
    assert.ok(tables.length >= 15)
    for (const table of tables) {
      const alter = `alter table ${table}`
      await using _off = await plant(`${alter} disable row level security`, `${alter} enable row level security`)
      const { leaks, notProbed } = await probeTables(service.database, own.id, other.id)
      assert.deepEqual([...new Set(leaks.map((leak) => leak.table))], [table])
      assert.deepEqual(notProbed, [])
    }
    assert.deepEqual((await probeTables(service.database, own.id, other.id)).leaks, [])
  })

  test('that would have let rows in is found although nothing leaks', async () => {
    const [own, other] = [await service.newTenant(), await service.newTenant()]
    await using _closed = await plant('drop policy tenant on imports', policy('imports'))
    const { leaks, notProbed } = await probeTables(service.database, own.id, other.id)
    assert.deepEqual(leaks, [])
    assert.match(notProbed[0]?.seen ?? '', /^a row for it could not be made: .*row-level security/)
  })

  test('shows in no response as long as statements name their tenant, and in many when they do not', async () => {
    await using _contacts = await open('contacts')
    await using _tallies = await open('tallies')
    await using _answers = await open('idempotency_records')
    await using _heads = await open('heads')
    assert.deepEqual(
      (await probeOnce()).leaks.filter(({ operation }) => operation),
      [],
    )
    const { connectionString } = service
    const careless = await startService({ connectionString, through: namingNoTenant })
    garblers.add(careless.origin)
    const { leaks, isClean } = await probeOnce(careless.origin)
    assert.equal(isClean, false)
    const seenBy = (operation: string) => leaks.filter((leak) => leak.operation === operation).map(({ seen }) => seen)
    for (const operation of ['GetContacts', 'GetContactById', 'UpdateContactRecord', 'DeleteContactRecord']) {
      assert.ok(seenBy(operation).includes('something of the other tenant is in the body'), operation)
    }
    assert.ok(seenBy('GetContacts').includes('a record of a third tenant is in the body'))
    assert.ok(seenBy('GetContactById').includes('the response is 200, and 404 not_found for what does not exist'))
    for (const operation of ['GetAccounts', 'GetInvoices', 'GetSubscriptions', 'GetPublications']) {
      assert.match(seenBy(operation).join(), /the total is \d+, but the page of \d+ shows \d+/)
    }
    const replayed = 'the header idempotency-replayed is there, unlike for what does not exist'
    for (const operation of ['CreateContactRecord', 'CreateAccountRecord', 'CreateTaskRecord']) {
      assert.ok(seenBy(operation).includes(replayed), operation)
    }
    const changed = leaks.filter(({ seen }) => seen === 'changed by calls of the other tenant')
    assert.deepEqual(
      changed.map(({ table }) => table).filter((table) => table === 'contacts' || table === 'heads'),
      ['heads', 'contacts'],
    )
    const [leak] = leaks.filter(({ operation }) => operation)
    assert.match(leak?.requestId ?? '', /^probe-\d+-\d+$/)
    assert.ok(columns.includes(leak?.token ?? ''))
  })
})

/** The same database through a door whose statements leave out the condition on the tenant. */
const namingNoTenant = (database: Database): Database => {
  const careless = (text: string) => text.replaceAll(/(\w+\.)?tenant_id = \$1\b/g, '$$1::uuid is not null')
  const query = (id: string, { withoutTenant }: TenantQuery): TenantQuery =>
    tenantQuery(id, ({ text, ...more }) => withoutTenant({ text: careless(text), ...more }))
  return {
    ...database,
    forTenant: (id) => {
      const tenant = database.forTenant(id)
      return {
        ...tenant,
        read: query(id, tenant.read),
        readSlowly: query(id, tenant.readSlowly),
        bodyOf: ({ text, key }) => tenant.bodyOf({ text: careless(text), key }),
        transaction: (work) => tenant.transaction((given) => work(query(id, given))),
        write: (decide) =>
          tenant.write(async (given) => {
            const last = await decide(query(id, given))
            return (given) => last(query(id, given))
          }),
      }
    },
  }
}

/** Stands before the service and makes mistakes that the database does not. */
describe('behind a faulty gateway', () => {
  let gateway: Server
  let url = ''
  const cache = new Map<string, string>()
  const known = new Set<string>()
  const jwts = new Set<string>()
  let isBusy = true

  before(async () => {
    gateway = createServer((request, response) => void pass(request, response)).listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    const address = gateway.address()
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    garblers.add(url)
  })
  after(() => gateway.close())

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').replace(basePath, '')
    const { authorization = '' } = request.headers
    if (authorization.split('.').length === 3) jwts.add(authorization.replace('Bearer ', ''))
    if (authorization && isBusy) {
      isBusy = false
      return void response.writeHead(429, { 'retry-after': '1' }).end()
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const given = request.headers as Record<string, string> // none comes twice
    const answer = await fetch(service.origin + request.url, {
      method: request.method ?? '',
      headers: { ...given, 'accept-encoding': 'identity' },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    let text = await answer.text()
    let { status } = answer
    const headers = Object.fromEntries(answer.headers)
    if (path === '/openapi.json') text = strange(text)
    // It keeps what anybody was shown, for everybody.
    const isKept = /^\/publications\/[^/]+$/.test(path) && request.method === 'GET'
    if (isKept && status === 200 && !cache.has(path)) cache.set(path, text)
    if (isKept && cache.has(path)) {
      text = cache.get(path) ?? ''
      status = 200
    }
    // It tells what exists from what does not.
    const [, invoice = ''] = /^\/invoices\/([^/]+)$/.exec(path) ?? []
    if (status === 200) for (const [id] of text.matchAll(/[0-9a-f-]{36}/g)) known.add(id)
    if (status === 404 && known.has(invoice)) {
      status = 403
      text = text.replaceAll('not_found', 'forbidden').replace('"status":404', '"status":403')
    }
    // It tells everybody whom it served last.
    if (path.startsWith('/accounts?')) headers['x-last'] = [...known].slice(0, 100).join()
    // It knows no scopes.
    if (path === '/tasks' && request.method === 'POST' && status === 403) {
      status = 201
      text = '{}'
    }
    delete headers['content-length']
    delete headers['transfer-encoding']
    response.writeHead(status, headers).end(text)
  }

  const strange = (text: string): string => {
    const document = JSON.parse(text)
    document.paths['/subscriptions'].get.parameters.push({ name: 'ledger', in: 'query', schema: { type: 'string' } })
    document.paths['/accounts'].post.requestBody.content['application/json'].schema = {
      ...document.components.schemas.AccountInput,
      properties: { ...document.components.schemas.AccountInput.properties, ledgerId: { type: 'string' } },
    }
    document.paths['/ledgers/{ledgerId}'] = {
      get: { ...document.paths['/accounts/{accountId}'].get, operationId: 'GetLedger' },
    }
    return JSON.stringify(document)
  }

  test('each mistake is found, and what the probe does not know is told', async () => {
    const { leaks, notProbed, operations: called } = await probeOnce(url)
    assert.deepEqual(notProbed, [
      'GetSubscriptions: the probe cannot fill in the query parameter ledger',
      'CreateAccountRecord: the probe cannot fill in the property ledgerId of the body',
      'GetLedger: the probe cannot fill in the path parameter ledgerId',
    ])
    const names = called.map(({ operation }) => operation)
    assert.deepEqual(
      names.filter((name) => ['GetSubscriptions', 'CreateAccountRecord', 'GetLedger'].includes(name)),
      [],
    )
    const seen = (operation: string) =>
      leaks.filter((leak) => leak.operation === operation && leak.token === 'delegated').map((leak) => leak.seen)
    assert.ok(seen('GetPublicationById').includes('something of the other tenant is in the body'))
    assert.ok(
      seen('GetInvoiceById').includes('the response is 403 forbidden, and 404 not_found for what does not exist'),
    )
    assert.ok(seen('GetAccounts').includes('something of the other tenant is in the header x-last'))
    const refusals = leaks.filter(({ seen }) => seen === 'a token that must be refused with 403 is answered with 201')
    assert.deepEqual(refusals.map(({ operation, token }) => [operation, token]).sort(), [
      ['CreateTaskRecord', 'reading only'],
      ['CreateTaskRecord', 'viewer'],
    ])
    const clean = ['GetContactById', 'GetContacts', 'UpdateContactRecord', 'GetInvoices', 'GetAccountById']
    for (const operation of clean) assert.deepEqual(seen(operation), [], operation)
  })

  test('the delegated tokens were of the form that the authorization server gives', async () => {
    const person = await newPerson(service, [bystander.tenant, 'editor'])
    const application = await newApplication(service, { scopes: allScopes })
    const { access_token } = await authorize(service.origin, { application, person })
    const shape = (token: string) => [
      Object.entries(decodeProtectedHeader(token)).sort(),
      Object.keys(decodeJwt(token)).sort(),
      ...(['iss', 'aud', 'scope'] as const).map((claim) => decodeJwt(token)[claim]),
    ]
    const expected = shape(access_token)
    assert.ok(jwts.size > 0)
    for (const token of jwts) assert.deepEqual(shape(token), expected)
  })
})
