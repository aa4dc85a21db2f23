import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import {
  accepts,
  runMasthead,
  spawnMasthead,
  startServing,
  temporaryDataDirectory,
  until,
} from '../../test/processes/masthead-process.ts'
import { cloneTemplate, freeAddress } from '../../test/service.ts'
import { openEmbedded } from '../database/embedded/server.ts'

const run = promisify(execFile)
const connectionString = await cloneTemplate()
const environment = { DATABASE_URL: connectionString, RATE_LIMIT: 'off', LOG_LEVEL: 'warn' }
const [owner, onlooker] = [new pg.Client(connectionString), new pg.Client(connectionString)]
await Promise.all([owner.connect(), onlooker.connect()])
after(() => Promise.all([owner.end(), onlooker.end()]))

const json = async (command: string): Promise<Record<string, string>> => {
  const { code, stdout, stderr } = await runMasthead([...command.split(' '), '--json'], environment)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}
await json('tenant create acme --name Acme')
const { token } = await json('token create --tenant acme --service x --scopes contacts:write,accounts:write')
const portOf = (url: string): number => Number(new URL(url).port)
const post = async (api: string, path: string, body: object): Promise<Response> =>
  fetch(api + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      // Those without one wait for each other in the process.
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify(body),
  })

const serve = async (context: TestContext, given: Record<string, string> = environment) => {
  const serving = await startServing(['--port', '0'], given)
  context.after(() => serving.kill())
  const { api } = serving.announced
  const { accountId } = JSON.parse(
    await (await post(api, '/accounts', { company: 'Slow Ltd', email: 'a@b.example' })).text(),
  )
  return { ...serving, ...serving.announced, accountId }
}

