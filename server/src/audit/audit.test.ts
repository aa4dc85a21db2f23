import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import {
  actionOf,
  authorizationRequest,
  authorize,
  Browser,
  newApplication,
  newPerson,
  newVerifier,
  post,
  refresh,
} from '../../test/browsers/oauth-browser.ts'
import { attachUnreachable, storeDelivery } from '../../test/outside/stored-deliveries.ts'
import { runInSession } from '../../test/processes/command-session.ts'
import { sampleAccount, sampleContact } from '../../test/records/sample-records.ts'
import { secret, startService, type TestTenant } from '../../test/service.ts'
import { importFiles } from '../transfer/import/import.ts'
import { undoImport } from '../transfer/import/undo.ts'
import { chainWaiting } from './queries.ts'

const service = await startService()
const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret }
const folder = await mkdtemp(join(tmpdir(), 'masthead-audit-'))
after(() => rm(folder, { recursive: true, force: true }))

type Values = Record<string, unknown> | null
type Line = Record<string, unknown> & { author: Record<string, unknown>; before: Values; after: Values }

const masthead = async (command: string, input?: string) => {
  const outcome = await runInSession([...command.split(' '), '--json'], environment, input)
  return { ...outcome, body: outcome.stdout ? JSON.parse(outcome.stdout) : null }
}

/** The log as an operator gets it. */
const logOf = async (whose: string): Promise<Line[]> => {
  const file = join(folder, `${randomUUID()}.ndjson`)
  const { code, stderr } = await masthead(`audit export ${whose} --to ${file}`)
  assert.deepEqual([code, stderr], [0, ''])
  const text = await readFile(file, 'utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

const newTenant = async (): Promise<TestTenant & { token: string }> => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('C-1')])
  return { ...tenant, token: await tenant.serviceToken() }
}

const createContact = async (token: string, given: object = {}, headers: Record<string, string> = {}) =>
  (await service.call('POST', '/contacts', { token, body: { accountId: 'C-1', name: 'Ada', ...given }, headers })).body

const actionsOf = (lines: Line[], resource: string): unknown[] =>
  lines.filter((line) => line.resource === resource).map(({ action }) => action)

