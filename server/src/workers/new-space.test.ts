import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { boundNewSpace } from './new-space.ts'

setFlagsFromString('--expose-gc')
const collect: (options: object) => void = runInNewContext('gc')

const mebibytes = (): number =>
  (getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0) / 1_048_576

/** Makes objects of which many live for a while, as those of requests in flight do. */
const work = async (): Promise<number> => {
  let most = 0
  const living: object[] = []
  for (let turn = 0; turn < 3_000; turn++) {
    for (let index = 0; index < 500; index++) living[(turn * 500 + index) % 50_000] = { turn, text: `${turn} ${index}` }
    await nextTurn()
    most = Math.max(most, mebibytes())
  }
  return most
}

const requireBound = (most: number): void => assert.ok(most > 7 && most < 9, `${most} MiB`)

test('the space for new objects grows up to its bound, again when it shrank meanwhile, and further without a bound', async () => {
  const lift = boundNewSpace()
  requireBound(await work())
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  assert.ok(mebibytes() < 5)
  requireBound(await work())
  lift()
  assert.ok((await work()) > 15)
})
