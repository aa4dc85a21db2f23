import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import {
  isAlive,
  postmasterOf,
  runMasthead,
  type Serving,
  startServing,
  until,
} from '../../test/processes/masthead-process.ts'
import { openEmbedded } from '../database/embedded/server.ts'

/** A small disk of its own, when we may mount one; says why not otherwise. */
const mountDisk = async (): Promise<{ disk: string } | { reason: string }> => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return { reason: 'only root can mount a small disk' }
  const disk = await mkdtemp(join(tmpdir(), 'masthead-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=110m,mode=755', 'masthead-test', disk], { stdio: 'pipe' })
    return { disk }
  } catch (error) {
    await rm(disk, { recursive: true })
    return { reason: `no disk can be mounted here: ${error instanceof Error ? error.message : error}` }
  }
}

const mounted = await mountDisk()
const skip = 'reason' in mounted ? mounted.reason : false

describe('on a disk that is full', { skip }, () => {
  const disk = 'disk' in mounted ? mounted.disk : ''
  const environment = { MASTHEAD_DATA_DIR: join(disk, 'data'), RATE_LIMIT: 'off' }
  const log = join(disk, 'log')
  /** The id under which each write was answered, by the name that it gave. */
  const answered = new Map<string, string>()
  let serving: Serving
  let token = ''
  let accountId = ''

  const call = async (method: string, path: string, body?: object, key?: string) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    }
    const response = await fetch(serving.announced.api + path, {
      method,
      headers,
      signal: AbortSignal.timeout(15_000),
      ...(body && { body: JSON.stringify(body) }),
    })
    const { status } = response
    return { status, retryAfter: response.headers.get('retry-after'), body: JSON.parse(await response.text()) }
  }
  /** With so much in it that it needs room. */
  const create = async (name: string) => {
    const answer = await call('POST', '/contacts', { accountId, name, notes: name.padEnd(2_000, '.') }, name)
    if (answer.status === 201) answered.set(name, answer.body.id)
    return answer
  }
  const assertUnavailable = ({ status, body, retryAfter }: Awaited<ReturnType<typeof call>>) =>
    assert.deepEqual([status, body.code, retryAfter], [503, 'unavailable', '1'])
  const assertNothingLost = async () => {
    const { body } = await call('GET', '/contacts?pageSize=200')
    const found = new Map(body.items.map(({ name, id }: Record<string, string>) => [name, id]))
    assert.equal(body.total, found.size)
    assert.deepEqual(found, answered)
  }

  const filler = join(disk, 'filler')
  const fillUp = () => {
    const file = openSync(filler, 'w')
    try {
      for (;;) writeSync(file, Buffer.alloc(65_536))
    } catch (error) {
      assert.match(String(error), /ENOSPC/)
    } finally {
      closeSync(file)
    }
  }
  const makeRoom = () => rmSync(filler)

  before(async () => {
    const stderr = openSync(log, 'a')
    serving = await startServing(['--port', '0'], environment, stderr).finally(() => closeSync(stderr))
    const json = async (command: string) => {
      const { code, stdout, stderr } = await runMasthead([...command.split(' '), '--json'], environment)
      assert.equal(code, 0, stderr)
      return JSON.parse(stdout)
    }
    await json('tenant create acme --name Acme')
    const scopes = 'contacts:read,contacts:write,accounts:write'
    token = (await json(`token create --tenant acme --service writer --scopes ${scopes}`)).token
    accountId = (await call('POST', '/accounts', { company: 'Full Ltd' })).body.accountId
    for (let number = 0; number < 10; number++) assert.equal((await create(`before-${number}`)).status, 201)
  })
  after(async () => {
    await serving?.kill()
    const postmaster = postmasterOf(environment.MASTHEAD_DATA_DIR)
    if (postmaster !== undefined && isAlive(postmaster)) {
      process.kill(postmaster, 'SIGQUIT')
      await until('PostgreSQL has ended', () => !isAlive(postmaster))
    }
    execFileSync('umount', [disk])
    await rm(disk, { recursive: true })
  })

  test('writes are refused with 503 and reads go on; once there is room, both do, and nothing is lost', async () => {
    fillUp()
    const refused: string[] = []
    for (let number = 0; refused.length < 20; number++) {
      const name = `full-${number}`
      const answer = await create(name)
      if (answer.status === 201) continue
      assertUnavailable(answer)
      refused.push(name)
    }
    const [id] = answered.values()
    for (const path of [
      '/contacts',
      `/contacts/${id}`,
      '/contacts?search=before',
      `/contacts?accountId=${accountId}`,
    ]) {
      assert.equal((await call('GET', path)).status, 200, path)
    }
    const takesWrites = async () => {
      const ready = await fetch(`${serving.announced.url}/readyz`)
      assert.equal(ready.status, 200)
      return ((await ready.json()) as { writes: boolean }).writes // as the service tells
    }
    assert.equal(await takesWrites(), false)
    makeRoom()
    // Under the same keys, so that each is done once whatever became of the first.
    for (const name of refused) assert.equal((await create(name)).status, 201)
    assert.equal(await takesWrites(), true)
    await assertNothingLost()
  })

  test('PostgreSQL that dies of it comes back when there is room, and the service with it', async () => {
    fillUp()
    await breakLog()
    assertUnavailable(await create('late'))
    assertUnavailable(await call('GET', '/contacts'))
    assert.equal((await fetch(`${serving.announced.url}/readyz`)).status, 503)
    assert.equal((await fetch(`${serving.announced.url}/healthz`)).status, 200)
    const logged = readFileSync(log, 'utf8').length
    makeRoom()
    let refusals = 0
    await until('writes are taken again', async () => (await create('late')).status === 201 || ++refusals === 0)
    await assertNothingLost()
    // The log lay on the same disk, and is written again.
    if (refusals > 0) assert.match(readFileSync(log, 'utf8').slice(logged), /the database did not answer/)
  })

  /** Has PostgreSQL need a new file for its write-ahead log, without which it ends itself. */
  const breakLog = async () => {
    const { connectionString, close } = await openEmbedded(environment.MASTHEAD_DATA_DIR)
    const client = new pg.Client(connectionString)
    client.on('error', () => {})
    await client.connect()
    const statement = 'select pg_switch_wal(); create table if not exists spare (); drop table spare'
    await assert.rejects(async () => {
      for (;;) await client.query(statement)
    })
    await client.end()
    await close()
  }

  test('it is the same process that served all the time, and it stops in good order', async () => {
    assert.ok(isAlive(serving.pid))
    assert.equal((await serving.stop()).code, 0)
  })
})
