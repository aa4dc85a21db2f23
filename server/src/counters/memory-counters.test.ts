import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { Counting } from '../../test/processes/counting-thread.ts'
import { startServing } from '../../test/processes/masthead-process.ts'
import { callAlone } from '../../test/requests/own-connection.ts'
import { secret, startService } from '../../test/service.ts'
import { newToken } from '../identity/token-format.ts'
import type { Demand } from './counters.ts'
import { MemoryCounters, newCounterMemory } from './memory-counters.ts'

const many = 1_000_000
const demand = (key: string, quota: number, from: Demand['from'] = 'callers'): Demand => ({
  from,
  budgets: [{ key, quota }],
})

/** How often a thread was let in; it ends with its requests in flight. */
const countIn = async (given: Counting): Promise<number> => {
  const worker = new Worker(new URL('../../test/processes/counting-thread.ts', import.meta.url), { workerData: given })
  const [[admitted]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
  return admitted
}

describe('threads of one process', () => {
  test('together take a budget to its last request, and no more', async () => {
    const memory = newCounterMemory(3)
    const limits = { quota: 50_000, atOnce: many, times: 40_000 }
    const admitted = await Promise.all([0, 1, 2].map((thread) => countIn({ ...limits, memory, thread })))
    assert.equal(
      admitted.reduce((sum, one) => sum + one, 0),
      limits.quota,
    )
  })

  test('count the requests in flight of all of them, and no longer those of one that died', async () => {
    const memory = newCounterMemory(2)
    const most = { from: 'callers', budgets: [{ key: 'same', quota: many }], atOnce: 4 } as const
    const survivor = new MemoryCounters(memory, 0)
    const own = survivor.take(most)
    assert.equal(await countIn({ memory, thread: 1, times: 10, quota: many, atOnce: 4 }), 3)
    assert.equal(survivor.take(most).refusedBy, 'atOnce')
    own.leave()
    const successor = new MemoryCounters(memory, 1)
    const statuses = [1, 2, 3, 4, 5].map(() => successor.take(most).refusedBy)
    assert.deepEqual(statuses, [null, null, null, null, 'atOnce'])
  })
})

test('two workers of a service share the minute of a token', async () => {
  const service = await startService()
  const serving = await startServing(['--no-work', '--port', '0'], {
    DATABASE_URL: service.connectionString,
    MASTHEAD_SECRET: secret,
    WORKERS: '2',
    RATE_LIMIT_TOKEN: '20',
  })
  const { port } = new URL(serving.announced.url)
  const authorization = `Bearer ${await (await service.newTenant()).serviceToken()}`
  /** On a connection of its own, which the system gives to either worker. */
  const call = () =>
    new Promise((resolve, reject) => {
      const target = { host: 'localhost', port, path: '/customer-api/v1/contacts', agent: false }
      get({ ...target, headers: { authorization } }, (response) =>
        response.resume().once('close', () => resolve(response.statusCode)),
      ).once('error', reject)
    })
  const statuses = await Promise.all(Array.from({ length: 40 }, call))
  assert.deepEqual(statuses.sort(), [...Array(20).fill(200), ...Array(20).fill(429)])
  assert.equal((await serving.stop()).code, 0)
})

test('two workers of a service count unknown tokens together, and let those that one of them knows go on', async () => {
  const service = await startService()
  const serving = await startServing(['--no-work', '--port', '0'], {
    DATABASE_URL: service.connectionString,
    MASTHEAD_SECRET: secret,
    WORKERS: '2',
    RATE_LIMIT_UNKNOWN_TOKENS: '10',
  })
  const tenant = await service.newTenant()
  const [inUse, unseen] = [await tenant.serviceToken(), await tenant.serviceToken()]
  /** Each on a connection of its own, which the system gives to either worker. */
  const statusesOf = async (tokens: string[]) => {
    const statuses = []
    for (const token of tokens) {
      const headers = { authorization: `Bearer ${token}` }
      statuses.push((await callAlone(serving.announced.url, '/customer-api/v1/contacts', { headers }))?.status)
    }
    return statuses
  }
  assert.deepEqual(await statusesOf([inUse]), [200])
  const guesses = Array.from({ length: 14 }, () => newToken('personal'))
  assert.deepEqual(await statusesOf(guesses), [...Array(10).fill(401), ...Array(4).fill(429)])
  assert.deepEqual(await statusesOf(Array(12).fill(inUse)), Array(12).fill(200))
  assert.deepEqual(await statusesOf(Array(4).fill(unseen)), Array(4).fill(429))
  assert.equal((await serving.stop()).code, 0)
})

describe('a memory with more keys than it has room for', () => {
  const counters = new MemoryCounters()
  /** Each key once; the last is `name 149999`. */
  const flood = (name: string, from: Demand['from'] = 'callers') => {
    for (let number = 0; number < 150_000; number++) {
      if (counters.take(demand(`${name} ${number}`, 1, from)).refusedBy !== null) assert.fail(`${number} is refused`)
    }
  }

  test('forgets the oldest, and still counts the newest', () => {
    flood('first')
    assert.equal(counters.take(demand('first 149999', 1)).refusedBy, 0)
    assert.equal(counters.take(demand('first 0', 1)).refusedBy, null)
  })

  test('does not forget callers for strangers', () => {
    assert.equal(counters.take(demand('somebody', 1)).refusedBy, null)
    flood('stranger', 'strangers')
    assert.equal(counters.take(demand('somebody', 1)).refusedBy, 0)
  })

  test('does not forget requests in flight', () => {
    const busy = { ...demand('busy', many), atOnce: 1 }
    const { refusedBy, leave } = counters.take(busy)
    assert.equal(refusedBy, null)
    flood('second')
    assert.equal(counters.take(busy).refusedBy, 'atOnce')
    leave()
    assert.equal(counters.take(busy).refusedBy, null)
  })

  test('lets through what finds no room at all', () => {
    const full = new MemoryCounters()
    for (let number = 0; number < 150_000; number++) {
      assert.equal(full.take({ ...demand(`${number}`, 1), atOnce: 1 }).refusedBy, null)
    }
  })
})

describe('a refund', () => {
  test('is worth nothing in another window than the one that was charged', () => {
    let now = Date.now()
    const counters = new MemoryCounters(newCounterMemory(), 0, () => now)
    const { refund } = counters.take(demand('a', 1))
    now += 60_000
    assert.equal(counters.take(demand('a', 1)).refusedBy, null)
    refund()
    assert.equal(counters.take(demand('a', 1)).refusedBy, 0)
  })
})

test('a thread that looked at the clock a moment before another began the window counts in it', () => {
  let now = Date.now()
  const counters = new MemoryCounters(newCounterMemory(), 0, () => now)
  counters.take(demand('a', 2))
  now -= 5
  assert.deepEqual(counters.take(demand('a', 2)).windows, [{ used: 2, millisecondsLeft: 60_000 }])
  assert.equal(counters.take(demand('a', 2)).refusedBy, 0)
})

test('a clock that is set back begins windows anew', () => {
  let now = Date.now()
  const counters = new MemoryCounters(newCounterMemory(), 0, () => now)
  counters.take(demand('a', 1))
  now -= 3_600_000
  const { refusedBy, windows } = counters.take(demand('a', 1))
  assert.deepEqual([refusedBy, windows], [null, [{ used: 1, millisecondsLeft: 60_000 }]])
})

test('the memory holds no key that could be read', () => {
  const memory = newCounterMemory()
  new MemoryCounters(memory).take(demand('192.0.2.77', 1, 'strangers'))
  assert.ok(!Buffer.from(memory.buffer).includes('192.0.2.77'))
})
