import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import {
  postmasterOf,
  runMasthead,
  spawnMasthead,
  temporaryDataDirectory,
  until,
} from '../../test/processes/masthead-process.ts'
import { cloneTemplate, freeAddress } from '../../test/service.ts'

const programs = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url))
const run = promisify(execFile)

/** What `masthead` alone prints, line by line, and as JSON. */
const look = async (environment: Record<string, string>) => {
  const [words, json] = await Promise.all([runMasthead([], environment), runMasthead(['--json'], environment)])
  assert.deepEqual([words.code, words.stderr, json.code, json.stderr], [0, '', 0, ''])
  const state = JSON.parse(json.stdout)
  assert.equal(state.next.length, 3)
  for (const { command } of state.next) assert.ok(words.stdout.includes(`  ${command} `), command)
  return { text: words.stdout, state }
}

describe('the first minutes', async () => {
  const data = await temporaryDataDirectory()
  const url = await freeAddress('localhost')
  const environment = { MASTHEAD_DATA_DIR: data, PORT: new URL(url).port }
  const folder = await mkdtemp(join(tmpdir(), 'masthead-first-'))
  after(() => rm(folder, { recursive: true }))
  /** Runs what the screen says, as a person in another terminal would. */
  const paste = (lines: string) =>
    run('/bin/sh', ['-e', '-c', lines], { cwd: folder, env: { PATH: `${programs}:${process.env.PATH}` } })

  test('begin with `masthead` alone, which says what there is and what to do, and makes nothing', async () => {
    const { text, state } = await look(environment)
    assert.match(text, /^Masthead \d+\.\d+\.\d+, the customer API of a publishing business\n/)
    assert.ok(text.includes(`  Service    not reachable at ${url}\n`), text)
    assert.ok(text.includes(`  Database   embedded, in ${data}, not made yet\n`), text)
    assert.match(text, /Next:\n {2}masthead serve --demo .*\n {2}masthead serve .*\n {2}masthead service install /)
    assert.deepEqual([state.schema, state.tenants], [null, null])
    assert.deepEqual(await readdir(dirname(data)), [])
  })

  test('lead by what the screen says to a tenant, an admin, an import and a call', async () => {
    const { child, said, ended } = spawnMasthead(['serve'], environment)
    await until('the greeting is complete', () => said.stdout.includes('Ctrl-C') || child.exitCode !== null)
    const [, lines = ''] = /No tenant yet\. In another terminal:\n((?: {2}.*\n)+)/.exec(said.stdout) ?? []
    const [variables = '', create = '', invite = '', template = '', importing = '', token = ''] = lines
      .split('\n')
      .map((line) => line.trim())
    const inTerminal = async (command: string) => (await paste(`${variables}\n${command}`)).stdout
    assert.match((await look(environment)).text, /Tenants +none yet\n\nNext:\n {2}masthead tenant create acme /)

    assert.match(await inTerminal(create), /^Tenant acme created\.\nNext, its first admin: masthead user invite /)
    const [link = ''] = (await inTerminal(invite)).split('\n')
    const page = await fetch(link)
    assert.equal(page.status, 200)
    assert.match(await page.text(), /Acme Press/)
    const joined = await fetch(link, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ account: 'new', name: 'You', password: 'correct horse' }),
    })
    assert.deepEqual([joined.status, joined.headers.get('location')], [303, `${url}/t/acme/`])

    assert.match(await inTerminal(template), /^accounts\.csv has a column for each field\. A row needs accountId;/)
    const file = join(folder, 'accounts.csv')
    const columns = (await readFile(file, 'utf8')).trim().split(',')
    const values: Record<string, string> = { accountId: 'A-1', company: 'Zenith Press' }
    await appendFile(file, columns.map((column) => values[column] ?? '').join(','))
    assert.match(await inTerminal(importing), /accounts\.csv +accounts +1 +0 +0 +0\n/)
    const [, curl = ''] = /^Try it: (curl .*)$/m.exec(await inTerminal(token)) ?? []
    const { stdout } = await paste(`${curl} --silent`)
    assert.equal(JSON.parse(stdout).items[0].company, 'Zenith Press')

    const { text, state } = await look(environment)
    assert.ok(text.includes(`  Service    serves at ${url}\n`), text)
    assert.match(
      text,
      /Schema +version \d+, up to date\n +Tenants +1\n\nNext:\n {2}masthead import <files> --tenant acme /,
    )
    assert.deepEqual(state.tenants, { count: 1, first: 'acme' })
    const other = await look({ ...environment, MASTHEAD_DATA_DIR: folder })
    assert.match(other.text, /in \S+: not the one that is served/)
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
    // Nobody who has a tenant is told how to make one, and no secret goes to a log.
    assert.doesNotMatch(said.stdout, /invitations\/|mh_/)
  })

  test('end with a server that is stopped, which looking at does not start', async () => {
    const { text, state } = await look(environment)
    assert.match(text, /Database .*, stopped\n\nNext:\n {2}masthead serve /)
    assert.equal(state.database.state, 'stopped')
    assert.equal(postmasterOf(data), undefined)
  })
})

test('`masthead` alone tells how far the schema of a database is, and never its password', async () => {
  const DATABASE_URL = await cloneTemplate()
  const client = new pg.Client(DATABASE_URL)
  await client.connect()
  after(() => client.end())
  const environment = { DATABASE_URL, PORT: new URL(await freeAddress()).port }
  const { pathname, password, searchParams } = new URL(DATABASE_URL)
  const current = await look(environment)
  // The driver goes where its parameters say, not to its host.
  const place = `${searchParams.get('host')}:${searchParams.get('port')}${pathname}`
  assert.ok(current.text.includes(`  Database   ${place}, by DATABASE_URL\n`), current.text)
  assert.match(current.text, /Schema +version \d+, up to date\n/)
  await client.query("insert into migrations (version, name) values (9999, 'later')")
  assert.match((await look(environment)).text, /Schema +version 9999, of a newer Masthead, which admits this one/)
  await client.query(`update migrations set admits = '99.0.0' where version = 9999`)
  assert.match(
    (await look(environment)).text,
    /Schema +this database admits Masthead 99.0.0 .*: install Masthead 99.0.0/,
  )
  await client.query('delete from migrations where version > 1')
  assert.match((await look(environment)).text, /Schema +version 1, \d+ migrations behind: the next start applies/)
  const wrong = new URL(DATABASE_URL)
  wrong.pathname = '/nowhere'
  const away = await look({ ...environment, DATABASE_URL: wrong.href })
  assert.match(
    away.text,
    /it does not answer: database "nowhere" does not exist; create it: .*\n\nNext:\n {2}masthead doctor /,
  )
  assert.ok(password === '' || !away.text.includes(password))
})
