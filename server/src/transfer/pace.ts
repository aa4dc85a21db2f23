import { setTimeout as delay } from 'node:timers/promises'
import type { Query } from '../database/connections/statement.ts'
import { requestsEachSecond } from '../database/request-rate.ts'

export type Pace = {
  /** Whether others are served. */
  isShared: () => boolean
  /** How many rows to do at once, of `most` that would be efficient. */
  portion: (most: number) => number
  rest: () => Promise<void>
}

const lookMilliseconds = 500
/** After a statement that took long, because nobody else was served when it began. */
const longestRestMilliseconds = 1_000

/** A console that shows the progress of an import, and health checks, make fewer. */
const mostOfIdle = 10

/**
 * An import needs a processor for itself and one for PostgreSQL, which gives it as much as the sessions that serve callers. So
 * an import works in slices and calls `rest` after each. While others are served, slices take some milliseconds, and the
 * import rests after each for as long as it took.
 */
export const beginPace = async (query: Query, signal?: AbortSignal): Promise<Pace> => {
  let isShared = await areOthersServed(query)
  let looked = performance.now()
  let rested = looked
  return {
    isShared: () => isShared,
    portion: (most) => (isShared ? most / 10 : most),
    rest: async () => {
      const worked = performance.now() - rested
      if (performance.now() - looked > lookMilliseconds) {
        isShared = await areOthersServed(query)
        looked = performance.now()
      }
      if (isShared) await delay(Math.min(worked, longestRestMilliseconds), undefined, signal && { signal })
      rested = performance.now()
    },
  }
}

const areOthersServed = async (query: Query): Promise<boolean> => {
  const [found] = await query<{ requests: number }>({ text: requestsEachSecond })
  return (found?.requests ?? 0) > mostOfIdle
}
