import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneTemplate } from '../../test/service.ts'
import { serviceRole } from './connections/address.ts'
import { openDatabase } from './database.ts'
import { FairQueue } from './fair-queue.ts'

/** Work that ends when the test says so. */
const newWork = (queue: FairQueue, log: string[]) => (owner: string, name: string) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = queue.run(owner, async () => {
    log.push(name)
    await promise
  })
  return { end: resolve, done }
}

test('one owner takes no more than its share, and another goes on at once', async () => {
  const log: string[] = []
  const work = newWork(new FairQueue(3, 2, 10_000), log)
  const all = [work('a', 'a1'), work('a', 'a2'), work('a', 'a3'), work('b', 'b1')]
  assert.deepEqual(log, ['a1', 'a2', 'b1'])
  for (const { end } of all) end()
  await Promise.all(all.map(({ done }) => done))
  assert.deepEqual(log, ['a1', 'a2', 'b1', 'a3'])
})

test('owners that wait take turns', async () => {
  const log: string[] = []
  const work = newWork(new FairQueue(1, 1, 10_000), log)
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => work(name.charAt(0), name))
  for (const { end } of all) end()
  await Promise.all(all.map(({ done }) => done))
  assert.deepEqual(log, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('what weighs more waits for room, and what is lighter does not overtake it for ever', async () => {
  const log: string[] = []
  const queue = new FairQueue(4, 4, 10_000)
  const work = newWork(queue, log)
  const light = [work('a', 'a1'), work('a', 'a2')]
  const heavy = queue.run('b', async () => void log.push('b1'), 4)
  const late = work('c', 'c1')
  assert.deepEqual(log, ['a1', 'a2', 'c1'])
  light[0]?.end()
  await light[0]?.done
  // From now on there is no room for anybody before the heavy one.
  const later = work('a', 'a3')
  assert.deepEqual(log, ['a1', 'a2', 'c1'])
  for (const { end } of [...light, late, later]) end()
  await Promise.all([heavy, later.done])
  assert.deepEqual(log, ['a1', 'a2', 'c1', 'b1', 'a3'])
})

test('what was heavy leaves room for as many as weigh the same together', async () => {
  const log: string[] = []
  const queue = new FairQueue(4, 4, 10_000)
  const heavy = Promise.withResolvers<void>()
  const first = queue.run('a', () => heavy.promise, 4)
  const work = newWork(queue, log)
  const light = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map((name) => work(name.charAt(0), name))
  heavy.resolve()
  await first
  assert.deepEqual(log, ['b1', 'a1', 'a2', 'a3'])
  for (const { end } of light) end()
  await Promise.all(light.map(({ done }) => done))
})

test('a lane is free again after a failure', async () => {
  const queue = new FairQueue(1, 1, 10_000)
  await assert.rejects(
    queue.run('a', () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.equal(await queue.run('a', async () => 1), 1)
})

test('refuses those beyond a bound, as a server that has no connection left would', async () => {
  const queue = new FairQueue(1, 1, 10_000)
  const { promise, resolve } = Promise.withResolvers<void>()
  const waiting = Array.from({ length: 101 }, () => queue.run('a', () => promise))
  await assert.rejects(
    queue.run('a', () => promise),
    { code: '53300' },
  )
  resolve()
  await Promise.all(waiting)
})

test('a tenant that reads much leaves room for the read of another', async (context) => {
  const database = openDatabase(
    { connectionString: await cloneTemplate(), role: serviceRole },
    {
      connections: { reading: 1, searching: 1, writing: 1 },
    },
  )
  context.after(() => database.close())
  const [loud, quiet] = [database.forTenant(randomUUID()), database.forTenant(randomUUID())]
  let done = 0
  const flood = Array.from({ length: 12 }, () =>
    loud.read.withoutTenant({ text: 'select pg_sleep(0.05)' }).then(() => done++),
  )
  await quiet.read.withoutTenant({ text: 'select 1' })
  assert.ok(done <= 4, `it waited for ${done}`)
  await Promise.all(flood)
})

test('refuses who has waited for too long, and goes on with the others', async () => {
  const queue = new FairQueue(1, 1, 50)
  const { promise, resolve } = Promise.withResolvers<void>()
  const running = queue.run('a', () => promise)
  for (const owner of ['a', 'b']) {
    await assert.rejects(
      queue.run(owner, async () => {}),
      { code: '53300' },
    )
  }
  const waiting = queue.run('b', async () => 'done')
  resolve()
  await running
  assert.equal(await waiting, 'done')
})
