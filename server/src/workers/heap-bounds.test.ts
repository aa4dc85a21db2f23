import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { boundHeap } from './heap-bounds.ts'

setFlagsFromString('--expose-gc')
const collect: (options: object) => void = runInNewContext('gc')
const shrink = () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })

const spaceOf = (name: string) => getHeapSpaceStatistics().find(({ space_name }) => space_name === name)
const newSpace = (): number => (spaceOf('new_space')?.space_size ?? 0) / 1_048_576
const oldObjects = (): number => (spaceOf('old_space')?.space_used_size ?? 0) / 1_048_576

/** Makes objects of which so many live for a while, and gives the most that was measured meanwhile. */
const work = async (measure: () => number, alive: number, living: object[] = []): Promise<number> => {
  let most = 0
  for (let turn = 0; turn < 3_000; turn++) {
    for (let index = 0; index < 500; index++) living[(turn * 500 + index) % alive] = { turn, text: `${turn} ${index}` }
    await nextTurn()
    most = Math.max(most, measure())
  }
  return most
}

/** As many as requests in flight may have. */
const inFlight = 50_000
/** So many that each lives until it is old, as a cached response does. */
const inCache = 300_000
const requireBound = (most: number): void => assert.ok(most > 7 && most < 9, `${most} MiB`)

test('old objects are collected before garbage takes much more than what lives', async () => {
  const lift = boundHeap()
  const cached: object[] = []
  await work(oldObjects, inCache, cached)
  const most = Math.max(await work(oldObjects, inCache, cached), await work(oldObjects, inCache, cached))
  lift()
  collect({ type: 'major', execution: 'sync' })
  assert.equal(cached.length, inCache)
  assert.ok(most < 2.8 * oldObjects(), `${most} MiB, of which ${oldObjects()} live`)
})

test('the space for new objects grows up to its bound, again when it shrank meanwhile, and further without a bound', async () => {
  // It may be large already.
  shrink()
  const lift = boundHeap()
  requireBound(await work(newSpace, inFlight))
  shrink()
  assert.ok(newSpace() < 5)
  requireBound(await work(newSpace, inFlight))
  lift()
  assert.ok((await work(newSpace, inFlight)) > 15)
})
