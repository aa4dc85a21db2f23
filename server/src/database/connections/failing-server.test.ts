import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { basePath } from '@masthead/contract'
import pg from 'pg'
import { postmasterOf, temporaryDataDirectory, until } from '../../../test/processes/masthead-process.ts'
import { MixedLoad } from '../../../test/records/mixed-load.ts'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { assertTallies } from '../../../test/records/tallies.ts'
import { assertProblem } from '../../../test/requests/problem-response.ts'
import { type CallResponse, startService } from '../../../test/service.ts'
import { openDatabase } from '../database.ts'
import { openEmbedded } from '../embedded/server.ts'
import { migrate } from '../schema/migrate.ts'
import { serviceRole } from './address.ts'
import { isWriteRefused } from './unavailable.ts'

/** A PostgreSQL of its own, which is brought back when it ends. */
const data = await temporaryDataDirectory()
const server = await openEmbedded(data)
after(() => server.close())
await migrate(server.connectionString)
const service = await startService({ connectionString: server.connectionString })
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
const [account] = await tenant.add('accounts', [sampleAccount('A-1')])

/** Asks the server as it is now: the connection does not outlive the question. */
const ask = async (statement: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client(server.connectionString)
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** Ends PostgreSQL, as `pg_ctl restart -m fast` or `-m immediate` would, and waits until it is back. */
const restart = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
  const former = postmasterOf(data)
  assert.ok(former)
  process.kill(former, signal)
  await until('another server answers', async () => {
    const current = postmasterOf(data)
    return current !== undefined && current !== former && (await ask('select 1').catch(() => [])).length === 1
  })
}

const isReady = async () => (await service.call('GET', '//readyz')).status === 200

test('a restart of PostgreSQL under load costs no answered write, and is told with 503 at most', async () => {
  const { slug, serviceToken } = await service.newTenant()
  const tenants = [{ slug, token: await serviceToken() }]
  using load = new MixedLoad({ nodes: [service.origin + basePath], tenants, callers: 12, pauseMilliseconds: 20 })
  const answered = () => load.attempts.filter(({ status }) => status === 200 || status === 201).length
  load.start()
  for (let round = 0; round < 2; round++) {
    const before = answered()
    await until('requests are answered', () => answered() > before + 100)
    await restart('SIGQUIT')
  }
  await load.stop()
  for (const { status, code, retryAfter } of load.attempts.filter(({ status }) => status !== 200 && status !== 201))
    assert.deepEqual([status, code, retryAfter], [503, 'unavailable', '1'])
  const nothing = { lost: [], doubled: [], different: [], invented: [], miscounted: [], unanswered: [] }
  assert.deepEqual(await load.compare(), nothing)
})

test('an answer that came while this thread was busy is read, however long that was', async () => {
  const timeouts = { statementSeconds: 1, responseMilliseconds: 100 }
  const database = openDatabase({ connectionString: server.connectionString, role: serviceRole }, { timeouts })
  after(() => database.close())
  await database.read({ text: 'select 1' })
  const asked = database.read({ text: 'select 2 as found' })
  await nextTurn()
  for (const end = performance.now() + 200; performance.now() < end; );
  assert.deepEqual(await asked, [{ found: 2 }])
})

test('a server behind a pooler that takes no more writes is unavailable, for reading too', async () => {
  const { connectionString } = server
  const address = { connectionString, directConnectionString: connectionString, role: serviceRole }
  const database = openDatabase(address)
  after(() => database.close())
  const door = database.forTenant(tenant.id)
  const statement = { text: 'select 1 as one where current_tenant() = $1' }
  const setReadOnly = async (value: string) => {
    await ask(`alter system set default_transaction_read_only = ${value}`)
    await ask('select pg_reload_conf()')
  }
  assert.deepEqual(await door.read(statement), [{ one: 1 }])
  assert.deepEqual(await door.transaction((query) => query(statement)), [{ one: 1 }])
  await setReadOnly('on')
  await until('a read is refused', () =>
    door.read(statement).then(
      () => false,
      (error) => isWriteRefused(error),
    ),
  )
  await assert.rejects(
    door.transaction((query) => query(statement)),
    isWriteRefused,
  )
  await setReadOnly('off')
  await until('it reads again', () =>
    door.read(statement).then(
      () => true,
      () => false,
    ),
  )
})

