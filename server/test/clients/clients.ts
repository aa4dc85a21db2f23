import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { scopePrefix } from '@masthead/contract'
import { Browser } from '../browsers/oauth-browser.ts'
import { runMasthead, startServing, temporaryDataDirectory } from '../processes/masthead-process.ts'
import { tryGeneratedClients } from './generated-clients.ts'

/** OAuth libraries of other languages, from Debian's packages, drive the whole flow, and generated clients call everything: `npm run test:clients`. */
const packages: Record<string, string> = {
  'python3-authlib': '/usr/lib/python3/dist-packages/authlib',
  'python3-requests-oauthlib': '/usr/lib/python3/dist-packages/requests_oauthlib',
  'golang-golang-x-oauth2-dev': '/usr/share/gocode/src/golang.org/x/oauth2',
}
const missing = Object.keys(packages).filter((name) => !existsSync(packages[name] ?? ''))
if (missing.length > 0) {
  process.stderr.write(`This trial needs packages of Debian: apt-get install ${missing.join(' ')}\n`)
  process.exit(1)
}

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const clients: Record<string, { program: string; args: string[]; environment?: Record<string, string> }> = {
  authlib: { program: '/usr/bin/python3', args: [file('authlib-client.py')] },
  'requests-oauthlib': { program: '/usr/bin/python3', args: [file('requests-oauthlib-client.py')] },
  'x/oauth2': {
    program: 'go',
    args: ['run', file('x-oauth2-client.go')],
    environment: { GO111MODULE: 'off', GOPATH: '/usr/share/gocode' },
  },
}

const callback = 'http://127.0.0.1:9/callback'
const granted = ['contacts:read', 'publications:read']
const scope = ['openid', 'offline_access', ...granted.map((one) => scopePrefix + one)].join(' ')

const MASTHEAD_DATA_DIR = await temporaryDataDirectory()
const { announced, stop } = await startServing(['--demo', '--port', '0'], { MASTHEAD_DATA_DIR, RATE_LIMIT: 'off' })
const { url, api, email = '', password = '' } = announced
const cache = await mkdtemp(join(tmpdir(), 'masthead-go-'))

try {
  const registered = await runMasthead(
    [
      'app',
      'register',
      '--name',
      'Trial',
      '--redirect-uri',
      callback,
      '--scopes',
      granted.join(','),
      '--refresh',
      '--native',
      '--json',
    ],
    { MASTHEAD_DATA_DIR },
  )
  assert.equal(registered.code, 0, registered.stderr)
  const { clientId } = JSON.parse(registered.stdout)
  for (const [name, { program, args, environment }] of Object.entries(clients)) {
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(program, args, {
      env: {
        PATH,
        HOME,
        GOCACHE: cache,
        BASE: url,
        CLIENT_ID: clientId,
        CALLBACK: callback,
        SCOPE: scope,
        ...environment,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const line = async (): Promise<string> => (await lines.next()).value ?? assert.fail(`${name} has ended`)
    const called = await new Browser(url).answer(await line(), { person: { id: '', email, password } })
    child.stdin.write(`${called}\n`)
    assert.equal(await line(), '200', name)
    const [status, ...scopes] = (await line()).split(' ')
    assert.deepEqual([status, scopes.sort()], ['200', scope.split(' ').sort()], name)
    process.stdout.write(`${name}: signed in, called, refreshed and called again, with every scope asked for\n`)
  }
  await tryGeneratedClients(api, { MASTHEAD_DATA_DIR })
} finally {
  await stop()
  await rm(cache, { recursive: true })
}
