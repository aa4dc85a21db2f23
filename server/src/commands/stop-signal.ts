import { isRunByNpm } from '../config.ts'
import { messageOf } from '../error-message.ts'
import { complain } from './output.ts'

const signals = ['SIGTERM', 'SIGINT'] as const
const parentPollMilliseconds = 200
const parent = process.ppid
/** Process managers kill a process ten seconds after they asked it to stop. */
const stopTimeoutMilliseconds = 9_000
const outputTimeoutMilliseconds = 500

/** Aborts at the first signal, so that the command can end in its own way; the second one ends the process. */
export const stopSignal = (): AbortSignal => {
  const stopping = new AbortController()
  const stop = () => {
    for (const signal of signals) process.off(signal, stop)
    stopping.abort()
  }
  for (const signal of signals) process.on(signal, stop)
  if (isRunByNpm()) {
    // npm runs commands in a shell and signals only that shell, which exits without forwarding the signal.
    const timer = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(timer)
      stopping.abort()
    }, parentPollMilliseconds).unref()
  }
  return stopping.signal
}

export const whenAborted = (signal: AbortSignal, stop: () => Promise<void>): void => {
  const stopOnce = async () => {
    // A statement or a name server may hang.
    setTimeout(() => process.exit(), stopTimeoutMilliseconds).unref()
    try {
      await stop()
    } catch (error) {
      complain(`stopping failed: ${messageOf(error)}`)
      process.exitCode = 1
    }
    // Output that nobody reads would keep the process alive.
    setTimeout(() => process.exit(), outputTimeoutMilliseconds).unref()
  }
  if (signal.aborted) void stopOnce()
  else signal.addEventListener('abort', stopOnce, { once: true })
}

/** An error after a stop is a consequence of it, not a failure. */
export const unlessStopped = (signal: AbortSignal, error: unknown): null => {
  if (signal.aborted) return null
  throw error
}
