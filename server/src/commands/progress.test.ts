import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startProgress } from './progress.ts'

const start = ({ isTTY = true, columns = 80 } = {}) => {
  const written: string[] = []
  const clock = { time: 0 }
  const progress = startProgress({ isTTY, columns, write: (text) => written.push(text) }, () => clock.time)
  return { written, clock, progress }
}
const wipe = '\r\u001B[K'

describe('progress', () => {
  test('is a bar with how much is done, how fast, and what is left', () => {
    const { written, clock, progress } = start()
    progress.show({ what: 'contacts', done: 0, of: 1_000, rows: 0 })
    clock.time = 2_000
    progress.show({ what: 'contacts', done: 250, of: 1_000, rows: 12_345 })
    clock.time = 4_000
    progress.show({ what: 'contacts', done: 1_200, of: 1_000, rows: 24_690 })
    assert.deepEqual(written, [
      `${wipe}contacts       ░░░░░░░░░░░░░░░░   0 %  0 rows`,
      `${wipe}contacts       ████░░░░░░░░░░░░  25 %  12,345 rows  6,173/s  00:06 left`,
      `${wipe}contacts       ████████████████ 100 %  24,690 rows  6,173/s  00:00 left`,
    ])
  })

  test('begins anew with each step, and has no bar when the end is not known', () => {
    const { written, clock, progress } = start()
    progress.show({ what: 'accounts', done: 10, of: 10, rows: 10 })
    clock.time = 5_000
    progress.show({ what: 'contacts', done: 1, of: null, rows: 1 })
    clock.time = 7_000
    progress.show({ what: 'contacts', done: 3, of: null, rows: 3_000 })
    assert.deepEqual(written.slice(1), [`${wipe}contacts       1 rows`, `${wipe}contacts       3,000 rows  1,500/s`])
  })

  test('has room for hours and many rows in 80 columns', () => {
    const { written, clock, progress } = start()
    progress.show({ what: 'contacts', done: 0, of: 8, rows: 0 })
    clock.time = 1_000_000
    progress.show({ what: 'subscriptions', done: 0, of: 8, rows: 0 })
    clock.time = 2_000_000
    progress.show({ what: 'subscriptions', done: 1, of: 8, rows: 99_999_999 })
    assert.match(written.at(-1) ?? '', / 100,000\/s {2}1:56:40 left$/)
  })

  test('is drawn ten times a second at most, on one line, which is wiped at the end', () => {
    const { written, clock, progress } = start({ columns: 30 })
    for (let step = 0; step < 1_000; step++) {
      clock.time = step
      progress.show({ what: 'contacts', done: step, of: 1_000, rows: step })
    }
    assert.equal(written.length, 10)
    for (const line of written) assert.ok(line.length - wipe.length < 30)
    progress.end()
    progress.end()
    assert.deepEqual(written.slice(10), [wipe])
  })

  test('is silent where nobody looks', () => {
    const { written, progress } = start({ isTTY: false })
    progress.show({ what: 'contacts', done: 1, of: 2, rows: 1 })
    progress.end()
    assert.deepEqual(written, [])
  })
})
