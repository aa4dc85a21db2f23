import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { actionOf, Browser, challengeOf, form, newVerifier } from '../../test/browsers/oauth-browser.ts'
import {
  accepts,
  isAlive,
  postmasterOf,
  runMasthead,
  type Serving,
  spawnMasthead,
  startServing,
  temporaryDataDirectory,
  until,
} from '../../test/processes/masthead-process.ts'
import { cloneTemplate, freeAddress } from '../../test/service.ts'

const checkout = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

/** What the commands of this environment answer with --json. */
const commandsIn =
  (environment: Record<string, string>) =>
  async (command: string): Promise<Record<string, string>[] & Record<string, string>> => {
    const { code, stdout, stderr } = await runMasthead([...command.split(' '), '--json'], environment)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }

/** As the console has people sign in. */
const canSignIn = async (url: string, email: string, password: string): Promise<boolean> => {
  const browser = new Browser(url)
  const parameters = form({
    response_type: 'code',
    client_id: 'masthead-console',
    redirect_uri: `${url}/signed-in`,
    scope: 'openid',
    code_challenge: challengeOf(newVerifier()),
    code_challenge_method: 'S256',
  })
  const asked = await browser.follow(`/oauth2/authorize?${parameters}`)
  const answered = await browser.follow(actionOf(asked, 'sign-in') ?? '', { email, password })
  return new URL(answered.address).searchParams.has('code')
}

const get = (address: string, token: string) => fetch(address, { headers: { authorization: `Bearer ${token}` } })

