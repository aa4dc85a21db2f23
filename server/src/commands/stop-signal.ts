/** Aborts when the process is asked to stop, which then ends in its own way; asked again, it ends at once. */
export const stopSignal = (): AbortSignal => {
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort())
  return stopping.signal
}
