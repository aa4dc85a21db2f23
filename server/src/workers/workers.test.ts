import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { runMasthead, type Serving, spawnMasthead, startServing, until } from '../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { callAlone, type Sent } from '../../test/requests/own-connection.ts'
import { secret, startService } from '../../test/service.ts'
import { connectionsOfEach } from '../database/database.ts'

const service = await startService()
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
await tenant.add('accounts', [sampleAccount('A')])
const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret }

const fileIn = (name: string) => new URL(`../../test/processes/${name}`, import.meta.url).href

/** The workers of which the log says that they ended, in order. */
const endedWorkers = ({ said }: Serving): { worker: number; message: string }[] =>
  said.stderr
    .split('\n')
    .filter((line) => line.includes('a worker ended'))
    .map((line) => {
      const { worker, err } = JSON.parse(line)
      return { worker, message: err.message }
    })

describe('two workers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-workers-'))
  after(() => rm(folder, { recursive: true }))
  const clock = join(folder, 'offset')
  await writeFile(clock, '0')
  const serving = await startServing(['--port', '0'], {
    ...environment,
    WORKERS: '2',
    CLOCK_OFFSET_FILE: clock,
    NODE_OPTIONS: `--import=${fileIn('mortal-threads.ts')} --import=${fileIn('shifted-clock.ts')} --max-old-space-size=150`,
  })
  after(() => serving.kill())
  const { url } = serving.announced
  const statusOf = async (path: string, sent?: Sent) => (await callAlone(url, path, sent))?.status ?? null

  test('serve on one port', async () => {
    assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => statusOf('/readyz'))), Array(20).fill(200))
  })

  test('tell the database how many requests both answer', async () => {
    const text = `select application_name as name from pg_stat_activity
      where datname = current_database() and application_name ~ '^masthead .*requests/s$'`
    await until('it is more than 20 a second', async () => {
      await Promise.all(Array.from({ length: 20 }, () => statusOf('/readyz')))
      const names = (await service.owner.query(text)).rows.map(({ name }) => name)
      return names.some((name) => Number(/^masthead [\d.]+, (\d+) requests\/s$/.exec(name)?.[1]) > 20)
    })
  })

  test('of which one fails: it is replaced, and who is connected to the other notices nothing', async () => {
    const agents = Array.from({ length: 24 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    const broken = new Set<Agent>()
    let isOver = false
    const callers = agents.map(async (agent) => {
      for (; !isOver; await delay(5)) if ((await statusOf('/readyz', { agent })) !== 200) broken.add(agent)
    })
    await statusOf('/throw')
    await until('its end is logged', () => endedWorkers(serving).length === 1)
    isOver = true
    await Promise.all(callers)
    for (const agent of agents) agent.destroy()
    assert.equal(endedWorkers(serving)[0]?.message, 'thrown where nobody catches it')
    assert.ok(broken.size < agents.length, 'every connection broke')
  })

  test('of which one has no memory left: it is replaced as well', async () => {
    await until('both have ended in turn', async () => {
      if (new Set(endedWorkers(serving).map(({ worker }) => worker)).size === 2) return true
      await statusOf('/exhaust')
      return false
    })
    assert.match(endedWorkers(serving).at(-1)?.message ?? '', /out of memory/)
    // Were they not replaced, nobody would be left.
    await until('new callers are answered', async () => (await statusOf('/readyz')) === 200)
  })

  test('of which one fails by a value that the database refused: the log does not repeat it', async () => {
    const before = endedWorkers(serving).length
    await statusOf('/refuse')
    await until('its end is logged', () => endedWorkers(serving).length === before + 1)
    assert.equal(endedWorkers(serving).at(-1)?.message, 'the database refused a value')
    assert.ok(!serving.said.stderr.includes('canary'))
    await until('new callers are answered', async () => (await statusOf('/readyz')) === 200)
  })

  test('of which both fail after the clock was set back: they are replaced as soon', async () => {
    const before = endedWorkers(serving).length
    await writeFile(clock, String(-3_600_000))
    await until('both have ended', async () => {
      if (
        new Set(
          endedWorkers(serving)
            .slice(before)
            .map(({ worker }) => worker),
        ).size === 2
      )
        return true
      await statusOf('/throw')
      return false
    })
    await until('new callers are answered', async () => (await statusOf('/readyz')) === 200)
    await writeFile(clock, '0')
  })

  test('refuse a port on which others listen as they do', async () => {
    const { port } = new URL(url)
    const { child, ended } = spawnMasthead(['serve', '--port', port], { ...environment, WORKERS: '2' })
    after(() => child.kill('SIGKILL'))
    const second = await ended
    const refusal = `masthead: port ${port} is in use; choose another with --port\n`
    assert.deepEqual([second.code, second.stderr], [1, refusal])
  })

  test('answer what they took before they end', async () => {
    // Those without a key wait for each other in their worker.
    const create = () =>
      statusOf('/customer-api/v1/contacts', {
        method: 'POST',
        token,
        body: { accountId: 'A' },
        headers: { 'idempotency-key': randomUUID() },
      })
    assert.equal(await create(), 201)
    await service.owner.query('begin')
    await service.owner.query('select from heads where tenant_id = $1 for update', [tenant.id])
    const answers = Array.from({ length: 6 }, create)
    await until('they wait for the lock', async () => {
      const { rows } = await service.owner.query(`select from pg_locks where not granted`)
      return rows.length >= answers.length
    })
    const stopped = serving.stop()
    await until('nobody is let in any more', async () => (await statusOf('/healthz')) === null)
    await service.owner.query('commit')
    assert.deepEqual(await Promise.all(answers), Array(answers.length).fill(201))
    assert.equal((await stopped).code, 0)
  })
})

test('who is told to stop while workers start does not wait for them', async () => {
  const { child, said, ended } = spawnMasthead(['serve', '--port', '0'], {
    ...environment,
    WORKERS: '2',
    NODE_OPTIONS: `--import=${fileIn('stuck-threads.ts')}`,
  })
  after(() => child.kill('SIGKILL'))
  await until('both are stuck', () => said.stderr === 'stuck\nstuck\n')
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
})

test('where ports cannot be shared, it is said what to do, and how many connections are too few', async () => {
  await service.owner.query(
    `do $$ begin execute format('alter database %I connection limit 20', current_database()); end $$`,
  )
  const { code, stderr } = await runMasthead(['serve', '--port', '0'], {
    ...environment,
    WORKERS: '2',
    NODE_OPTIONS: `--import=${fileIn('unshared-ports.ts')}`,
  })
  const [warning = '', ...rest] = stderr.split('\n')
  assert.equal(
    JSON.parse(warning).msg,
    'WORKERS=2 may open 48 connections, and the database takes 20: raise its max_connections',
  )
  assert.deepEqual([code, rest], [1, ['masthead: workers cannot share a port on this system; set WORKERS=1', '']])
})

test('WORKERS is a number or auto', async () => {
  const { code, stderr } = await runMasthead(['serve'], { ...environment, WORKERS: 'many' })
  assert.deepEqual([code, stderr], [1, 'masthead: WORKERS must be a number from 1 to 999 or auto, not "many"\n'])
})

test('sixteen workers leave room on a PostgreSQL that takes a hundred connections', () => {
  const { reading, searching, writing } = connectionsOfEach(16)
  assert.ok(16 * (reading + searching + writing) <= 70)
})
