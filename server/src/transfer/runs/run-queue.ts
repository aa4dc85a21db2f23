/** Each run is a process with a connection to the database. One slot is reserved for short runs. */
const mostAtOnce = 2
const mostLargeAtOnce = 1

/** Of one owner, a tenant, one runs at a time, so that nobody's many keep others waiting. */
type Turn = { owner: string; isLarge: boolean }
type Waiting = Turn & { begin: () => void }

/** First in, first out. */
const waiting = new Set<Waiting>()
const running = new Set<Turn>()

/** Waits for a free slot; the signal ends the wait. */
export const inTurn = async <T>(turn: Turn, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  await comeTo(turn, signal)
  try {
    return await work()
  } finally {
    running.delete(turn)
    beginNext()
  }
}

const comeTo = (turn: Turn, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const giveUp = () => {
      waiting.delete(mine)
      reject(signal.reason)
    }
    const begin = () => {
      waiting.delete(mine)
      running.add(turn)
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    const mine: Waiting = { ...turn, begin }
    signal.throwIfAborted()
    signal.addEventListener('abort', giveUp, { once: true })
    waiting.add(mine)
    beginNext()
  })

/** Several may have waited for one that has ended. */
const beginNext = (): void => {
  for (const next of waiting) if (mayBegin(next)) next.begin()
}

const mayBegin = ({ owner, isLarge }: Turn): boolean =>
  running.size < mostAtOnce &&
  !(isLarge && [...running].filter((one) => one.isLarge).length >= mostLargeAtOnce) &&
  ![...running].some((one) => one.owner === owner)