describe('masthead serve --demo, in a folder of its own', async () => {
  const data = await temporaryDataDirectory()
  const environment = { MASTHEAD_DATA_DIR: data }
  const json = commandsIn(environment)
  let serving: Serving
  let demoToken = ''
  let demoPassword = ''
  let contactId = ''
  let writersToken = ''

  test('prints one JSON document with the addresses and a token that work', async () => {
    serving = await startServing(['--demo', '--port', '0'], environment)
    assert.match(serving.said.stderr, /^Creating a PostgreSQL cluster in .*\nMaking demo data …\n$/)
    const { url, api, docs, tenant, token = '', curl = '', email, password = '', ...rest } = serving.announced
    assert.deepEqual([rest, tenant, email], [{}, 'demo', 'demo@masthead.example'])
    assert.match(url, /^http:\/\/localhost:[1-9]\d+$/)
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    assert.equal((await fetch(docs)).status, 200)
    const answer = await get(`${api}/contacts?pageSize=2`, token)
    const page: { items: { id: string }[]; total: number } = JSON.parse(await answer.text())
    assert.ok(page.total > 100)
    assert.equal(page.items.length, 2)
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '') ?? []
    assert.ok(next.startsWith(`${api}/contacts?`), next)
    assert.equal((await get(next, token)).status, 200)
    const { stdout } = await run('/bin/sh', ['-c', curl])
    assert.equal(JSON.parse(stdout).items.length, 3)
    demoToken = token
    demoPassword = password
  })

  test('listens on loopback only', async () => {
    const port = Number(new URL(serving.announced.url).port)
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, address }) => !internal && !address.startsWith('fe80'))
      .map(({ address }) => address)
    assert.equal(await accepts('localhost', port), true)
    // Linux answers for all of 127.0.0.0/8, so this address tells a service that listens everywhere.
    for (const host of ['127.0.0.2', ...outside]) assert.equal(await accepts(host, port), false, host)
  })

  test('shares its PostgreSQL with commands that run meanwhile', async () => {
    const postmaster = postmasterOf(data)
    assert.deepEqual(
      (await json('tenant list')).map(({ slug }) => slug),
      ['demo'],
    )
    const { token = '' } = await json('token create --tenant demo --service x --scopes contacts:write,accounts:write')
    const { api } = serving.announced
    const post = async (path: string, body: object): Promise<{ status: number; body: Record<string, string> }> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const response = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: response.status, body: JSON.parse(await response.text()) }
    }
    const { body: account } = await post('/accounts', { company: 'Kept Ltd' })
    const created = await post('/contacts', { accountId: account.accountId, name: 'Kept' })
    assert.equal(created.status, 201)
    contactId = created.body.id ?? ''
    writersToken = token
    assert.equal(postmasterOf(data), postmaster)
  })

  test('ends with exit code 0 at SIGTERM, and PostgreSQL with it', async () => {
    const postmaster = postmasterOf(data)
    assert.ok(postmaster && isAlive(postmaster))
    const outcome = await serving.stop()
    assert.equal(outcome.code, 0, outcome.stderr)
    assert.deepEqual(JSON.parse(outcome.stdout), serving.announced)
    assert.equal(postmasterOf(data), undefined)
    await until('PostgreSQL is gone', () => !isAlive(postmaster))
  })

  test('leaves a folder on which commands work, and stop PostgreSQL behind them', async () => {
    assert.deepEqual(
      (await json('tenant list')).map(({ slug }) => slug),
      ['demo'],
    )
    assert.equal(postmasterOf(data), undefined)
  })

  test('starts a second time with the same data and token', async () => {
    serving = await startServing(['--demo', '--port', '0'], environment)
    assert.equal(serving.said.stderr, '')
    assert.deepEqual([serving.announced.token, serving.announced.password], [demoToken, demoPassword])
    const answer = await get(`${serving.announced.api}/contacts/${contactId}`, demoToken)
    assert.equal(answer.status, 200)
  })

  test('runs twice on one folder, and the last one out stops PostgreSQL', async () => {
    const second = await startServing(['--port', '0', '--data-dir', data], {})
    assert.equal((await serving.stop()).code, 0)
    assert.equal((await get(`${second.announced.api}/contacts/${contactId}`, demoToken)).status, 200)
    assert.equal((await second.stop()).code, 0)
    assert.equal(postmasterOf(data), undefined)
  })

  test('says in one line that its port is in use, and leaves no PostgreSQL running', async () => {
    const holder = createServer().listen(0, 'localhost')
    await once(holder, 'listening')
    const address = holder.address()
    const port = `${typeof address === 'object' ? address?.port : ''}`
    const outcome = await runMasthead(['serve', '--demo', '--json', '--port', port], environment)
    holder.close()
    assert.deepEqual([outcome.code, outcome.stdout], [1, ''])
    assert.equal(outcome.stderr, `masthead: port ${port} is in use; choose another with --port\n`)
    assert.equal(postmasterOf(data), undefined)
  })

  test('that is stopped while it starts leaves no PostgreSQL running', async () => {
    const { child, ended } = spawnMasthead(['serve', '--demo', '--port', '0'], environment)
    await until('PostgreSQL starts', () => postmasterOf(data) !== undefined)
    child.kill('SIGINT')
    const { code, stderr } = await ended
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(postmasterOf(data), undefined)
  })

  test('is what npm start runs, which prints a curl line that works when pasted', async () => {
    const child = spawnInCheckout('npm', ['start'], { ...environment, PORT: '0' })
    const said = collect(child)
    const closed = once(child, 'close')
    await until('the greeting is complete', () => said.stdout.includes('Ctrl-C') || child.exitCode !== null)
    const [, url = '', curl = ''] =
      /API +(\S+)\/customer-api\/v1\n(?:.*\n)*Try it:\n +(curl .*)\n/.exec(said.stdout) ?? []
    assert.match(url, /^http:\/\/localhost:\d+$/, said.stdout + said.stderr)
    assert.ok(said.stdout.includes(`Token      ${demoToken}\n`))
    const [, email = '', password = ''] = /Sign in +(\S+), password (\S+)\n/.exec(said.stdout) ?? []
    assert.ok(await canSignIn(url, email, password))
    const { stdout } = await run('/bin/sh', ['-c', curl])
    assert.equal(JSON.parse(stdout).items.length, 3)
    signalGroup(child, 'SIGINT')
    await closed
    await until('PostgreSQL has stopped', () => postmasterOf(data) === undefined)
  })

  /** Sees that a signal ends it in good order: what it took is answered, and PostgreSQL is stopped. */
  const assertDrains = async (url: string, child: ChildProcess, signal: (said: Said) => void): Promise<Said> => {
    const said = collect(child)
    await until('the greeting is complete', () => said.stdout.includes('Ctrl-C') || child.exitCode !== null, 60_000)
    assert.match(said.stdout, /Ctrl-C/, said.stderr)
    const port = Number(new URL(url).port)
    const socket = connect(port, 'localhost')
    after(() => socket.destroy())
    let received = ''
    socket.on('error', () => {}).on('data', (data) => (received += data))
    const head = ['POST /customer-api/v1/contacts HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${writersToken}`]
    const body = ['Content-Type: application/json', 'Content-Length: 2', 'Expect: 100-continue', '', '{']
    socket.write([...head, ...body].join('\r\n'))
    await until('a request is in flight', () => received.startsWith('HTTP/1.1 100 '))
    signal(said)
    await until('nobody is let in any more', async () => !(await accepts('localhost', port)))
    received = ''
    socket.write('}')
    await until('the request is answered', () => received.startsWith('HTTP/1.1 422 '))
    await until('PostgreSQL has stopped', () => postmasterOf(data) === undefined)
    return said
  }

  test('is stopped by SIGTERM to the process that the README starts', async () => {
    const readme = await readFile(join(checkout, 'README.md'), 'utf8')
    const [, lines = ''] = /```sh\n((?:(?!```).*\n)*masthead serve)\n```/.exec(readme) ?? []
    const url = await freeAddress('localhost')
    const here = lines.replace(/DATABASE_URL=\S+/, '').replace(/HOST=\S+/, '')
    assert.notEqual(here, lines)
    const script = `${here} & echo "started $!"; wait $!; echo "ended $?"`
    const child = spawnInCheckout('/bin/sh', ['-c', script], { ...environment, PORT: new URL(url).port })
    const said = await assertDrains(url, child, ({ stdout }) => {
      process.kill(Number(/started (\d+)/.exec(stdout)?.[1]), 'SIGTERM')
    })
    await until('it has ended', () => said.stdout.endsWith('ended 0\n'))
  })

  for (const [file, ...args] of [
    ['npx', 'masthead', 'serve'],
    ['npm', 'start'],
  ] as const) {
    test(`is stopped by SIGTERM to \`${[file, ...args].join(' ')}\``, async () => {
      const url = await freeAddress('localhost')
      const child = spawnInCheckout(file, args, { ...environment, PORT: new URL(url).port })
      await assertDrains(url, child, () => child.kill('SIGTERM'))
    })
  }
})

