import { isContended, isUnavailable } from './connections/unavailable.ts'
import { Busy } from './fair-queue.ts'

/** How long one refused write tells of all. Where no other comes, nobody knows whether writes are taken again. */
const tellingMilliseconds = 10_000

/** Whether the database takes writes, by how those of callers end: a full disk and a missing standby show in nothing else. */
export class TakenWrites {
  #refusedAt = Number.NEGATIVE_INFINITY

  async watch<T>(write: Promise<T>): Promise<T> {
    try {
      const result = await write
      this.#refusedAt = Number.NEGATIVE_INFINITY
      return result
    } catch (error) {
      const isOfCallers = error instanceof Busy || isContended(error)
      if (isUnavailable(error) && !isOfCallers) this.#refusedAt = performance.now()
      throw error
    }
  }

  get areTaken(): boolean {
    return performance.now() - this.#refusedAt > tellingMilliseconds
  }
}