describe('the log', () => {
  test('tells of every write who, what, when, from where, before and after', async () => {
    const tenant = await newTenant()
    const personal = await tenant.personalToken('editor')
    const headers = { 'x-request-id': 'the-request' }
    const { id } = await createContact(personal, { email: 'ada@example.com' }, headers)
    const call = (method: string, path: string, body?: object) =>
      service.call(method, path, { token: tenant.token, ...(body && { body }) })
    await call('PATCH', `/contacts/${id}`, { accountId: 'C-1', email: 'new@example.com' })
    await call('PATCH', `/contacts/${id}`, { accountId: 'C-1', email: 'new@example.com' })
    await call('DELETE', `/contacts/${id}`)
    await call('POST', `/contacts/${id}/restore`)
    await call('POST', '/accounts', { company: 'Acme', firstName: 'Grace', category: 'gold' })
    await call('POST', '/tasks', { accountId: 'C-1', title: 'Call', dueDate: '2026-12-01', priority: 'high' })
    const lines = await logOf(`--tenant ${tenant.slug}`)
    const ofContact = lines.filter(({ recordId }) => recordId === id)
    assert.deepEqual(
      ofContact.map(({ action }) => action),
      ['created', 'updated', 'deleted', 'restored'],
    )
    const [created, updated] = ofContact
    assert.equal(created?.before, null)
    assert.equal(created?.after?.email, 'ada@example.com')
    assert.deepEqual(
      [updated?.before, updated?.after].map((value) => value?.email),
      ['ada@example.com', 'new@example.com'],
    )
    assert.deepEqual(Object.keys(created?.author ?? {}).sort(), [
      'address',
      'application',
      'kind',
      'requestId',
      'token',
      'user',
    ])
    assert.deepEqual([created?.author.kind, updated?.author.kind], ['personal', 'service'])
    assert.deepEqual([created?.author.requestId, created?.author.address], ['the-request', '127.0.0.1'])
    assert.match(String(created?.author.user), /^[0-9a-f-]{36}$/)
    assert.ok(Math.abs(Date.parse(String(created?.at)) - Date.now()) < 60_000)
    assert.deepEqual(actionsOf(lines, 'accounts'), ['created'])
    assert.deepEqual(actionsOf(lines, 'tasks'), ['created'])
    assert.equal(lines.find(({ resource }) => resource === 'tasks')?.after?.priority, 'high')
  })

  test('holds nothing of a write that was refused or rolled back', async () => {
    const tenant = await newTenant()
    const before = (await logOf(`--tenant ${tenant.slug}`)).length
    const { id } = await createContact(tenant.token)
    const body = { accountId: 'nowhere', name: 'x' }
    const call = (method: string, path: string) => service.call(method, path, { token: tenant.token, body })
    assert.equal((await call('POST', '/contacts')).status, 422)
    assert.equal((await call('PATCH', `/contacts/${id}`)).status, 422)
    assert.equal((await call('PATCH', `/contacts/${randomUUID()}`)).status, 404)
    assert.equal((await logOf(`--tenant ${tenant.slug}`)).length, before + 1)
  })

  test('tells of tokens, members and applications what an operator did to them', async () => {
    const slug = `audit-${randomUUID().slice(0, 8)}`
    await masthead(`tenant create ${slug} --name Audit`)
    const email = `${slug}@example.com`
    await masthead(
      `user create --tenant ${slug} --email ${email} --name Ada --role editor --password-stdin`,
      'correct horse',
    )
    const token = (await masthead(`token create --tenant ${slug} --service sync --scopes contacts:read`)).body
    await masthead(`token rotate ${token.id}`)
    await masthead(`token revoke ${token.id}`)
    await masthead(`token revoke ${token.id}`)
    await masthead(`member role --tenant ${slug} --email ${email} --role viewer`)
    await masthead(`user set-password --email ${email} --password-stdin`, 'another horse')
    await masthead(`member remove --tenant ${slug} --email ${email}`)
    const lines = await logOf(`--tenant ${slug}`)
    assert.deepEqual(
      lines.map(({ resource, action }) => `${resource} ${action}`),
      [
        'tenants created',
        'members added',
        'tokens created',
        'tokens created',
        'tokens rotated',
        'tokens revoked',
        'members role_changed',
        'users password_changed',
        'members removed',
      ],
    )
    for (const { author } of lines) assert.deepEqual(Object.keys(author), ['kind', 'name'])
    assert.ok(!JSON.stringify(lines).includes(token.token) && !JSON.stringify(lines).includes('another horse'))
    const changed = lines.find(({ action }) => action === 'role_changed')
    assert.deepEqual(
      [changed?.before, changed?.after].map((value) => value?.role),
      ['editor', 'viewer'],
    )

    const app = (
      await masthead('app register --name Report --redirect-uri https://a.example/cb --scopes contacts:read')
    ).body
    await masthead(`app disable ${app.clientId}`)
    const own = (await logOf('--installation')).filter(({ recordId }) => recordId === app.clientId)
    assert.deepEqual(actionsOf(own, 'applications'), ['registered', 'disabled'])
  })

  test('tells of who signs in and who cannot, what an application was given, and that it ended', async () => {
    const tenant = await service.newTenant()
    const person = await newPerson(service, [tenant, 'editor'])
    const application = await newApplication(service)
    const browser = new Browser(service.origin)
    const verifier = newVerifier()
    const page = await browser.follow(authorizationRequest(application, verifier))
    const signIn = actionOf(page, 'sign-in') ?? assert.fail('there is no form')
    await browser.follow(signIn, { email: person.email, password: 'wrong horse' })
    await browser.follow(signIn, { email: 'nobody@nowhere.example', password: 'wrong horse' })
    const tokens = await authorize(service.origin, { application, person })
    const renewed = await refresh(service.origin, application, tokens.refresh_token)
    await post(service.origin, '/oauth2/revoke', { client_id: application.clientId, token: renewed.body.access_token })
    const lines = (await logOf(`--tenant ${tenant.slug}`)).filter(({ resource }) =>
      /sign_ins|consents/.test(String(resource)),
    )
    assert.deepEqual(
      lines.map(({ resource, action }) => `${resource} ${action}`),
      ['sign_ins succeeded', 'consents given', 'consents token_issued', 'consents token_issued', 'consents withdrawn'],
    )
    for (const { author } of lines) assert.deepEqual([author.kind, author.address], ['visitor', '127.0.0.1'])
    assert.equal(lines[0]?.recordId, person.id)
    assert.deepEqual([lines[1]?.after?.applicationId, lines[1]?.after?.userId], [application.clientId, person.id])
    const unknown = (await logOf('--installation')).filter(({ resource }) => resource === 'sign_ins')
    assert.deepEqual(
      unknown.map(({ action, recordId, after }) => [action, recordId, after]),
      [
        ['failed', person.id, null],
        ['failed', 'unknown', null],
      ],
    )
  })

  test('tells of an import every change, of what it created how many, and of its undo what was removed', async () => {
    const tenant = await newTenant()
    const [contact] = await tenant.add('contacts', [sampleContact('C-1', { name: 'Before' })])
    const files = join(folder, 'contacts.ndjson')
    const rows = [
      { id: contact?.id, name: 'After' },
      { id: randomUUID(), accountId: 'C-1', name: 'New' },
    ]
    await writeFile(files, rows.map((row) => JSON.stringify(row)).join('\n'))
    const scope = service.database.forTenant(tenant.id)
    const { id } = await importFiles(scope, [files])
    await undoImport(scope, String(id))
    const lines = (await logOf(`--tenant ${tenant.slug}`)).filter(
      ({ resource }) => resource !== 'tokens' && resource !== 'tenants',
    )
    assert.deepEqual(
      lines.map(({ resource, action }) => `${resource} ${action}`),
      [
        'imports begun',
        'imports created',
        'contacts updated',
        'imports ended',
        'contacts updated',
        'contacts removed',
        'imports undone',
      ],
    )
    const names = (line: Line | undefined) => [line?.before, line?.after].map((value) => value?.name)
    assert.deepEqual(names(lines[2]), ['Before', 'After'])
    assert.deepEqual(names(lines[4]), ['After', 'Before'])
    assert.deepEqual(names(lines[5]), ['New', undefined])
    assert.deepEqual(lines[1]?.after, { resource: 'contacts', count: 1 })
    assert.equal(lines[2]?.author.import, id)
  })

  test('lies in a file that only its owner can read, and replaces none', async () => {
    const tenant = await newTenant()
    const file = join(folder, 'once.ndjson')
    assert.equal((await masthead(`audit export --tenant ${tenant.slug} --to ${file}`)).code, 0)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const again = await masthead(`audit export --tenant ${tenant.slug} --to ${file}`)
    assert.deepEqual([again.code, /exists: choose another name/.test(again.stderr)], [1, true])
    assert.match((await masthead(`audit export --to ${file}`)).stderr, /say whose log/)
  })
})