describe('masthead serve, on a PostgreSQL of the operator', async () => {
  const connectionString = await cloneTemplate()
  const environment = { DATABASE_URL: connectionString }
  const json = commandsIn(environment)

  test('makes no demo data, and names itself by BASE_URL', async () => {
    const serving = await startServing(['--port', '0'], { ...environment, BASE_URL: 'https://api.example.com/' })
    assert.deepEqual(serving.announced, {
      url: 'https://api.example.com',
      api: 'https://api.example.com/customer-api/v1',
      docs: 'https://api.example.com/docs',
    })
    assert.deepEqual(await json('tenant list'), [])
    assert.equal((await serving.stop()).code, 0)
  })
})

/** In a process group of its own, as a terminal does it: Ctrl-C reaches all of it. */
const spawnInCheckout = (file: string, args: readonly string[], environment: Record<string, string>): ChildProcess => {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, NO_UPDATE_NOTIFIER: '1', ...environment }
  const child = spawn(file, args, { cwd: checkout, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  after(() => signalGroup(child, 'SIGKILL'))
  return child
}

const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // The group is gone already.
    assert.ok(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

type Said = { stdout: string; stderr: string }

const collect = (child: ChildProcess): Said => {
  const said = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text) => (said.stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text) => (said.stderr += text))
  return said
}
