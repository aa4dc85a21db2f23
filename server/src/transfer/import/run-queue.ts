/** Each run is a process with a connection to the database. One slot is reserved for short runs. */
const mostAtOnce = 2
const mostLargeAtOnce = 1

type Waiting = { isLarge: boolean; begin: () => void }

/** First in, first out. A tenant has one run at a time, so the queue is fair. */
const waiting: Waiting[] = []
let running = 0
let largeRunning = 0

/** Waits for a free slot; the signal ends the wait. */
export const inTurn = async <T>(isLarge: boolean, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  await turn(isLarge, signal)
  try {
    return await work()
  } finally {
    running--
    if (isLarge) largeRunning--
    beginNext()
  }
}

const turn = (isLarge: boolean, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const giveUp = () => {
      waiting.splice(waiting.indexOf(mine), 1)
      reject(signal.reason)
    }
    const begin = () => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    const mine: Waiting = { isLarge, begin }
    signal.throwIfAborted()
    signal.addEventListener('abort', giveUp, { once: true })
    waiting.push(mine)
    beginNext()
  })

const beginNext = (): void => {
  if (running >= mostAtOnce) return
  const place = waiting.findIndex(({ isLarge }) => !isLarge || largeRunning < mostLargeAtOnce)
  const [next] = place < 0 ? [] : waiting.splice(place, 1)
  if (!next) return
  running++
  if (next.isLarge) largeRunning++
  next.begin()
}
