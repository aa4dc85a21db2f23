import { complain, messageOf } from './output.ts'

/** Aborts when the process is asked to stop, which then ends in its own way; asked again, it ends at once. */
export const stopSignal = (): AbortSignal => {
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort())
  return stopping.signal
}

export const whenAborted = (signal: AbortSignal, stop: () => Promise<void>): void => {
  const stopOnce = () => {
    stop().catch((error) => {
      complain(`stopping failed: ${messageOf(error)}`)
      process.exitCode = 1
    })
  }
  if (signal.aborted) stopOnce()
  else signal.addEventListener('abort', stopOnce, { once: true })
}
