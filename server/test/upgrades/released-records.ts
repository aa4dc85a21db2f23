import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ResourceName, resourceNames, scopes } from '@masthead/contract'
import type pg from 'pg'
import type { Application } from '../../src/identity/people/applications.ts'
import { ConsoleBrowser, manage } from '../browsers/console-session.ts'
import { actionOf, authorizationRequest, authorize, Browser, newVerifier } from '../browsers/oauth-browser.ts'
import { startReceiver } from '../outside/webhook-receiver.ts'
import { runInSession } from '../processes/command-session.ts'
import { type Environment, startServing, until } from '../processes/masthead-process.ts'
import { sampleRecord } from '../records/sample-records.ts'
import { callAt } from '../service.ts'

/** How each table gets rows below. A release whose tables are not all filled is refused, so a new table needs a line and an action. */
export const filledBy: Readonly<Record<string, string>> = {
  access_tokens: 'commands and the console make, rotate and revoke tokens',
  accounts: 'imports and creates',
  applications: 'a command registers one',
  audit_entries: 'everything that is done',
  audit_keys: 'writes of records',
  audit_links: 'the worker chains entries',
  audit_waiting: 'the last writes, which no worker sees',
  authorization_state: 'people sign in, and an application refreshes',
  consents: 'a person consents twice, and withdraws one',
  contacts: 'imports and creates',
  export_chunks: 'an export by the API',
  exports: 'an export by the API',
  former_users: 'a member who had no other tenant is removed',
  heads: 'writes of records',
  idempotency_records: 'a create with a key',
  identity_revision: 'the migrations',
  import_changes: 'an import that changes records',
  import_creations: 'imports',
  import_mappings: 'an import in the console',
  import_parts: 'a file that was sent to the console and not imported yet',
  import_runs: 'an import in the console',
  imports: 'imports, one of them undone',
  installation: 'the first start',
  invitations: 'an admin invites somebody',
  invoices: 'an import',
  memberships: 'commands',
  migrations: 'the first start',
  publications: 'an import',
  removed_records: 'an undone import and an erased contact',
  search_texts: 'writes of records',
  sign_in_failures: 'somebody signs in with a wrong password',
  signing_keys: 'the first start, and a rotation',
  subscriptions: 'an import',
  tallies: 'writes of records',
  tasks: 'imports and creates',
  tenants: 'commands',
  users: 'commands',
  webhook_deliveries: 'writes, delivered, refused and waiting',
  webhook_endpoints: 'an admin makes one, and a tenant has a legacy system',
  webhook_events: 'writes',
  webhook_wakes: 'the last writes, which no worker sees',
}

export const slugs = ['harbour', 'lake'] as const
/** The administrator of the first tenant. */
export const person = { id: '', email: 'ada@harbour.example', password: 'not a secret of anybody' }

/** What a caller needs to use the database. All of it was made for the dump and opens nothing else. */
export type Credentials = {
  secret: string
  tokens: Record<'service' | 'personal' | 'former' | 'revoked' | 'other', string>
  application: Application
  refreshToken: string
  /** A create that was answered, to be sent again under its key. */
  retry: { key: string; body: Record<string, unknown>; response: string }
  /** An import that changed a contact, and can be undone. */
  importId: string
  /** Of the import in the console. */
  runPath: string
}

const secret = 'the secret of a dump for tests, which opens nothing else'
const allScopes = Object.keys(scopes).join(',')

export const environmentOf = (databaseUrl: string): Environment => ({
  DATABASE_URL: databaseUrl,
  MASTHEAD_SECRET: secret,
  BASE_URL: 'http://masthead.test',
  RATE_LIMIT: 'off',
  LOG_LEVEL: 'warn',
  ALLOW_PRIVATE_ADDRESSES: 'true',
})

