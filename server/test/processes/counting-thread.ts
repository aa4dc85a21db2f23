import { parentPort, workerData } from 'node:worker_threads'
import { type CounterMemory, MemoryCounters } from '../../src/counters/memory-counters.ts'

/** A thread that demands the same again and again, says how often it was let in, and leaves nothing. */
export type Counting = { memory: CounterMemory; thread: number; times: number; quota: number; atOnce: number }

const { memory, thread, times, quota, atOnce } = workerData as Counting // what the test passes
const counters = new MemoryCounters(memory, thread)
let admitted = 0
for (let number = 0; number < times; number++) {
  const { refusedBy } = counters.take({ from: 'callers', budgets: [{ key: 'same', quota }], atOnce })
  if (refusedBy === null) admitted++
}
parentPort?.postMessage(admitted)
