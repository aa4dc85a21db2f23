import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { storeDelivery } from '../../test/outside/stored-deliveries.ts'
import { attachTo } from '../../test/outside/webhook-receiver.ts'
import { runInSession } from '../../test/processes/command-session.ts'
import {
  type Environment,
  postmasterOf,
  runMasthead,
  temporaryDataDirectory,
} from '../../test/processes/masthead-process.ts'
import { cloneTemplate, secret, startService } from '../../test/service.ts'
import { openEmbedded } from '../database/embedded/server.ts'
import type { Finding } from '../doctor/finding.ts'

const service = await startService()
const data = await temporaryDataDirectory()
const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret, MASTHEAD_DATA_DIR: data }

type Diagnosis = { code: number | null; healthy: boolean; findings: Record<string, Omit<Finding, 'check'>> }

const diagnose = async (given: Environment): Promise<Diagnosis> => {
  const { code, stdout, stderr } = await runInSession(['doctor', '--json'], given)
  assert.equal(stderr, '')
  return parse(code, stdout)
}
const parse = (code: number | null, stdout: string): Diagnosis => {
  assert.doesNotMatch(stdout, /hunter22|a secret for tests/)
  const { healthy, findings }: { healthy: boolean; findings: Finding[] } = JSON.parse(stdout)
  assert.equal(code, healthy ? 0 : 1)
  assert.equal(healthy, !findings.some(({ status }) => status === 'failure'))
  for (const { status, todo, check } of findings) assert.equal(todo === null, status === 'ok', check)
  return { code, healthy, findings: Object.fromEntries(findings.map(({ check, ...finding }) => [check, finding])) }
}
const assertFound = ({ findings }: Diagnosis, check: string, status: Finding['status'], found: RegExp, todo = /^/) => {
  assert.equal(findings[check]?.status, status, `${check}: ${findings[check]?.found}`)
  assert.match(findings[check]?.found ?? '', found)
  assert.match(findings[check]?.todo ?? '', todo)
}
/** The same server as somebody else, on this database. */
const as = (role: string, database = service.connectionString): string =>
  Object.assign(new URL(database), { username: role, password: 'hunter22' }).href
