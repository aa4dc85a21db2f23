import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { knownMigrations, readMigration } from '../../src/database/schema/migration-files.ts'
import { compareVersions, isOlder } from '../../src/database/schema/program-version.ts'
import { version } from '../../src/version.ts'
import { refresh } from '../browsers/oauth-browser.ts'
import { freePorts } from '../failover/programs.ts'
import { runInSession } from '../processes/command-session.ts'
import { type Serving, startServing } from '../processes/masthead-process.ts'
import { callAt } from '../service.ts'
import { askAs, recordCommands } from './recorded-responses.ts'
import { hashOf, type Release, readReleases, restoreRelease } from './release.ts'
import { environmentOf, filledBy } from './released-records.ts'

const releases = await readReleases()
const server = process.env.TEST_DATABASE_SERVER ?? ''

const databaseOf = async (release: Release): Promise<string> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const administrator = new pg.Client(server)
  await administrator.connect()
  await administrator.query(`create database ${name}`)
  await administrator.end()
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  const owner = new pg.Client(url)
  await owner.connect()
  await restoreRelease(owner, release)
  await owner.end()
  return url
}

/** What of before is missing now, or another; later releases may say more. */
const differences = (now: unknown, former: unknown, path = ''): string[] => {
  if (typeof former !== 'object' || former === null || typeof now !== 'object' || now === null)
    return Object.is(now, former) ? [] : [`${path}: ${JSON.stringify(now)} instead of ${JSON.stringify(former)}`]
  if (Array.isArray(former) && (!Array.isArray(now) || now.length !== former.length))
    return [`${path}: ${JSON.stringify(now)} instead of ${former.length} items`]
  return Object.entries(former).flatMap(
    ([name, value]) => differences((now as Record<string, unknown>)[name], value, `${path}/${name}`), // an object, and its members are compared
  )
}

/** JSON, or a line of JSON for each entry or record. */
const documents = (text: string): unknown[] => {
  try {
    return [JSON.parse(text)]
  } catch {
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
}

for (const release of releases)
  describe(`the database of ${release.version}`, () => {
    const { credentials, responses } = release
    let environment = environmentOf('')
    let origin = ''
    let serving: Serving | undefined
    before(async () => {
      environment = environmentOf(await databaseOf(release))
    })
    after(() => serving?.stop())
    const print = async (words: string) => {
      const { code, stdout, stderr } = await runInSession([...words.split(' '), '--json'], environment)
      assert.equal(code, 0, stderr || stdout)
      return JSON.parse(stdout)
    }

    test('is migrated as foretold', async () => {
      const migrations = (await knownMigrations()).slice(Object.keys(release.migrations).length)
      const { ready, plan } = await print('upgrade check')
      assert.ok(ready)
      assert.deepEqual(plan.schema.missing, migrations)
      assert.deepEqual((await print('migrate')).applied, migrations)
    })

    test('holds what its program printed and exported, with every entry of the audit log in its chain', async () => {
      const now = await recordCommands(environment)
      const found = Object.entries(responses.commands).flatMap(([name, text]) =>
        differences(documents(now[name] ?? 'null'), documents(text), name),
      )
      assert.deepEqual(found, [])
    })

    test('is served with the responses of that release: to the customer API the same bytes', async () => {
      const [port = 0] = await freePorts(1)
      origin = `http://127.0.0.1:${port}`
      serving = await startServing(['--port', String(port), '--no-work'], environment)
      const ask = await askAs(origin, credentials)
      const found: string[] = []
      for (const [name, [status, text]] of Object.entries(responses.requests)) {
        const [caller = '', path = ''] = name.split(' ')
        const response = await ask(caller as Parameters<typeof ask>[0], path) // as the release recorded them
        assert.equal(response.status, status, `${name}: ${response.text}`)
        if (status >= 400) assert.equal(response.body.code, JSON.parse(text).code, name)
        else if (caller === 'console') found.push(...differences(response.body, JSON.parse(text), name))
        else if (response.text !== text) found.push(`${name}: ${response.text} instead of ${text}`)
      }
      assert.deepEqual(found, [])
      assert.ok(Object.keys(responses.requests).length > 100)
    })

    test('goes on: a retry is recognised, an application refreshes, records are written, and an import is undone', async () => {
      const { tokens, retry, application, refreshToken, importId } = credentials
      const { service: token } = tokens
      const headers = { 'idempotency-key': retry.key }
      const again = await callAt(origin, 'POST', '/contacts', { token, body: retry.body, headers })
      assert.deepEqual([again.status, again.text], [201, retry.response])
      assert.equal(again.headers.get('idempotency-replayed'), 'true')
      const refreshed = await refresh(origin, application, refreshToken)
      assert.equal(refreshed.status, 200, refreshed.text)
      const delegated = await callAt(origin, 'GET', '/contacts', { token: refreshed.body.access_token })
      assert.equal(delegated.text, responses.requests['service /contacts']?.[1])
      const { total } = delegated.body
      const { body } = await callAt(origin, 'POST', '/contacts', { token, body: { accountId: 'A-1', name: 'New' } })
      assert.equal((await callAt(origin, 'GET', '/contacts', { token })).body.total, total + 1)
      const changed = { accountId: 'A-2', name: 'Moved' }
      assert.equal((await callAt(origin, 'PATCH', `/contacts/${body.id}`, { token, body: changed })).body.name, 'Moved')
      assert.equal((await print(`import undo ${importId} --tenant harbour`)).restored, 1)
    })

    test('is whole: its chains hold, and nothing is wrong with it', async () => {
      for (const { broken } of await print('audit verify')) assert.equal(broken, null)
      const { findings } = await print('doctor')
      assert.deepEqual(
        findings.filter(({ status }: { status: string }) => status === 'failure'),
        [],
      )
    })
  })

test('the newest dump is of the newest release, and the dumps begin with 1.0.0', () => {
  assert.equal(releases[0]?.version, '1.0.0')
  const newest = releases.at(-1)?.version ?? ''
  assert.ok(!isOlder(version, newest), `${newest} is newer than this program`)
})

test('a released migration never changes', async () => {
  for (const { version, migrations } of releases) {
    assert.deepEqual(
      Object.keys(migrations),
      (await knownMigrations()).slice(0, Object.keys(migrations).length),
      version,
    )
    for (const [name, hash] of Object.entries(migrations))
      assert.equal(await hashOf(name), hash, `${name} of ${version}`)
  }
})

test('a migration admits the newest release, whose nodes serve beside the next', async () => {
  const newest = releases.at(-1)?.version ?? ''
  for (const name of await knownMigrations()) {
    const { admits } = await readMigration(name)
    assert.ok(admits === null || compareVersions(admits, newest) <= 0, `${name} admits ${admits}, and ${newest} is out`)
  }
})

test('every table of the schema gets rows in the dump of the next release, and has some in the newest', async () => {
  const schema = await readFile(new URL('../../src/database/schema/schema.sql', import.meta.url), 'utf8')
  const tables = [...schema.matchAll(/^create table (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(Object.keys(filledBy).sort(), tables.sort())
  for (const [name, { rows }] of Object.entries(releases.at(-1)?.tables ?? {})) assert.ok(rows.length > 0, name)
})
