import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pausesAfter, retryDelay } from './schedule.ts'

const middle = () => 0.5
const [second, minute, hour] = [1_000, 60_000, 3_600_000]

describe('the pauses between attempts', () => {
  test('grow from 5 seconds to a day for a webhook, which has ten attempts, and vary', () => {
    const delays = Array.from({ length: 10 }, (_, index) => retryDelay('webhook', index + 1, middle))
    const hours = [2, 5, 10, 14, 20, 24].map((count) => count * hour)
    assert.deepEqual(delays, [5 * second, 5 * minute, 30 * minute, ...hours, null])
    assert.deepEqual([retryDelay('webhook', 1, () => 0), retryDelay('webhook', 1, () => 1)], [3_750, 6_250])
  })

  test('double from seconds to an hour for a legacy system, without end', () => {
    assert.deepEqual(
      [1, 2, 3, 10, 11, 70, 5_000].map((tries) => retryDelay('legacy', tries, middle)),
      [5, 10, 20, 2_560, 3_600, 3_600, 3_600].map((seconds) => seconds * second),
    )
  })

  test('are as long as the endpoint asks for, up to a day, and for all of its deliveries up to an hour', () => {
    const after = (status: number, retryAfter: number | null) =>
      pausesAfter('webhook', 1, { status, retryAfter }, middle)
    assert.deepEqual(after(500, null), { delivery: 5 * second, endpoint: 0 })
    assert.deepEqual(after(500, minute), { delivery: minute, endpoint: 0 })
    assert.deepEqual(after(503, second), { delivery: 5 * second, endpoint: second })
    assert.deepEqual(after(429, 100 * hour), { delivery: 24 * hour, endpoint: hour })
  })
})