const newRole = async (rights: string): Promise<string> => {
  const name = `role_${randomUUID().slice(0, 8)}`
  await service.owner.query(`create role ${name} login password 'hunter22' ${rights}`)
  return name
}
const onDatabase = async (url: string, ...statements: string[]): Promise<void> => {
  const client = new pg.Client(url)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

describe('masthead doctor', () => {
  test('finds a server that serves healthy, and says what it looked at', async () => {
    const { healthy, findings } = await diagnose(environment)
    assert.equal(healthy, true)
    assert.deepEqual(Object.keys(findings), [
      'configuration',
      'address',
      'proxies',
      'data folder',
      'disk',
      'open files',
      'database',
      'server',
      'role',
      'extensions',
      'schema',
      'row-level security',
      'durability',
      'clock',
      'connections',
      'secret',
      'signing keys',
      'webhooks',
    ])
    assert.deepEqual([...new Set(Object.values(findings).map(({ status }) => status))], ['ok'])
  })

  test('says so of a database without a schema for tables, and ends', async () => {
    const url = await cloneTemplate()
    await onDatabase(url, 'drop schema public cascade')
    const { code, stdout } = await runMasthead(['doctor', '--json'], { ...environment, DATABASE_URL: url })
    assertFound(parse(code, stdout), 'role', 'failure', /may not create tables/, /create schema if not exists public/)
  })

  test('says of a replica that it takes writes, or does not answer', async () => {
    const replica = (url: string) => diagnose({ ...environment, DATABASE_REPLICA_URLS: url })
    assertFound(await replica(service.connectionString), 'replicas', 'warning', /takes writes: it is no replica/)
    assertFound(await replica('postgres://a:hunter22@127.0.0.1:1/x'), 'replicas', 'warning', /^127\.0\.0\.1:1 does not/)
    const socket = 'postgres://a:hunter22@/x?host=/nowhere/sockets'
    assertFound(await replica(socket), 'replicas', 'warning', /^\/nowhere\/sockets:5432 does not/)
    const { stdout } = await runMasthead(['status', '--json'], { ...environment, DATABASE_URL: socket })
    assert.equal(JSON.parse(stdout).database.place, '/nowhere/sockets:5432/x')
  })

  test('needs no data folder where database and secret are elsewhere', async () => {
    const { findings } = await diagnose({ ...environment, MASTHEAD_DATA_DIR: '/proc/none/masthead' })
    assert.deepEqual([findings['data folder']?.status, findings.disk?.status], ['ok', 'ok'])
  })

  test('says in words what it found, with the way out below', async () => {
    const { code, stdout } = await runMasthead(['doctor'], { ...environment, BASE_URL: 'http://api.example.com' })
    assert.equal(code, 0)
    assert.match(stdout, /^ok {7}configuration {2,}every variable can be read$/m)
    assert.match(
      stdout,
      /^warning {2}address {2,}http:\/\/api\.example\.com is not encrypted: .*\n {29}put a proxy with TLS/m,
    )
    assert.match(stdout, /\n\n0 failures, 1 warning\.\n$/)
  })

  test('tells every mistake in the environment at once, and goes on', async () => {
    const wrong = { PORT: 'http', RATE_LIMIT: 'maybe', TRUST_PROXY: '10.0.0.0/33', MASTHEAD_SECRET: 'hunter22' }
    const nowhere = 'postgres://a:hunter22@127.0.0.1:1/x'
    const given = { DATABASE_URL: nowhere, HOST: '0.0.0.0', REDIS_URL: 'redis://a:hunter22@127.0.0.1:1' }
    const diagnosis = await diagnose({ ...environment, ...wrong, ...given })
    for (const name of Object.keys(wrong)) assertFound(diagnosis, name, 'failure', new RegExp(`^${name} must `), /mend/)
    assertFound(diagnosis, 'address', 'warning', /HOST lets others in/, /set BASE_URL/)
    assertFound(diagnosis, 'database', 'failure', /does not answer: .*ECONNREFUSED/, /that the server runs/)
    assertFound(diagnosis, 'redis', 'warning', /does not answer, .*ECONNREFUSED/, /password of REDIS_URL/)
    const unreadable = await diagnose({ ...environment, DATABASE_URL: 'mysql://a:hunter22@localhost/x' })
    assertFound(unreadable, 'DATABASE_URL', 'failure', /^DATABASE_URL must be an address like postgres:/)
    assert.equal('database' in unreadable.findings, false)
  })

  test('names variables that nobody reads, with the one that was meant', async () => {
    const misspelt = { MASTHEAD_DATADIR: '/data', MASTHEAD_PORT: '80', MASTHEAD_NONSENSE: '1', masthead_secret: 'x' }
    const diagnosis = await diagnose({ ...environment, ...misspelt })
    assertFound(diagnosis, 'MASTHEAD_DATADIR', 'warning', /does nothing/, /^name it MASTHEAD_DATA_DIR$/)
    assertFound(diagnosis, 'MASTHEAD_PORT', 'warning', /does nothing/, /^name it PORT$/)
    assertFound(diagnosis, 'MASTHEAD_NONSENSE', 'warning', /does nothing/, /^remove it/)
    assertFound(diagnosis, 'masthead_secret', 'warning', /does nothing/, /^name it MASTHEAD_SECRET$/)
    assert.equal('MASTHEAD_SECRET' in diagnosis.findings, false)
  })

  test('tells a password that must be percent-encoded from one that is wrong', async () => {
    for (const password of ['hunter#22', 'hunter/22', 'hunter?22', '12/3', '100%', '50%zz']) {
      const diagnosis = await diagnose({
        ...environment,
        DATABASE_URL: `postgres://masthead:${password}@127.0.0.1:1/x`,
      })
      assertFound(diagnosis, 'DATABASE_URL', 'failure', /must be percent-encoded: write %25 for %, %2F for \//)
    }
    for (const fine of [
      'a:hunter%2322@127.0.0.1:1/x',
      'a:p@ss:w@127.0.0.1:1/x',
      '127.0.0.1:1/x?user=a@b',
      '[::1]:1/x',
      '',
    ])
      assert.equal(
        'DATABASE_URL' in (await diagnose({ ...environment, DATABASE_URL: `postgres://${fine}` })).findings,
        false,
      )
  })

  test('knows what to do about a database that lets nobody in', async () => {
    const refused = await diagnose({ ...environment, DATABASE_URL: as('postgres') })
    assertFound(refused, 'database', 'failure', /password authentication failed/, /check the user and the password/)
  })

  test('finds everything that is wrong in a database', async () => {
    const url = await cloneTemplate()
    const name = new URL(url).pathname.slice(1)
    await onDatabase(
      url,
      'alter table contacts no force row level security',
      'alter table search_texts disable row level security',
      `create function public.clock_timestamp() returns timestamptz language sql
        return pg_catalog.clock_timestamp() + interval '1 hour'`,
      `alter database ${name} set search_path = public, pg_catalog`,
      `alter database ${name} set synchronous_commit = off`,
      `alter database ${name} connection limit 10`,
      `insert into signing_keys (id, encrypted_key, public_key) values ('x', 'sealed by nobody', '{}')`,
    )
    const diagnosis = await diagnose({
      DATABASE_URL: url,
      MASTHEAD_DATA_DIR: data,
      BASE_URL: 'https://api.example.com',
    })
    assertFound(diagnosis, 'proxies', 'warning', /all callers seem to be the proxy/, /set TRUST_PROXY/)
    assertFound(diagnosis, 'row-level security', 'failure', /^contacts, search_texts are open/, /alter table contacts/)
    assertFound(diagnosis, 'clock', 'failure', /3600\.\d s apart/, /NTP/)
    assertFound(
      diagnosis,
      'durability',
      'failure',
      /^synchronous_commit off: a crash loses/,
      /set synchronous_commit = on/,
    )
    assertFound(diagnosis, 'connections', 'warning', /10 are allowed, a server uses up to \d\d/, /the limits of/)
    assertFound(diagnosis, 'secret', 'failure', /there is none, but keys/, /MASTHEAD_SECRET/)
    const guessed = await diagnose({ DATABASE_URL: url, MASTHEAD_SECRET: 'x'.repeat(32) })
    assertFound(guessed, 'signing keys', 'failure', /encrypted with another secret/, /MASTHEAD_SECRET/)
  })

  test('tells what waits for legacy systems and webhooks, by tenant', async () => {
    const tenant = await service.newTenant()
    await attachTo(service, tenant, { url: 'http://127.0.0.1:1/', secret: Buffer.alloc(32, 'x').toString('base64') })
    const put = (hasFailed: boolean) => storeDelivery(service.owner, tenant.id, { minutesAgo: 120, hasFailed })
    await put(false)
    const waiting = await diagnose(environment)
    assertFound(waiting, 'webhooks', 'warning', /wait for more than an hour/, /legacy status --tenant t-/)
    await put(true)
    const failed = await diagnose(environment)
    assertFound(failed, 'webhooks', 'warning', /have failed/, /masthead legacy retry --tenant t-/)
    const sealed = await diagnose({ ...environment, MASTHEAD_SECRET: 'x'.repeat(32) })
    assertFound(sealed, 'webhooks', 'failure', /nothing can be delivered for t-/, /MASTHEAD_SECRET/)
  })

  test('tells how old or new the schema is', async () => {
    const url = await cloneTemplate()
    await onDatabase(url, `insert into migrations (version, name) values (9999, 'future.sql')`)
    const newer = await diagnose({ ...environment, DATABASE_URL: url })
    assertFound(newer, 'schema', 'ok', /version 9999, of a newer Masthead that admits this one/)
    await onDatabase(url, `update migrations set admits = '99.1.0' where version = 9999`)
    const refused = await diagnose({ ...environment, DATABASE_URL: url })
    assertFound(refused, 'schema', 'failure', /admits Masthead 99\.1\.0 and newer/, /install Masthead 99\.1\.0/)
    await onDatabase(url, 'delete from migrations where version > 7')
    const older = await diagnose({ ...environment, DATABASE_URL: url })
    assertFound(
      older,
      'schema',
      'warning',
      /^version 7: \d+ migrations are missing/,
      /masthead upgrade check.*masthead migrate/,
    )
    assert.equal(older.healthy, true)
    await onDatabase(url, `update migrations set name = '0001-identity.sql' where version = 1`)
    const former = await diagnose({ ...environment, DATABASE_URL: url })
    assertFound(
      former,
      'schema',
      'failure',
      /^an earlier Masthead made this database$/,
      /masthead export.*masthead import/,
    )
  })

  test('tells what a role may not do', async () => {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    await service.owner.query(`create database ${name}`)
    const empty = Object.assign(new URL(service.connectionString), { pathname: `/${name}` }).href
    const plain = await newRole('')
    const stranger = await diagnose({ ...environment, DATABASE_URL: as(plain, empty) })
    assertFound(stranger, 'role', 'failure', /may not create tables/, /alter database .* owner to/)
    assertFound(stranger, 'extensions', 'failure', /may not be installed/, /create extension pg_trgm/)
    assertFound(stranger, 'schema', 'warning', /^version 0: /)
    assertFound(stranger, 'signing keys', 'warning', /^not examined: /, /masthead migrate/)
    await service.owner.query(`alter database ${name} owner to ${plain}`)
    const owner = await diagnose({ ...environment, DATABASE_URL: as(plain, empty) })
    assertFound(owner, 'role', 'ok', /migrates and serves/)
    assertFound(owner, 'extensions', 'ok', /for the migration to install/)
    const bypassing = await newRole('bypassrls')
    await service.owner.query(`alter database ${name} owner to ${bypassing}`)
    const unable = await diagnose({ ...environment, DATABASE_URL: as(bypassing, empty) })
    assertFound(
      unable,
      'role',
      'failure',
      /cannot serve under another role/,
      /create role masthead_service nologin; grant/,
    )
    const another = await diagnose({ ...environment, DATABASE_URL: as(plain) })
    assertFound(another, 'role', 'failure', /does not own \d+ of the tables/, /reassign owned by/)
  })

  test('tells that few files may be open', async () => {
    const main = fileURLToPath(new URL('../main.js', import.meta.url))
    const command = ['-c', 'ulimit -n 512; exec "$0" "$@"', process.execPath, main, 'doctor', '--json']
    const { code, stdout } = await new Promise<{ code: number; stdout: string }>((resolve) => {
      execFile('/bin/sh', command, { env: environment }, (error, stdout) => resolve({ code: error ? 1 : 0, stdout }))
    })
    assertFound(parse(code, stdout), 'open files', 'warning', /^512 may be open/, /ulimit -n 65536/)
  })
})

describe('masthead doctor, on an embedded database', () => {
  before(() => runMasthead(['migrate'], { MASTHEAD_DATA_DIR: data }))

  test('makes none, and examines one of another PostgreSQL without touching it', async () => {
    const fresh = join(data, 'fresh')
    const none = await diagnose({ MASTHEAD_DATA_DIR: fresh })
    assertFound(none, 'database', 'ok', /none yet/)
    assertFound(none, 'data folder', 'ok', /not there yet/)
    await mkdir(join(fresh, 'postgres'), { recursive: true })
    await writeFile(join(fresh, 'postgres/PG_VERSION'), '15\n')
    const old = await diagnose({ MASTHEAD_DATA_DIR: fresh })
    assertFound(old, 'database', 'failure', /was made by PostgreSQL 15/, /mv "\$DATA\/postgres" "\$DATA\/postgres-15"/)
  })

  test('finds it healthy whether it runs or not, and leaves it as it was', async () => {
    const resting = await diagnose({ MASTHEAD_DATA_DIR: data })
    assert.deepEqual([...new Set(Object.values(resting.findings).map(({ status }) => status))], ['ok'])
    assert.equal(postmasterOf(data), undefined)
    const server = await openEmbedded(data)
    try {
      const running = await diagnose({ MASTHEAD_DATA_DIR: data })
      assert.equal(running.healthy, true)
      await onDatabase(server.connectionString, 'select 1')
    } finally {
      await server.close()
    }
  })

  test('finds settings that would lose data, open the tenants to each other, or fill the disk', async () => {
    const server = await openEmbedded(data)
    try {
      await onDatabase(
        server.connectionString,
        'alter system set fsync = off',
        'select pg_reload_conf()',
        'alter role masthead_service bypassrls',
        `select pg_create_physical_replication_slot('forgotten', true)`,
        `select pg_create_physical_replication_slot('never_used')`,
      )
      await writeFile(join(data, 'secret'), 'x'.repeat(43))
      await chmod(join(data, 'secret'), 0o644)
      const diagnosis = await diagnose({ MASTHEAD_DATA_DIR: data })
      assertFound(diagnosis, 'durability', 'failure', /^fsync off: .*the whole database/, /alter system set fsync = on/)
      assertFound(diagnosis, 'role', 'failure', /masthead_service.*passes by row-level security/, /nobypassrls/)
      assertFound(
        diagnosis,
        'write-ahead log',
        'warning',
        /\(WAL\) .* nobody uses: forgotten/,
        /^select pg_drop_replication_slot\('forgotten'\)$/,
      )
      assertFound(diagnosis, 'secret', 'failure', /can be read by others/, /chmod 600 /)
    } finally {
      await server.close()
    }
  })
})