describe('a standby', () => {
  const signal = join(data, 'postgres/standby.signal')
  after(() => rmSync(signal, { force: true }))

  test('is refused, also for reading', async () => {
    writeFileSync(signal, '')
    await restart('SIGINT')
    assert.deepEqual(await ask('select pg_is_in_recovery() as standby'), [{ standby: true }])
    assertProblem(await service.call('GET', '/contacts', { token }), 'unavailable')
    assert.equal(await isReady(), false)
    await assert.rejects(migrate(server.connectionString), { code: '25006' })
  })

  test('is used once it is the primary', async () => {
    await ask('select pg_promote()')
    await until('the service is ready', isReady)
    const answer = await service.call('POST', '/contacts', { token, body: { accountId: account?.accountId } })
    assert.equal(answer.status, 201)
  })
})

describe('a commit that waits for a standby', async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => tenant.serviceToken()))
  const configure = async (standbys: string) => {
    await ask(`alter system set synchronous_standby_names = '${standbys}'`)
    await ask('select pg_reload_conf()')
    await until(
      'it is set',
      async () => (await ask('show synchronous_standby_names'))[0]?.synchronous_standby_names === standbys,
    )
  }
  const waiting = `from pg_stat_activity where wait_event = 'SyncRep'`
  const name = randomUUID()
  const body = { accountId: account?.accountId, name }
  const send = (key = name) =>
    service.call('POST', '/contacts', { token, body: { ...body, name: key }, headers: { 'idempotency-key': key } })
  const sendAndCancel = async (): Promise<CallResponse> => {
    let answer: CallResponse | undefined
    const sent = send().then((answered) => {
      answer = answered
    })
    await until('it is answered', async () => {
      await ask(`select pg_cancel_backend(pid) ${waiting}`)
      return answer !== undefined
    })
    await sent
    assert.ok(answer)
    return answer
  }
  const count = async (of: string) => (await ask(`select count(*)::int from contacts where name = '${of}'`))[0]?.count

  test('and is canceled is not answered as done', async () => {
    await configure('nobody')
    assertProblem(await sendAndCancel(), 'unavailable')
    assert.equal(await count(name), 1)
  })

  test('is not answered as done either when it is sent again and found', async () => {
    assertProblem(await sendAndCancel(), 'unavailable')
  })

  test('keeps nobody from searching, also when it is given up', async () => {
    const search = (words: number) => service.call('GET', `/contacts?search=${words}`, { token })
    // A connection that is opened while the table is locked waits for it too, and not for long.
    for (const { status } of await Promise.all([1, 2, 3, 4].map(search))) assert.equal(status, 200)
    // Of a list that is not searched, so that it does not stand in the way of the lock itself.
    const task = { accountId: account?.accountId, title: 'Call', dueDate: '2026-01-01' }
    const givenUp = service.call('POST', '/tasks', { token, body: task })
    // It is given up after five seconds, and who waits for a lock after three.
    const forLong = `select ${waiting} and clock_timestamp() - query_start > interval '4 seconds'
      and pid in (select pid from pg_locks where relation = 'tasks'::regclass)`
    await until('it has waited for long', async () => (await ask(forLong)).length === 1)
    const holder = new pg.Client(server.connectionString)
    await holder.connect()
    await holder.query('begin; lock table search_texts')
    const searches = Promise.all([5, 6, 7, 8].map(search))
    assertProblem(await givenUp, 'unavailable')
    await holder.end()
    for (const { status } of await searches) assert.equal(status, 200)
  })

  test('nor from reading', async () => {
    for (const token of tokens) {
      // Whoever comes for the first time has this noted, which waits too.
      assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
    }
  })

  test('is waited for longer than a statement may take', async () => {
    const patient = randomUUID()
    assertProblem(await send(patient), 'unavailable')
    assert.ok((await ask(`select pid ${waiting}`)).length >= 1)
    assert.equal(await count(patient), 0)
    await configure('')
    await until('it is done', async () => (await count(patient)) === 1)
    const again = await send(patient)
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, 'true'])
  })

  test('is answered as done once there is nobody to wait for', async () => {
    const again = await send()
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, 'true'])
    assert.equal(await count(name), 1)
    const owner = new pg.Client(server.connectionString)
    await owner.connect()
    await assertTallies(owner)
    await owner.end()
  })
})