/** Does everything that leaves something in the database, as operators, admins, callers and applications do it. */
export const fillDatabase = async (environment: Environment, port: number): Promise<Credentials> => {
  const origin = `http://127.0.0.1:${port}`
  const masthead = (words: string, input = '') => run(environment, words.split(' '), input)
  const serving = await startServing(['--port', String(port)], environment)
  const folder = await mkdtemp(join(tmpdir(), 'masthead-records-'))
  const receiver = await startReceiver()
  receiver.answer = ({ message }) => (message.type === 'contact.deleted' ? 500 : 204)
  try {
    await peopleAndTokens(masthead)
    const { token } = await masthead(
      `token create --tenant harbour --service sync --scopes ${allScopes} --expires 365d`,
    )
    const call = async (method: string, path: string, body?: object, headers = {}) => {
      const response = await callAt(origin, method, path, { token, headers, ...(body && { body }) })
      assert.ok(response.status < 300, response.text)
      return response
    }
    const { management } = await new ConsoleBrowser(origin).signIn(person)
    const admin = async (method: string, path: string, body?: object) => {
      const response = await manage(origin, method, path, { token: management, ...(body && { body }) })
      assert.ok(response.status < 300, `${method} ${path}: ${response.text}`)
      return response.body
    }
    const endpoint = { url: receiver.url, events: ['contact.created', 'contact.deleted', 'import.completed'] }
    const { id: endpointId, secret } = await admin('POST', '/webhook-endpoints', { ...endpoint, description: 'CRM' })
    receiver.trust(secret)
    const importId = await importFiles(masthead, folder)
    const contact = await writeRecords(call)
    await masthead(`contact erase ${contact.erased}`)
    const retry = { key: 'a key of the release', body: { accountId: 'A-1', name: 'Sent twice' } }
    const { text: response } = await call('POST', '/contacts', retry.body, { 'idempotency-key': retry.key })
    const runPath = await importInConsole(admin)
    const { body: job } = await call('POST', '/exports', { resources: ['contacts', 'tasks'], format: 'csv' })
    await until('the export is made', async () => (await call('GET', `/exports/${job.id}`)).body.state === 'done')
    await admin('POST', '/invitations', { email: 'new@harbour.example', role: 'viewer' })
    const { token: personal } = await admin('POST', '/tokens', { name: 'Laptop', scopes: ['contacts:read'] })
    const former = await masthead('token create --tenant harbour --service rotated --scopes contacts:read')
    await masthead(`token rotate ${former.id} --overlap 300d`)
    const revoked = await masthead('token create --tenant harbour --service revoked --scopes contacts:read')
    await masthead(`token revoke ${revoked.id}`)
    const other = await masthead('token create --tenant lake --service sync --scopes contacts:read,contacts:write')
    const granted = await consents(origin, masthead, admin)
    await masthead('keys rotate')
    await failToSignIn(origin, granted.application)
    await until('deliveries are taken and refused', async () => {
      const { items } = await admin('GET', `/webhook-endpoints/${endpointId}/deliveries`)
      const states = items.map(({ state }: { state: string }) => state)
      return states.includes('delivered') && items.some(({ attempts }: { attempts: number }) => attempts > 0)
    })
    await callAt(origin, 'POST', '/contacts', { token: other.token, body: { accountId: 'A-1', name: 'Lake' } })
    await until('entries are chained', async () => (await masthead('audit verify --tenant harbour'))[0].waiting === 0)
    assert.equal((await serving.stop()).code, 0)
    await unseenWrites(environment, port, token)
    const tokens = { service: token, personal, former: former.token, revoked: revoked.token, other: other.token }
    return {
      secret: String(environment.MASTHEAD_SECRET),
      tokens,
      ...granted,
      retry: { ...retry, response },
      importId,
      runPath,
    }
  } finally {
    await serving.kill()
    await receiver.close()
    await rm(folder, { recursive: true, force: true })
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each command prints another document
type Masthead = (words: string, input?: string) => Promise<any>
// biome-ignore lint/suspicious/noExplicitAny: each operation answers another body
type Admin = (method: string, path: string, body?: object) => Promise<any>
type CallApi = (method: string, path: string, body?: object, headers?: object) => ReturnType<typeof callAt>

const run = async (environment: Environment, words: string[], input: string) => {
  const { code, stdout, stderr } = await runInSession([...words, '--json'], environment, input)
  // Two says that rows were refused.
  assert.ok(code === 0 || code === 2, `${words.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

const peopleAndTokens = async (masthead: Masthead): Promise<void> => {
  for (const slug of slugs) await masthead(`tenant create ${slug} --name ${slug}`)
  await masthead('tenant set harbour --time-zone Europe/Berlin')
  const create = 'user create --password-stdin --name'
  await masthead(
    `${create} Ada --tenant harbour --email ${person.email} --role admin --legacy-user-id L-1 --proven`,
    person.password,
  )
  await masthead(`user create --existing --tenant lake --email ${person.email} --role viewer`)
  await masthead(`${create} Bob --tenant harbour --email bob@harbour.example --role editor`, 'another password')
  await masthead(`${create} Eve --tenant harbour --email eve@harbour.example --role viewer`, 'another password')
  await masthead('member remove --tenant harbour --email eve@harbour.example')
  const signingSecret = `whsec_${randomBytes(32).toString('base64')}`
  await masthead('legacy attach --tenant lake --url http://127.0.0.1:9/in --secret-stdin', signingSecret)
}

/** Two records of each resource with every field, of which the second ones are imported again, changed, and a third one that is undone. */
const importFiles = async (masthead: Masthead, folder: string): Promise<string> => {
  const idOf = (name: ResourceName, number: number) =>
    `01890000-0000-7000-8000-${String(100 * resourceNames.indexOf(name) + number).padStart(12, '0')}`
  const publicationId = idOf('publications', 1)
  const references = { accountId: 'A-1', publicationId, primaryPublicationId: publicationId }
  const own: Partial<Record<ResourceName, (number: number) => object>> = {
    publications: (number) => ({ code: `P-${number}` }),
    accounts: (number) => ({ accountId: `A-${number}`, company: `Müller ${number}` }),
    contacts: (number) => ({ externalId: `C-${number}`, name: `Jürgen Müller ${number}` }),
    subscriptions: (number) => ({ subscriptionId: `S-${number}` }),
    invoices: (number) => ({ externalId: `I-${number}` }),
  }
  const write = async (name: ResourceName, numbers: readonly number[], more: object) => {
    const lines = numbers.map((number) => {
      const record = sampleRecord(name)
      const known = Object.fromEntries(Object.entries(references).filter(([field]) => field in record))
      return JSON.stringify({ ...record, id: idOf(name, number), ...known, ...own[name]?.(number), ...more })
    })
    const file = join(folder, `${name}.ndjson`)
    await writeFile(file, lines.join('\n'))
    return file
  }
  for (const slug of slugs) {
    for (const name of resourceNames) await write(name, [1, 2], {})
    await masthead(`import ${folder} --tenant ${slug}`)
  }
  const changing = await masthead(`import ${await write('contacts', [2], { title: 'Changed' })} --tenant harbour`)
  const { id } = await masthead(`import ${await write('contacts', [3], {})} --tenant harbour`)
  await masthead(`import undo ${id} --tenant harbour`)
  await masthead(`import ${await write('contacts', [4], { accountId: 'nobody' })} --tenant harbour`)
  return changing.id
}

const writeRecords = async (call: CallApi): Promise<{ erased: string }> => {
  const { body: account } = await call('POST', '/accounts', {
    company: 'Straße & Söhne',
    firstName: 'Ada',
    email: 'a@example.com',
  })
  await call('PATCH', `/accounts/${account.accountId}`, { city: 'Kjøbenhavn' })
  const create = async (name: string) => (await call('POST', '/contacts', { accountId: 'A-1', name })).body
  const [changed, deleted, restored, erased] = [
    await create('Changed'),
    await create('Deleted'),
    await create('Restored'),
    await create('Erased'),
  ]
  await call('PATCH', `/contacts/${changed.id}`, { accountId: 'A-1', title: 'Editor', subsOnly: true })
  for (const { id } of [deleted, restored]) await call('DELETE', `/contacts/${id}`)
  await call('POST', `/contacts/${restored.id}/restore`)
  await call('PATCH', `/contacts/${restored.id}`, { accountId: 'A-1', hideContact: true })
  const { body: task } = await call('POST', '/tasks', { accountId: 'A-1', title: 'Call', dueDate: '2027-01-02' })
  await call('PATCH', `/tasks/${task.id}`, { accountId: 'A-1', doneAt: '2026-11-01T00:00:00Z' })
  return { erased: erased.id }
}

/** One that is done, with a refused row, and one whose file has only arrived. */
const importInConsole = async (admin: Admin): Promise<string> => {
  const send = async () => {
    const { id } = await admin('POST', '/import-runs', { fileName: 'Kunden.csv', resource: 'accounts' })
    const content = Buffer.from(`accountId,company\nIMP-1,Grün\n${'x'.repeat(70)},Nobody\n`).toString('base64')
    await admin('POST', `/import-runs/${id}/parts`, { number: 1, content })
    return `/import-runs/${id}`
  }
  const path = await send()
  for (const step of ['check', 'start']) {
    await admin('POST', `${path}/${step}`)
    await until('the run ends', async () => (await admin('GET', path)).state !== 'running')
  }
  assert.equal((await admin('GET', path)).state, 'done')
  await send()
  return path
}

/** An application acts for the administrator, and another one does no longer. */
const consents = async (origin: string, masthead: Masthead, admin: Admin) => {
  const register = (name: string) =>
    masthead(
      `app register --name ${name} --scopes contacts:read,publications:read --refresh --redirect-uri https://app.example/callback`,
    )
  const [application, withdrawn] = [await register('Newsletter'), await register('Former')]
  const { id: tenantId } = await admin('GET', '/tenant')
  const { refresh_token: refreshToken } = await authorize(origin, { application, person, tenantId })
  await authorize(origin, { application: withdrawn, person, tenantId })
  const { items } = await admin('GET', '/consents')
  const found = items.find(({ application }: { application: string }) => application === 'Former')
  await admin('DELETE', `/consents/${found.id}`)
  return { application, refreshToken }
}

const failToSignIn = async (origin: string, application: Application): Promise<void> => {
  const browser = new Browser(origin)
  const signIn = actionOf(await browser.follow(authorizationRequest(application, newVerifier())), 'sign-in')
  assert.ok(signIn)
  const { status } = await browser.visit(signIn, { email: 'bob@harbour.example', password: 'wrong' })
  assert.equal(status, 401)
}

/** What workers do with a write is still to be done. */
const unseenWrites = async (environment: Environment, port: number, token: string): Promise<void> => {
  const serving = await startServing(['--port', String(port), '--no-work'], environment)
  const response = await callAt(`http://127.0.0.1:${port}`, 'POST', '/contacts', {
    token,
    body: { accountId: 'A-1', name: 'Told to nobody yet' },
  })
  assert.equal(response.status, 201, response.text)
  assert.equal((await serving.stop()).code, 0)
}

const farAway = '2126-01-01T00:00:00Z'

/** What ends with time must still be there when the dump is used. */
export const letLast = async (owner: pg.Client): Promise<void> => {
  const seconds = Date.parse(farAway) / 1_000
  await owner.query(`
    update access_tokens set expires_at = '${farAway}';
    update authorization_state set expires_at = '${farAway}',
      payload = case when payload::jsonb ? 'exp' then jsonb_set(payload::jsonb, '{exp}', '${seconds}')::text else payload end;
    update imports set started_at = started_at + interval '100 years';
    update exports set expires_at = '${farAway}';
    update invitations set expires_at = '${farAway}';
    update idempotency_records set kept_at = '${farAway}'`)
}