describe('the chain', () => {
  const chained = async () => {
    const tenant = await newTenant()
    for (const name of ['One', 'Two', 'Three']) await createContact(tenant.token, { name })
    await chainWaiting(service.database)
    return tenant
  }
  const verify = async ({ slug }: TestTenant, more = '') => {
    const { code, body } = await masthead(`audit verify --tenant ${slug}${more}`)
    return { code, ...body[0] }
  }
  /** As somebody who owns the database. */
  const tamper = (sql: string, { id }: TestTenant) => service.owner.query(sql.replaceAll('$1', `'${id}'`))

  test('is whole after writes of many callers at once, each entry in it once', async () => {
    const tenant = await newTenant()
    const chaining = new AbortController()
    const inTheBackground = (async () => {
      while (!chaining.signal.aborted) await chainWaiting(service.database)
    })()
    await Promise.all(Array.from({ length: 40 }, () => createContact(tenant.token)))
    chaining.abort()
    await inTheBackground
    await chainWaiting(service.database)
    const found = await verify(tenant)
    assert.deepEqual([found.code, found.waiting, found.broken], [0, 0, null])
    assert.equal(found.last.sequence, found.entries)
    assert.equal((await logOf(`--tenant ${tenant.slug}`)).filter(({ hash }) => hash === null).length, 0)
  })

  test('names the first entry that was changed, removed, or put in beside it', async () => {
    const numbers = async ({ id }: TestTenant): Promise<number[]> =>
      (
        await service.owner.query('select number from audit_entries where tenant_id = $1 order by number', [id])
      ).rows.map(({ number }) => Number(number))
    const cases: [string, RegExp, number][] = [
      [`update audit_entries set at = at + interval '1 day' where tenant_id = $1 and number >= $n`, /was changed/, 2],
      [
        `update audit_entries set author = '{"kind":"masthead"}' where tenant_id = $1 and number = $n`,
        /was changed/,
        1,
      ],
      [`update audit_entries set sealed = sealed || '\\x00' where tenant_id = $1 and number = $n`, /was changed/, 3],
      ['delete from audit_entries where tenant_id = $1 and number = $n', /is missing/, 2],
      ['delete from audit_links where tenant_id = $1 and number = $n', /link|not in the chain/, 2],
      [`update audit_links set hash = sha256('x') where tenant_id = $1 and number = $n`, /was changed/, 2],
    ]
    for (const [sql, reason, index] of cases) {
      const tenant = await chained()
      const number = (await numbers(tenant))[index]
      await tamper(sql.replaceAll('$n', String(number)), tenant)
      const found = await verify(tenant)
      assert.deepEqual([found.code, found.broken.number], [1, number], sql)
      assert.match(found.broken.reason, reason)
    }
    const tenant = await chained()
    await tamper(
      `insert into audit_entries (tenant_id, author, action, resource, record_id) values ($1, '{}', 'created', 'contacts', 'x')`,
      tenant,
    )
    const found = await verify(tenant)
    assert.deepEqual([found.code, found.broken.reason], [1, 'the entry is not in the chain'])
  })

  test('shows by a hash that was kept elsewhere that its end was cut off', async () => {
    const tenant = await chained()
    const { last } = await verify(tenant)
    await createContact(tenant.token)
    await chainWaiting(service.database)
    assert.equal((await verify(tenant, ` --expect ${last.hash}`)).code, 0)
    await tamper('delete from audit_links where tenant_id = $1 and sequence > 2', tenant)
    await tamper(
      'delete from audit_entries as entry where tenant_id = $1 and not exists (select from audit_links where number = entry.number)',
      tenant,
    )
    assert.equal((await verify(tenant)).code, 0)
    const cut = await verify(tenant, ` --expect ${last.hash}`)
    assert.deepEqual([cut.code, /cut off/.test(cut.broken.reason)], [1, true])
  })
})

