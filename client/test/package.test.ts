import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { startBrowser } from '../../server/test/browsers/browser.ts'
import { newApplication, newPerson } from '../../server/test/browsers/oauth-browser.ts'
import { sampleAccount, sampleContact } from '../../server/test/records/sample-records.ts'
import { freeAddress, startService } from '../../server/test/service.ts'
import { toolProgram } from '../../tools/tool.ts'

/** The package as others get it: packed, and installed into an empty project. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const project = await mkdtemp(join(tmpdir(), 'masthead-client-'))
after(() => rm(project, { recursive: true, force: true }))

/** What it prints; fails with all of it when it fails. */
const run = async (program: string, given: string[], environment: Record<string, string> = {}): Promise<string> => {
  const { PATH = '', HOME = '' } = process.env
  const options = { cwd: project, env: { PATH, HOME, ...environment } }
  const { stdout } = await promisify(execFile)(program, given, options).catch((error) => {
    throw new Error(`${program} ${given.join(' ')} failed: ${error.stdout}${error.stderr}`)
  })
  return stdout
}
const write = (name: string, text: string): Promise<void> => writeFile(join(project, name), text)

await run('npm', ['pack', join(root, 'client'), '--pack-destination', project])
const [tarball = ''] = (await readdir(project)).filter((name) => name.endsWith('.tgz'))
await write('package.json', JSON.stringify({ name: 'newcomer', private: true, type: 'module' }))
await run('npm', ['install', `./${tarball}`, '--offline', '--no-audit', '--no-fund'])
const installed = join(project, 'node_modules/@masthead/client')

const baseUrl = await freeAddress('localhost')
const service = await startService({ baseUrl })
const tenant = await service.newTenant()
await tenant.add('accounts', [sampleAccount('A1'), sampleAccount('A2')])
await tenant.add('contacts', [sampleContact('A1')])
const token = await tenant.serviceToken()

const readme = await readFile(join(installed, 'README.md'), 'utf8')
/** The code of a README, in order. */
const examplesIn = (text: string): string[] => [...text.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code)
const exampleWith = (text: string): string => examplesIn(readme).find((code) => code.includes(text)) ?? ''
const runExample = async (code: string, environment: Record<string, string> = {}): Promise<string> => {
  await write('example.js', code)
  return run(process.execPath, ['example.js'], { MASTHEAD_URL: baseUrl, MASTHEAD_TOKEN: token, ...environment })
}

