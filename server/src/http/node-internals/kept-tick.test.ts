import assert from 'node:assert/strict'
import { test } from 'node:test'
// @ts-expect-error: it is no TypeScript, for the sake of what loads it
import { keptTick } from './kept-tick.js'

test('what is kept is what process.nextTick queues', () => {
  assert.deepEqual(Object.keys(keptTick), ['callback', 'args'])
})
