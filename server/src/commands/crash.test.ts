import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import {
  isAlive,
  postmasterOf,
  runMasthead,
  type Serving,
  startServing,
  temporaryDataDirectory,
  until,
} from '../../test/processes/masthead-process.ts'
import { openEmbedded } from '../database/embedded/server.ts'

type Item = { id: string; name: string }

describe('after kill -9 in the middle of writes', async () => {
  const data = await temporaryDataDirectory()
  const environment = { MASTHEAD_DATA_DIR: data, RATE_LIMIT: 'off' }
  /** The id under which each write was answered, by the name that it gave. */
  const answered = new Map<string, string>()
  let serving: Serving
  let token = ''
  let accountId = ''
  let writersStarted = 0
  let over = false
  // Also when a test was given up while its writers ran.
  after(() => {
    over = true
  })

  const start = async () => {
    serving = await startServing(['--port', '0'], environment)
  }
  const call = async (method: string, path: string, body?: object, key?: string) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    }
    const given = body ? { body: JSON.stringify(body) } : {}
    const address = path.startsWith('http') ? path : serving.announced.api + path
    const response = await fetch(address, { method, headers, ...given, signal: AbortSignal.timeout(30_000) })
    return { response, status: response.status, body: JSON.parse(await response.text()) }
  }
  const killPostgres = () => {
    const postmaster = postmasterOf(data)
    assert.ok(postmaster)
    process.kill(postmaster, 'SIGKILL')
  }

  /** Writes of which nobody knows whether they were done: sent again under their key, they must not be done twice. */
  const unanswered = new Map<string, object>()
  const create = async (name: string, contact: object) => {
    unanswered.set(name, contact)
    const answer = await call('POST', '/contacts', contact, name).catch(() => null)
    if (answer?.status === 201) {
      answered.set(name, answer.body.id)
      unanswered.delete(name)
    }
    return answer
  }
  const sendUnansweredAgain = async () => {
    const [before, waiting] = [answered.size, [...unanswered]]
    for (const [name, contact] of waiting) await create(name, contact)
    assert.equal(answered.size, before + waiting.length)
  }

  /** Creates contacts until told to stop. */
  const startWriters = () => {
    const refusals: { status: number; code: string; retryAfter: string | null }[] = []
    let stopped = false
    const write = async (writer: number) => {
      for (let number = 0; !stopped && !over; number++) {
        const name = `${writer}-${number}`
        const contact = { accountId, name, subsOnly: number % 3 === 0 }
        const answer = await create(name, contact)
        if (answer && answer.status !== 201) {
          const retryAfter = answer.response.headers.get('retry-after')
          refusals.push({ status: answer.status, code: answer.body.code, retryAfter })
        }
        if (answer?.status !== 201) await delay(10)
      }
    }
    const writers = Array.from({ length: 8 }, () => write(writersStarted++))
    const stop = async () => {
      stopped = true
      await Promise.all(writers)
    }
    return { refusals, stop, [Symbol.asyncDispose]: stop }
  }
  const moreWrites = (count: number) => {
    const enough = answered.size + count
    return until(`${count} more writes are answered`, () => answered.size >= enough)
  }

  /** Every answered write is there, nothing is there twice although it was sent again, and every count agrees. */
  const assertNothingLost = async () => {
    await sendUnansweredAgain()
    const items: Item[] = []
    let total = 0
    for (let next = '/contacts?includeSubsOnly=true&pageSize=200'; next !== ''; ) {
      const page = await call('GET', next)
      assert.equal(page.status, 200)
      items.push(...page.body.items)
      total = page.body.total
      next = /<([^>]+)>; rel="next"/.exec(page.response.headers.get('link') ?? '')?.[1] ?? ''
    }
    const found = new Map(items.map(({ name, id }) => [name, id]))
    assert.equal(found.size, items.length)
    assert.equal(total, items.length)
    const lost = [...answered].filter(([name, id]) => found.get(name) !== id)
    assert.deepEqual(lost, [])
    assert.deepEqual(await ask(data, wrongTallies), [])
  }

  test('a fresh service takes writes', async () => {
    await start()
    const json = async (command: string) => {
      const { code, stdout, stderr } = await runMasthead([...command.split(' '), '--json'], environment)
      assert.equal(code, 0, stderr)
      return JSON.parse(stdout)
    }
    await json('tenant create acme --name Acme')
    const scopes = 'contacts:read,contacts:write,accounts:write'
    token = (await json(`token create --tenant acme --service writer --scopes ${scopes}`)).token
    accountId = (await call('POST', '/accounts', { company: 'Crash Ltd' })).body.accountId
    await using _writers = startWriters()
    await moreWrites(20)
  })

  test('of Node, the same command finds every answered write', async () => {
    for (let round = 0; round < 2; round++) {
      await using writers = startWriters()
      await moreWrites(40)
      await serving.kill()
      await writers.stop()
      assertOnlyUnavailable(writers.refusals)
      await start()
      await assertNothingLost()
    }
  })

  test('of PostgreSQL, Node answers 503 at most, brings it back and has every answered write', async () => {
    for (let round = 0; round < 2; round++) {
      await using writers = startWriters()
      await moreWrites(40)
      const killed = postmasterOf(data)
      killPostgres()
      await until('another runs', () => ![killed, undefined].includes(postmasterOf(data)))
      await moreWrites(40)
      await writers.stop()
      assertOnlyUnavailable(writers.refusals)
      assert.ok(isAlive(serving.pid))
      await assertNothingLost()
    }
    assert.match(serving.said.stderr, /PostgreSQL went away: bringing it back\n/)
  })

  test('of one connection of PostgreSQL, Node goes on in the same way', async () => {
    await using writers = startWriters()
    await moreWrites(40)
    const [backend] = await ask(
      data,
      `select pid from pg_stat_activity where application_name ~ '^masthead [0-9.]+$' limit 1`,
    )
    process.kill(Number(backend?.pid), 'SIGKILL')
    await until('it is gone', () => !isAlive(Number(backend?.pid)))
    await moreWrites(40)
    await writers.stop()
    assertOnlyUnavailable(writers.refusals)
    await assertNothingLost()
  })

  test('of both, the same command finds every answered write', async () => {
    for (const killFirst of ['PostgreSQL', 'Node']) {
      await using writers = startWriters()
      await moreWrites(40)
      if (killFirst === 'PostgreSQL') killPostgres()
      const ended = serving.kill()
      if (killFirst === 'Node') killPostgres()
      await ended
      await writers.stop()
      assertOnlyUnavailable(writers.refusals)
      await start()
      await assertNothingLost()
    }
  })

  test('the service still stops in good order', async () => {
    assert.equal((await serving.stop()).code, 0)
    assert.equal(postmasterOf(data), undefined)
  })
})

/** Visibility classes of a tenant whose tallies, at any level, differ in sum from the records. */
const wrongTallies = `
  select tenant_id, class, level, counted.count, tallied.count
  from (select tenant_id, class, count(*) from contacts group by tenant_id, class) as counted
  cross join (values (10), (16), (22), (62)) as levels (level)
  full join (
    select tenant_id, class, level, sum(count) as count from tallies where resource = 'contacts' and facet = ''
    group by tenant_id, class, level
  ) as tallied using (tenant_id, class, level)
  where coalesce(counted.count, 0) <> coalesce(tallied.count, 0)`

/** Asks the PostgreSQL of the folder and leaves it again, so that it is the service that brings it back. */
const ask = async (data: string, statement: string): Promise<Record<string, unknown>[]> => {
  const { connectionString, close } = await openEmbedded(data)
  const client = new pg.Client(connectionString)
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(statement)).rows
  } finally {
    await client.end()
    await close()
  }
}

const assertOnlyUnavailable = (refusals: { status: number; code: string; retryAfter: string | null }[]): void => {
  for (const refusal of refusals) assert.deepEqual(refusal, { status: 503, code: 'unavailable', retryAfter: '1' })
}