/** A connection that is kept, and everything that came over it. */
const keptConnection = async (url: string) => {
  // The one at which a second server is opened, where there are two addresses.
  const address = (await lookup('localhost', { all: true })).at(-1)?.address
  const socket = connect(portOf(url), address)
  let received = ''
  socket.on('error', () => {}).on('data', (data) => (received += data))
  await once(socket, 'connect')
  after(() => socket.destroy())
  const ended = new Promise((resolve) => socket.once('close', resolve))
  return { send: (text: string) => socket.write(text), received: () => received, ended }
}
const request = (line: string, headers: string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`, ...headers, '', body].join('\r\n')
const creation = (accountId: string): string => {
  const body = JSON.stringify({ accountId })
  const headers = [
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `Idempotency-Key: ${randomUUID()}`,
  ]
  return request('POST /customer-api/v1/contacts', headers, body)
}

/** What is in the way of somebody who connects before the database is ready. */
type Hindrance = (near: Socket) => void

/** The first message of a server that takes nobody in. */
const refusal = (code: string, message: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
const refuses =
  (code: string, message: string): Hindrance =>
  (near) =>
    near.once('data', () => near.end(refusal(code, message)))

/** A way to the database that can be closed, opened and blocked, and that its first callers find hindered. */
const wayToDatabase = (...hindrances: Hindrance[]) => {
  const { host = '', port } = new pg.Client(connectionString)
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const pairs = new Set<[Socket, Socket]>()
  const server = createServer((near) => {
    near.on('error', () => {})
    const hindrance = hindrances.shift()
    if (hindrance) return hindrance(near)
    const far = connect(target)
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    for (const [from, to] of [pair, pair.toReversed()] as [Socket, Socket][]) {
      from.on('error', () => {}).once('close', () => to.destroy())
      from.pipe(to)
    }
  })
  after(() => {
    server.close()
    for (const socket of [...pairs].flat()) socket.destroy()
  })
  return {
    open: (url: string) => once(server.listen(portOf(url), '127.0.0.1'), 'listening'),
    /** Nothing gets through any more, in either direction, and nobody is told. */
    block: () => {
      for (const socket of [...pairs].flat()) socket.unpipe().pause()
    },
  }
}
const through = (address: string): string => {
  const url = new URL(connectionString)
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  return Object.assign(url, { hostname: '127.0.0.1', port: new URL(address).port }).href
}

describe('a stop', () => {
  const answersWhatWasTaken = async (context: TestContext, workers: string) => {
    const { api, url, accountId, stop } = await serve(context, { ...environment, WORKERS: workers })
    const [busy, idle] = [await keptConnection(url), await keptConnection(url)]
    const late = await Promise.all(Array.from({ length: 20 }, () => keptConnection(url)))
    idle.send(request('GET /readyz'))
    await until('an answer has come', () => idle.received().endsWith('{"status":"ready","writes":true}'))
    await owner.query('begin')
    await owner.query(`update heads set last = last where resource = 'contacts'`)
    for (const one of late) one.send('GET /readyz HTTP/1.1\r\n')
    busy.send(creation(accountId))
    const answer = post(api, '/contacts', { accountId })
    await until('both writes wait for the head of the list', async () => {
      const { rows } = await onlooker.query(`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`)
      return rows.length === 2
    })
    const stopped = stop()
    await idle.ended
    await until('no worker lets anybody in', async () => !(await accepts('localhost', portOf(url))))
    for (const one of late) one.send('Host: localhost\r\n\r\n')
    await Promise.all(late.map(({ ended }) => ended))
    // One of two workers may have nothing to answer, and does not wait for the other halves.
    const refused = late.map(({ received }) => received()).filter((received) => workers === '1' || received !== '')
    assert.ok(refused.length > 0)
    for (const received of refused) {
      assert.match(received, /^HTTP\/1\.1 503 /)
      assert.match(received, /\r\nretry-after: 1\r\n/)
      assert.match(received, /\r\ncontent-type: application\/problem\+json.*"code":"unavailable"/s)
    }
    await owner.query('rollback')
    assert.equal((await answer).status, 201)
    await busy.ended
    assert.match(busy.received(), /^HTTP\/1\.1 201 /)
    assert.match(busy.received(), /\r\nconnection: close\r\n/i)
    const outcome = await stopped
    assert.deepEqual([outcome.code, outcome.stderr], [0, ''])
  }
  test('answers what was taken, and refuses what still comes', (context) => answersWhatWasTaken(context, '1'))
  test('does so in every worker', (context) => answersWhatWasTaken(context, '2'))

  test('ends within 10 s when a database, an upload and the head of a request all hang', async (context) => {
    const address = await freeAddress()
    const database = wayToDatabase()
    await database.open(address)
    const { url, accountId, stop } = await serve(context, { ...environment, DATABASE_URL: through(address) })
    const [upload, head, write] = [await keptConnection(url), await keptConnection(url), await keptConnection(url)]
    upload.send(creation(accountId).slice(0, -5))
    head.send('POST /customer-api/v1/contacts HTTP/1.1\r\nHost: loc')
    database.block()
    write.send(creation(accountId))
    const begun = Date.now()
    const outcome = await stop()
    const took = Date.now() - begun
    assert.equal(outcome.code, 0, outcome.stderr)
    // Each of them alone would keep it for longer; a busy machine needs some time to end a process.
    assert.ok(took < 20_000, `it took ${took} ms`)
    await Promise.all([upload.ended, head.ended, write.ended])
  })

  test('asked for again, by any signal, ends at once', async (context) => {
    const { url, pid, accountId, ended } = await serve(context)
    const stalled = await keptConnection(url)
    // It is told to go on once its head was read: from then on there is something that a stop waits for.
    stalled.send(creation(accountId).replace('\r\n', '\r\nExpect: 100-continue\r\n').slice(0, -5))
    await until('the upload is in flight', () => stalled.received().startsWith('HTTP/1.1 100 '))
    process.kill(pid, 'SIGTERM')
    await until('nobody is let in', async () => !(await accepts('localhost', portOf(url))))
    const begun = Date.now()
    process.kill(pid, 'SIGINT')
    assert.equal((await ended).code, null)
    assert.ok(Date.now() - begun < 8_000)
  })
})

describe('a start', () => {
  test('waits for a database that comes up later, and lets nobody in meanwhile', async () => {
    const [databaseAddress, url] = [await freeAddress(), await freeAddress('localhost')]
    const late = { ...environment, DATABASE_URL: through(databaseAddress) }
    const { child, said, ended } = spawnMasthead(['serve', '--json', '--port', `${portOf(url)}`], late)
    await until('it says what it waits for', () => /^Waiting up to 30 s .*ECONNREFUSED.*\n$/.test(said.stderr))
    assert.equal(await accepts('localhost', portOf(url)), false)
    await wayToDatabase().open(databaseAddress)
    await until('it serves', () => said.stdout.endsWith('}\n'))
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
  })

  test('waits for a database that is not ready yet, whatever it says or does not say meanwhile', async (context) => {
    const address = await freeAddress()
    const way = wayToDatabase(
      (near) => near.resetAndDestroy(),
      (near) => near.once('data', () => near.end()),
      refuses('57P03', 'the database system is starting up'),
      refuses('53300', 'sorry, too many clients already'),
      (near) => near.resume(),
      // As PostgreSQL that lets in whoever comes (AuthenticationOk, ReadyForQuery), and then says no more.
      (near) => near.once('data', () => near.write(Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I'))).resume(),
    )
    await way.open(address)
    const { child, said, ended } = spawnMasthead(['serve', '--json', '--port', '0'], {
      ...environment,
      DATABASE_URL: through(address),
    })
    context.after(() => child.kill('SIGKILL'))
    await until('it serves', () => said.stdout.endsWith('}\n') || child.exitCode !== null, 60_000)
    assert.deepEqual(
      said.stderr
        .split('\n')
        .map((line) =>
          line
            .replace(/^Waiting up to 30 s for the database: (\w+ (?=ECONNRESET))?/, '')
            .replace(/(?<=ECONNRESET).*/, ''),
        ),
      [
        'ECONNRESET',
        'Connection terminated unexpectedly',
        'the database system is starting up',
        'sorry, too many clients already',
        'timeout expired',
        'the database did not answer within 5 s',
        '',
      ],
    )
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
  })

  test('waits for its own PostgreSQL, too, which is slow while much starts at once', async (context) => {
    const data = await temporaryDataDirectory()
    const own = { MASTHEAD_DATA_DIR: data, LOG_LEVEL: 'warn' }
    assert.equal((await runMasthead(['migrate'], own)).code, 0)
    const { connectionString, close } = await openEmbedded(data)
    context.after(close)
    const superuser = new pg.Client(connectionString)
    await superuser.connect()
    // Those that migrate give up after 5 s, and those that serve after 2 and then 3 s.
    await superuser.query(`
      create sequence logins_of_postgres maxvalue 2 start 2; create sequence logins_of_masthead_service maxvalue 6;
      grant usage on sequence logins_of_masthead_service to masthead_service;
      create function log_in_slowly() returns event_trigger language plpgsql as $$ begin
        if current_setting('application_name') !~ '^masthead ' then return; end if;
        perform nextval('logins_of_' || session_user);
        perform pg_sleep(case session_user when 'postgres' then 5.5 else 2.5 end);
      exception when sequence_generator_limit_exceeded then null; end $$;
      create event trigger log_in_slowly on login execute function log_in_slowly()`)
    await superuser.end()
    const serving = await startServing(['--port', '0'], own)
    context.after(() => serving.kill())
    // The first is what a connection says, the second what a pool does.
    for (const reason of ['timeout expired', 'Connection terminated due to connection timeout'])
      assert.ok(serving.said.stderr.includes(`for the database: ${reason}\n`), serving.said.stderr)
    assert.equal((await fetch(`${serving.announced.url}/readyz`)).status, 200)
    assert.equal((await serving.stop()).code, 0)
  })

  test('that waits for its database is stopped at once', async () => {
    const nobody = { ...environment, DATABASE_URL: through(await freeAddress()) }
    const noName = { ...environment, DATABASE_URL: 'postgres://masthead:secret@database.invalid/masthead' }
    for (const [command, nowhere] of [
      ['serve', nobody],
      ['serve', noName],
      ['work', nobody],
    ] as const) {
      const { child, said, ended } = spawnMasthead([command], nowhere)
      await until('it waits', () => said.stderr.includes('Waiting'))
      child.kill('SIGTERM')
      const { code, stdout, stderr } = await ended
      assert.deepEqual([code, stdout, stderr.split('\n').length], [0, '', 2], stderr)
    }
  })

  test('fails at once, and says what to do, where waiting would not help', async () => {
    const [noDatabase, wrongPassword] = [new URL(connectionString), new URL(connectionString)]
    noDatabase.pathname = '/nothing'
    wrongPassword.password = 'hunter22'
    const cases: [url: URL, complaint: RegExp][] = [
      [noDatabase, /^masthead: .*database "nothing" does not exist; create it: create database .*\n$/],
      [
        wrongPassword,
        /^masthead: .*password authentication failed.*; check the user and the password in DATABASE_URL\n$/,
      ],
    ]
    for (const [url, complaint] of cases) {
      const { code, stderr } = await runMasthead(['serve', '--port', '0'], { ...environment, DATABASE_URL: url.href })
      assert.equal(code, 1)
      assert.match(stderr, complaint)
      assert.ok(!stderr.includes('hunter22'))
    }
  })

  test('refuses the data of another PostgreSQL, and prints the way forward with its paths', async () => {
    const data = await temporaryDataDirectory()
    await mkdir(join(data, 'postgres'), { recursive: true })
    const serveMajor = async (version: string) => {
      await writeFile(join(data, 'postgres/PG_VERSION'), `${version}\n`)
      const outcome = await runMasthead(['serve', '--port', '0', '--data-dir', data], {})
      assert.deepEqual([outcome.code, outcome.stdout, await readdir(data)], [1, '', ['postgres']])
      return outcome.stderr
    }
    const older = await serveMajor('15')
    assert.match(older, /^masthead: .*\/postgres was made by PostgreSQL 15, and this program brings PostgreSQL 18/)
    for (const line of [`DATA=${data}`, 'OLD=/usr/lib/postgresql/15/bin', 'mv "$DATA/postgres" "$DATA/postgres-15"'])
      assert.ok(older.includes(`    ${line}\n`), older)
    const [, programs = ''] = /^ +NEW=(.*)$/m.exec(older) ?? []
    assert.ok(existsSync(join(programs, 'pg_ctl')))
    // What is printed is a program; running it takes a PostgreSQL of that version.
    await run('/bin/sh', ['-n', '-c', older.slice(older.indexOf('\n'))])
    const newer = await serveMajor('99')
    assert.match(
      newer,
      /^masthead: .*by PostgreSQL 99, .* brings PostgreSQL 18: run the newer Masthead that made it\n$/,
    )
  })
})
