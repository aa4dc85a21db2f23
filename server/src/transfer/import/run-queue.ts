/** Each is a process with a connection to the database. A place is kept for what is soon done. */
const mostAtOnce = 2
const mostLargeAtOnce = 1

type Waiting = { isLarge: boolean; begin: () => void }

/** In the order in which they came. A tenant has one at a time, so none comes a second time before the others. */
const waiting: Waiting[] = []
let running = 0
let largeRunning = 0

/** Does the work when others have left a place; a signal ends the wait. */
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