describe('an id that is typed in capital letters', () => {
  test('is noted of tokens and imports as it is stored', async () => {
    const tenant = await newTenant()
    const { id } = (await masthead(`token create --tenant ${tenant.slug} --service nightly --scopes contacts:read`))
      .body
    const { body: rotated } = await masthead(`token rotate ${id.toUpperCase()}`)
    assert.equal(rotated.replaces.id, id)
    assert.equal((await masthead(`token revoke ${id.toUpperCase()}`)).body.id, id)
    const file = join(folder, 'accounts.csv')
    await writeFile(file, 'accountId,company\nC-2,Second\n')
    const { body: imported } = await masthead(`import --tenant ${tenant.slug} ${file}`)
    const { body: undone } = await masthead(`import undo ${imported.id.toUpperCase()} --tenant ${tenant.slug}`)
    assert.equal(undone.id, imported.id)
    const noted = (await logOf(`--tenant ${tenant.slug}`)).filter(({ action }) =>
      ['rotated', 'revoked', 'undone'].includes(String(action)),
    )
    assert.deepEqual(
      noted.map(({ action, recordId }) => [action, recordId]),
      [
        ['rotated', id],
        ['revoked', id],
        ['undone', imported.id],
      ],
    )
  })
})

describe('erasing a contact', () => {
  const canary = 'Zephyrine Quillfeather'

  test('leaves nothing that can be read of it anywhere in the database, and the chain whole', async () => {
    const tenant = await newTenant()
    const [account] = await tenant.add('contacts', [sampleContact('C-1', { name: 'Neighbour' })])
    const { id } = await createContact(tenant.token, { name: canary, notes: canary }, { 'idempotency-key': 'k-1' })
    const body = { accountId: 'C-1', title: canary }
    await service.call('PATCH', `/contacts/${id}`, { token: tenant.token, body })
    await service.call('POST', `/contacts/${id}/restore`, {
      token: tenant.token,
      headers: { 'idempotency-key': 'k-2' },
    })
    const scope = service.database.forTenant(tenant.id)
    const file = join(folder, 'contacts-erased.ndjson')
    await writeFile(file, JSON.stringify({ id, lastName: canary }))
    await importFiles(scope, [file])
    await attachUnreachable(service.owner, tenant.id)
    await storeDelivery(service.owner, tenant.id, { recordId: id, body: canary })
    const { code, body: erased } = await masthead(`contact erase ${id}`)
    assert.deepEqual([code, erased], [0, { id, tenant: tenant.slug, images: 1, answers: 2, deliveries: 1, exports: 0 }])

    const { rows } = await service.owner.query(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    )
    for (const { name } of rows) {
      const found = await service.owner.query(`select from ${name} as t where t::text ilike '%zephyrine%'`)
      assert.equal(found.rowCount, 0, name)
    }
    assert.equal((await service.call('GET', `/contacts/${id}`, { token: tenant.token })).status, 404)
    const list = await service.call('GET', '/contacts?search=zephyrine', { token: tenant.token })
    assert.equal(list.body.total, 0)
    assert.equal((await service.call('GET', '/contacts', { token: tenant.token })).body.total, 1)

    const lines = (await logOf(`--tenant ${tenant.slug}`)).filter(({ recordId }) => recordId === id)
    assert.deepEqual(
      lines.map(({ action }) => action),
      ['created', 'updated', 'updated', 'erased'],
    )
    for (const line of lines.slice(0, -1)) {
      assert.deepEqual([line.before, line.after, line.erased], [null, null, true])
      assert.equal(line.author.kind === 'service' || line.author.kind === 'import', true)
    }
    await chainWaiting(service.database)
    assert.equal((await masthead(`audit verify --tenant ${tenant.slug}`)).code, 0)
    assert.equal((await service.call('GET', `/contacts/${account?.id}`, { token: tenant.token })).status, 200)
  })

  test('erases as much by an id in capital letters', async () => {
    const tenant = await newTenant()
    await tenant.add('contacts', [sampleContact('C-1')])
    const { id } = await createContact(tenant.token, { name: canary }, { 'idempotency-key': 'k-1' })
    const { body: erased } = await masthead(`contact erase ${id.toUpperCase()}`)
    assert.deepEqual(erased, { id, tenant: tenant.slug, images: 0, answers: 1, deliveries: 0, exports: 0 })
    const lines = (await logOf(`--tenant ${tenant.slug}`)).filter(({ recordId }) => recordId === id)
    assert.deepEqual(
      lines.map(({ action, after }) => [action, after]),
      [
        ['created', null],
        ['erased', null],
      ],
    )
  })

  test('says when nothing is known of it, and asks for the tenant when several know it', async () => {
    const [one, other] = [await newTenant(), await newTenant()]
    const id = randomUUID()
    for (const tenant of [one, other]) await tenant.add('contacts', [sampleContact('C-1', { id })])
    assert.match((await masthead(`contact erase ${randomUUID()}`)).stderr, /nothing is known/)
    assert.match((await masthead('contact erase me')).stderr, /not the id of a contact/)
    assert.match((await masthead(`contact erase ${id}`)).stderr, /say --tenant/)
    assert.equal((await masthead(`contact erase ${id} --tenant ${one.slug}`)).code, 0)
    assert.equal((await service.call('GET', `/contacts/${id}`, { token: other.token })).status, 200)
    assert.match((await masthead(`contact erase ${id} --tenant ${one.slug}`)).stderr, /nothing is known/)
  })
})
