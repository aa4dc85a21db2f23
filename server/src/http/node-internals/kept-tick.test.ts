import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
// @ts-expect-error: the module is plain JavaScript, because main.js loads it before anything else
import { keepTick, releaseTick } from './kept-tick.js'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Whether it is still there after the garbage was collected, in a turn in which nobody else can hold it. */
const outlives = async (tick: WeakRef<object>): Promise<boolean> => {
  await new Promise((go) => setImmediate(go))
  collectGarbage()
  return tick.deref() !== undefined
}

test('one of the objects that process.nextTick queues is kept until it is released', async () => {
  const tick = await (async () => {
    const kept: object = await keepTick()
    assert.deepEqual(Object.keys(kept), ['callback', 'args'])
    return new WeakRef(kept)
  })()
  assert.equal(await outlives(tick), true)
  releaseTick()
  assert.equal(await outlives(tick), false)
})
