import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RegisterCall, unexplained } from './one-order.ts'

type Made = (value: string, began: number, ended: number) => RegisterCall
const write: Made = (value, began, ended) => ({ kind: 'write', value, began, ended })
const read: Made = (value, began, ended) => ({ kind: 'read', value, began, ended })

test('calls that one order explains are explained', () => {
  for (const calls of [
    [write('a', 0, 1), read('a', 2, 3), write('b', 4, 5), read('b', 6, 7)],
    // While a write is in flight either value may be read, but each reader goes forward.
    [write('a', 0, 1), write('b', 2, 10), read('a', 3, 4), read('b', 5, 6), read('b', 7, 8)],
    // Writes at the same time, in the order that the readers saw.
    [write('a', 0, 10), write('b', 0, 10), read('b', 11, 12), read('a', 1, 2)],
  ])
    assert.deepEqual(unexplained(calls), [])
})

test('a stale read, a value that disappears again, and one that comes from nowhere are found', () => {
  for (const calls of [
    [write('a', 0, 1), write('b', 2, 3), read('a', 4, 5)],
    [write('a', 0, 1), write('b', 2, 10), read('b', 3, 4), read('a', 5, 6)],
    [write('a', 0, 1), read('b', 2, 3)],
    [write('a', 4, 5), read('a', 1, 2)],
    [write('a', 0, 1), read('a', 8, 9), write('b', 3, 4)],
  ])
    assert.equal(unexplained(calls).length, 1, JSON.stringify(calls))
})
