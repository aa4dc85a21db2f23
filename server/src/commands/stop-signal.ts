import { isRunByNpm } from '../config.ts'
import { complain, messageOf } from './output.ts'

/** Aborts when the process is asked to stop, which then ends in its own way; asked again, it ends at once. */
export const stopSignal = (): AbortSignal => {
  const stopping = new AbortController()
  const stop = () => {
    for (const signal of signals) process.off(signal, stop)
    stopping.abort()
  }
  for (const signal of signals) process.on(signal, stop)
  if (isRunByNpm()) whenParentEnds(() => stopping.abort())
  return stopping.signal
}

const parentPollMilliseconds = 200
const parent = process.ppid

/** npm runs commands in a shell and signals only that shell, which exits without forwarding the signal. */
const whenParentEnds = (act: () => void): void => {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    act()
  }, parentPollMilliseconds).unref()
}

const signals = ['SIGTERM', 'SIGINT'] as const

/** Whoever stops a process kills it after ten seconds. */
const longestStopMilliseconds = 9_000
const longestFarewellMilliseconds = 500

export const whenAborted = (signal: AbortSignal, stop: () => Promise<void>): void => {
  const stopOnce = () => {
    // Whatever still hangs then, a statement or a name server, has nobody left to answer.
    setTimeout(() => process.exit(), longestStopMilliseconds).unref()
    stop()
      .catch((error) => {
        complain(`stopping failed: ${messageOf(error)}`)
        process.exitCode = 1
      })
      // What was said and is not read yet would keep the process.
      .then(() => setTimeout(() => process.exit(), longestFarewellMilliseconds).unref())
  }
  if (signal.aborted) stopOnce()
  else signal.addEventListener('abort', stopOnce, { once: true })
}

/** For what fails because it was asked to stop: that is no failure. */
export const unlessStopped = (signal: AbortSignal, error: unknown): null => {
  if (signal.aborted) return null
  throw error
}