describe('the package', () => {
  test('holds what is compiled, what is read and the licence, and brings nothing along', async () => {
    const files = await readdir(installed, { recursive: true })
    assert.ok(files.includes('dist/index.js') && files.includes('dist/index.d.ts') && files.includes('README.md'))
    assert.equal(await readFile(join(installed, 'LICENSE'), 'utf8'), await readFile(join(root, 'LICENSE'), 'utf8'))
    assert.deepEqual(
      files.filter(
        (name) => !/^(dist(\/generated)?(\/[a-z0-9-]+\.(js|d\.ts))?|README\.md|LICENSE|package\.json)$/.test(name),
      ),
      [],
    )
    assert.deepEqual(await readdir(join(project, 'node_modules/@masthead')), ['client'])
    const { dependencies, license } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    assert.deepEqual([dependencies, license], [undefined, 'Apache-2.0'])
  })

  test('is clean in the eyes of publint and Are the types wrong', async () => {
    await run(toolProgram('publint'), ['run', tarball, '--strict'])
    await run(toolProgram('attw'), [tarball, '--profile', 'esm-only', '--no-emoji'])
  })

  test('is used in JavaScript as the README shows', async () => {
    assert.match(await runExample(exampleWith('accounts.create')), /^Ada\nnot_found: .+\n$/)
  })

  test('keeps a copy current as the README shows, and follows from its cursor until it is stopped', async () => {
    const readCopy = async () => JSON.parse(await readFile(join(project, 'copy.json'), 'utf8'))
    const walk = exampleWith('changes.walk({ after: copy')
    await runExample(walk)
    const before = await readCopy()
    assert.ok(Object.values<{ name?: string }>(before.records).some(({ name }) => name === 'Ada Lovelace'))
    const [added] = await tenant.add('contacts', [sampleContact('A2', { name: 'Edith Clarke' })])
    const setting = `import { Masthead } from '@masthead/client'
      const masthead = new Masthead({ baseUrl: process.env.MASTHEAD_URL, token: process.env.MASTHEAD_TOKEN })
      const after = '${before.cursor}'
      const apply = async ([{ record }]) => { console.log(record.name); process.kill(process.pid, 'SIGTERM') }\n`
    assert.equal(await runExample(setting + exampleWith('changes.follow')), 'Edith Clarke\n')
    await runExample(walk)
    const { [`contacts ${added?.id}`]: copied, ...others } = (await readCopy()).records
    assert.deepEqual([copied.name, others], ['Edith Clarke', before.records])
    const listed = await runExample(setting + exampleWith('changesCursor, resources'))
    assert.deepEqual([listed.includes('Edith Clarke\n'), listed.includes('{')], [true, false])
  })

  test('verifies webhooks as the README shows', async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const body = JSON.stringify({ type: 'contact.updated', timestamp: new Date(), data: { name: 'Edith Clarke' } })
    const now = new Date()
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', now, body),
    }
    const call = `
      for (const body of ${JSON.stringify([body, `${body} `])}) {
        const init = { method: 'POST', headers: ${JSON.stringify(headers)}, body }
        const response = await receive(new Request('http://localhost', init))
        console.log(response.status, await response.text())
      }`
    const told = await runExample(exampleWith('verifyWebhook') + call, { WEBHOOK_SECRET: secret })
    assert.equal(told, 'Edith Clarke\n204 \n400 signature_mismatch\n')
  })

  test('is used as the README of the house shows in ten lines, beside a call by curl', async () => {
    const house = await readFile(join(root, 'README.md'), 'utf8')
    const [example = '', ...others] = examplesIn(house)
    assert.deepEqual([example.trimEnd().split('\n').length, others], [10, []])
    assert.match(await runExample(example), /^A\d+ Ada\n$/)
    const [, header = '', path = ''] = /^curl -i -H "(.+)" "http:\/\/localhost:8080(\S+)"$/m.exec(house) ?? []
    const authorization = header.replace('Authorization: ', '').replace('$MASTHEAD_TOKEN', token)
    assert.equal((await service.call('GET', `/${path}`, { headers: { authorization } })).status, 200)
  })

  test('is used in TypeScript, for browsers and for Node, and every type is checked', async () => {
    await write('typed.ts', typed)
    const common = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2022', 'typed.ts']
    await run(join(root, 'node_modules/.bin/tsc'), [
      ...common,
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--lib',
      'es2022,dom',
    ])
    await run(join(root, 'node_modules/.bin/tsc'), [
      ...common,
      '--module',
      'nodenext',
      '--lib',
      'es2022',
      '--types',
      'node',
      '--skipLibCheck',
      '--typeRoots',
      join(root, 'node_modules/@types'),
    ])
  })
})

const typed = `import {
  type Change, type Contact, isProblem, Masthead, OAuthClient, type ProblemCode, verifyWebhook,
} from '@masthead/client'

const masthead = new Masthead({ baseUrl: 'http://localhost', token: async () => 'token' })
export const names: (string | null)[] = []
for await (const contact of masthead.contacts.list({ accountId: 'A1', includeHidden: true })) names.push(contact.name)
const page = await masthead.invoices.list()
export const total: number | null = page.total
export const next: typeof page | null = await page.next()
export const contact: Contact = await masthead.contacts.create({ accountId: 'A1', name: null })
export const route: 'native' | 'legacy' = (await masthead.tasks.create({ accountId: 'A1', title: 'x', dueDate: 'x' })).route
await masthead.contacts.update(contact.id, { accountId: 'A1' }, { ifMatch: contact, signal: new AbortController().signal })
export const codeOf = (error: unknown): ProblemCode | undefined => (isProblem(error) ? error.code : undefined)
export const oauth = new OAuthClient({ baseUrl: '', clientId: '', redirectUri: '', scopes: ['contacts:read'] })
const list = masthead.contacts.list()
for await (const { items, cursor } of masthead.changes.walk({ after: list.changesCursor, resources: ['contacts'] })) {
  for (const item of items) names.push(item.change === 'written' ? item.record.name : cursor)
  // @ts-expect-error: nobody asked for them
  for (const item of items) if (item.resource === 'invoices') names.push('')
}
for await (const { items } of masthead.changes.follow({ signal: new AbortController().signal }))
  for (const item of items) if (item.resource === 'accounts') names.push(item.record && item.record.company)
export const goneIds = (items: Change[]): string[] => items.flatMap(({ id, record }) => (record === null ? [id] : []))
export const webhook = async (request: Request): Promise<string | null> => {
  const event = await verifyWebhook(request, 'whsec_')
  if (event.type === 'import.completed') return String(event.data.counts.contacts?.created ?? event.data.cursor)
  return event.type === 'contact.created' ? event.data.name : event.timestamp
}
// @ts-expect-error: no such filter
masthead.contacts.list({ account: 'A1' })
// @ts-expect-error: no such operation
masthead.invoices.create({})
// @ts-expect-error: may be null
export const name: string = contact.name
// @ts-expect-error: needs an account
masthead.contacts.create({ name: 'Ada' })
// @ts-expect-error: no such code
isProblem(undefined, 'not_there')
// @ts-expect-error: no such scope
new OAuthClient({ baseUrl: '', clientId: '', redirectUri: '', scopes: ['contacts:destroy'] })
`

