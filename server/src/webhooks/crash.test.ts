import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startReceiver } from '../../test/outside/webhook-receiver.ts'
import {
  isAlive,
  postmasterOf,
  runMasthead,
  type Serving,
  spawnMasthead,
  startServing,
  temporaryDataDirectory,
  until,
} from '../../test/processes/masthead-process.ts'

/** A contact that one writer creates and then changes: what of it was answered, and how far it was tried. */
type Series = { id: string; answered: number; tried: number }

describe('after kill -9 in the middle of writes and deliveries', async () => {
  const data = await temporaryDataDirectory()
  const environment = { MASTHEAD_DATA_DIR: data, RATE_LIMIT: 'off', LEGACY_ALLOW_PRIVATE: 'true' }
  const receiver = await startReceiver()
  const every: Series[] = []
  let serving: Serving
  let token = ''
  let accountId = ''
  let over = false
  let stopWorker = async () => {}
  after(() => {
    over = true
  })

  const masthead = async (command: string, input = '') => {
    const { code, stdout, stderr } = await runMasthead([...command.split(' '), '--json'], environment, input)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(serving.announced.api + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const answeredSoFar = () => every.reduce((sum, { answered }) => sum + answered + 1, 0)

  /** Each writer counts a contact up; one whose write was not answered leaves it and begins another. */
  const startWriters = () => {
    let stopped = false
    const write = async () => {
      while (!stopped && !over) {
        const created = await call('POST', '/contacts', { accountId, title: '0' }).catch(() => null)
        if (created?.status !== 201) {
          // Only so as not to spin while nobody answers.
          await delay(10)
          continue
        }
        const series = { id: created.body.id, answered: 0, tried: 0 }
        every.push(series)
        while (!stopped && !over && series.answered === series.tried && series.tried < 10) {
          series.tried++
          const change = { accountId, title: String(series.tried) }
          const answer = await call('PATCH', `/contacts/${series.id}`, change).catch(() => null)
          if (answer?.status === 200) series.answered = series.tried
        }
      }
    }
    const writers = Array.from({ length: 4 }, write)
    const stop = async () => {
      stopped = true
      await Promise.all(writers)
    }
    return { stop, [Symbol.asyncDispose]: stop }
  }
  const more = async (writes: number, deliveries: number) => {
    const [enough, taken] = [answeredSoFar() + writes, receiver.taken.length + deliveries]
    await until(
      'writes are answered and deliveries taken',
      () => answeredSoFar() >= enough && receiver.taken.length >= taken,
    )
  }

  const isAllTaken = () => {
    const last = new Map(receiver.taken.map(({ message: { data } }) => [data.id, Number(data.title)]))
    return every.every(({ id, answered }) => (last.get(id) ?? -1) >= answered)
  }

  /** Everything that was answered was delivered, in order, and nothing that is not there. */
  const assertHandedOver = async () => {
    await until('all that was answered is taken', isAllTaken, 90_000)
    await until('nothing waits', async () => (await masthead('legacy status --tenant acme')).waiting === 0, 90_000)
    const steps = Map.groupBy(receiver.taken, ({ message }) => message.data.id)
    for (const { id, answered, tried } of every) {
      const titles = steps.get(id)?.map(({ message }) => Number(message.data.title)) ?? []
      // A delivery that was taken as its sender died comes once more, before the next.
      assert.deepEqual(
        titles,
        titles.toSorted((one, other) => one - other),
        `the order of ${id}`,
      )
      const { body } = await call('GET', `/contacts/${id}`)
      const last = Number(body.title)
      assert.ok(last >= answered && last <= tried)
      assert.deepEqual(
        [...new Set(titles)],
        Array.from({ length: last + 1 }, (_, number) => number),
        id,
      )
    }
    for (const id of steps.keys()) assert.equal((await call('GET', `/contacts/${id}`)).status, 200)
    const ids = new Map(receiver.taken.map(({ id, text }) => [id, text]))
    for (const { id, text } of receiver.taken) assert.equal(ids.get(id), text)
    assert.equal(receiver.unverified, 0)
  }

  test('a tenant with a legacy system takes writes', async () => {
    serving = await startServing(['--port', '0'], environment)
    await masthead('tenant create acme --name Acme')
    await masthead(`legacy attach --tenant acme --url ${receiver.url} --secret-stdin`, receiver.secret)
    const scopes = 'contacts:read,contacts:write,accounts:write'
    token = (await masthead(`token create --tenant acme --service writer --scopes ${scopes}`)).token
    const account = await call('POST', '/accounts', { company: 'Crash Ltd' })
    assert.equal(account.body.route, 'legacy')
    accountId = account.body.accountId
    await until('the account is delivered', () => receiver.taken.length === 1)
    receiver.taken.length = 0
  })

  test('of the server, it serves again', async () => {
    for (let round = 0; round < 3; round++) {
      await using writers = startWriters()
      await more(60, 30)
      await serving.kill()
      await writers.stop()
      serving = await startServing(['--port', '0'], environment)
    }
  })

  test('of PostgreSQL, the server goes on', async () => {
    await using writers = startWriters()
    await more(40, 20)
    const postmaster = postmasterOf(data)
    assert.ok(postmaster)
    process.kill(postmaster, 'SIGKILL')
    await more(40, 20)
    await writers.stop()
    assert.ok(isAlive(serving.pid))
  })

  test('of a worker, another takes its place beside a server that leaves it the work', async () => {
    assert.equal((await serving.stop()).code, 0)
    serving = await startServing(['--port', '0', '--no-work'], environment)
    const before = receiver.received.length
    {
      await using _writers = startWriters()
      const enough = answeredSoFar() + 40
      await until('writes are answered', () => answeredSoFar() >= enough)
    }
    assert.equal(receiver.received.length, before)
    for (let round = 0; round < 2; round++) {
      const { child, ended } = spawnMasthead(['work', '--json'], environment)
      await using _writers = startWriters()
      await more(20, 20)
      child.kill('SIGKILL')
      await ended
    }
    const { child, said, ended } = spawnMasthead(['work', '--json'], environment)
    await until('it works', () => said.stdout.endsWith('}\n'))
    stopWorker = async () => {
      child.kill('SIGTERM')
      assert.deepEqual([(await ended).code, JSON.parse(said.stdout)], [0, { working: true }])
    }
  })

  test('of any of them, every answered write is delivered in order, and nothing else', async () => {
    await assertHandedOver()
    await stopWorker()
    assert.equal((await serving.stop()).code, 0)
  })
})
