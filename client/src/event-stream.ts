import { withDeadline } from './deadline.ts'
import { ConnectionError, MastheadError } from './errors.ts'
import { EventParser, type StreamEvent } from './event-parser.ts'
import { type Failure, isPassing, longestPauseMilliseconds, pauseMilliseconds } from './retries.ts'

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false

export type StreamOptions = {
  signal?: AbortSignal | undefined
  /** How long a connection may bring nothing, not even a comment. */
  quietMilliseconds: number
}

type Connections = {
  /** The signal ends the connection. */
  open: (lastId: string | undefined, attempt: number, signal: AbortSignal) => Promise<Response | Failure>
  onPause: (lastId: string | undefined, attempt: number, error: MastheadError, milliseconds: number) => void
}

/**
 * The events that came together, until the signal. A connection that breaks, ends or is silent is followed by another one, which
 * goes on after the last event that was taken; what trying again does not cure is thrown.
 */
export async function* reconnecting(
  options: StreamOptions,
  { open, onPause }: Connections,
): AsyncGenerator<StreamEvent[], void, undefined> {
  const { signal } = options
  let lastId: string | undefined
  for (let attempt = 1; !signal?.aborted; attempt++) {
    const begun = performance.now()
    try {
      for await (const events of eventsOf((connection) => open(lastId, attempt, connection), options)) {
        attempt = 1
        lastId = events.at(-1)?.id
        yield events
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!isPassing(error)) throw error
      // Pauses begin at the shortest one again when the service was well for a while.
      if (performance.now() - begun > longestPauseMilliseconds) attempt = 1
      const pause = pauseMilliseconds(error, attempt)
      onPause(lastId, attempt, error, pause)
      await withDeadline(Number.POSITIVE_INFINITY, signal, (deadline) => deadline.sleep(pause)).catch(() => {})
    }
  }
}

/** The events of one connection. It always fails in the end, and is closed when nobody takes more. */
async function* eventsOf(
  open: (signal: AbortSignal) => Promise<Response | Failure>,
  { signal, quietMilliseconds }: StreamOptions,
): AsyncGenerator<StreamEvent[], never, undefined> {
  const connection = new AbortController()
  // Time counts only while something is waited for: whoever takes the events may take long over them.
  const soon = <T>(work: Promise<T>): Promise<T> =>
    withDeadline(quietMilliseconds, signal, (deadline) => deadline.during(work))
  try {
    const opened = await soon(open(connection.signal))
    if (opened instanceof MastheadError) throw opened
    const reader = opened.body?.getReader()
    const decoder = new TextDecoder()
    const parser = new EventParser()
    for (;;) {
      const part = await soon(reader?.read().catch(broken) ?? Promise.resolve(undefined))
      if (!part?.value) return broken('the service ended it')
      const events = parser.take(decoder.decode(part.value, { stream: true }))
      if (events.length > 0) yield events
    }
  } finally {
    connection.abort()
  }
}

const broken = (cause: unknown): never => {
  throw new ConnectionError('the rest of a stream', cause)
}