describe('in a browser', async () => {
  const browser = await startBrowser()
  const pages: Record<string, string> = {}
  const site = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://site').pathname)
    const text = path.startsWith('/client/')
      ? await readFile(join(installed, 'dist', path.slice(8)), 'utf8')
      : pages[path]
    response.setHeader('content-type', path.endsWith('.js') ? 'text/javascript' : 'text/html').end(text)
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  after(() => site.close())
  const { port } = site.address() as AddressInfo // it listens on a port
  const address = `http://127.0.0.1:${port}`
  const redirectUri = `${address}/callback`
  const html = (script: string) => `<!doctype html>
    <script type="importmap">{ "imports": { "@masthead/client": "/client/index.js" } }</script>
    <script type="module">${script}</script>`

  test('a user signs in as the README shows, and the page calls for them', async () => {
    const person = await newPerson(service, [tenant, 'viewer'])
    const { clientId } = await newApplication(service, { redirectUris: [redirectUri] })
    const constants = `const [baseUrl, clientId, redirectUri] = ${JSON.stringify([baseUrl, clientId, redirectUri])}\n`
    pages['/app.js'] = constants + exampleWith('createAuthorizationRequest')
    pages['/'] = html(`import { signIn } from '/app.js'
      signIn()`)
    pages['/callback'] = html(`import { comeBack } from '/app.js'
      const { items } = await (await comeBack()).contacts.list()
      document.title = items[0].name`)
    const page = await browser.newPage()
    page.setDefaultTimeout(50_000)
    await page.goto(address)
    await page.getByLabel('E-mail address').fill(person.email)
    await page.getByLabel('Password').fill(person.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await page.waitForFunction(`document.title === 'Ada Lovelace'`)
    await page.close()
  })

  test('a worker walks, writes with a tag, gets what was kept, and follows', async () => {
    pages['/worker.js'] = `import { Masthead } from '/client/index.js'
      const statuses = []
      const hooks = { answer: ({ status, requestId }) => statuses.push(requestId ? status : 'no request id') }
      const masthead = new Masthead({ ...${JSON.stringify({ baseUrl, token })}, hooks })
      for (const name of ['Grace', 'Mary']) await masthead.contacts.create({ accountId: 'A1', name })
      const names = []
      for await (const { name } of masthead.contacts.list({ accountId: 'A1', pageSize: 1 })) names.push(name)
      statuses.length = 0
      const { items } = await masthead.contacts.list({ accountId: 'A1', pageSize: 1 })
      const contact = await masthead.contacts.get(items[0].id)
      await masthead.contacts.update(contact.id, { accountId: 'A1', title: 'Dr' }, { ifMatch: contact })
      const late = await masthead.contacts.delete(contact.id, { ifMatch: contact }).catch(({ code }) => code)
      const followed = []
      for await (const { items } of masthead.changes.follow({ resources: ['contacts'] })) {
        followed.push(...items.map(({ record }) => record.name))
        if (followed.includes('Mary')) break
      }
      postMessage({ names, statuses: statuses.slice(0, 4), late, followed: followed.includes('Grace') })`
    pages['/'] = '<!doctype html>'
    const page = await browser.newPage()
    await page.goto(address)
    const told = await page.evaluate(`new Promise((resolve, reject) => {
      const worker = new Worker('/worker.js', { type: 'module' })
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message))
    })`)
    assert.deepEqual(told, {
      names: ['Ada Lovelace', 'Grace', 'Mary'],
      statuses: [304, 200, 200, 412],
      late: 'precondition_failed',
      followed: true,
    })
    await page.close()
  })
})
