import { bodyParts, type PartsOptions } from './body-parts.ts'
import { withDeadline } from './deadline.ts'
import { ConnectionError, type MastheadError } from './errors.ts'
import { EventParser, type StreamEvent } from './event-parser.ts'
import { type Failure, isPassing, longestPauseMilliseconds, pauseMilliseconds } from './retries.ts'

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false

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
  options: PartsOptions,
  { open, onPause }: Connections,
): AsyncGenerator<StreamEvent[], void, undefined> {
  const { signal } = options
  let lastId: string | undefined
  for (let attempt = 1; !signal?.aborted; attempt++) {
    const begun = performance.now()
    try {
      const [decoder, parser] = [new TextDecoder(), new EventParser()]
      const openHere = (connection: AbortSignal) => open(lastId, attempt, connection)
      for await (const part of bodyParts(options, openHere, 'stream')) {
        const events = parser.take(decoder.decode(part, { stream: true }))
        if (events.length === 0) continue
        attempt = 1
        lastId = events.at(-1)?.id
        yield events
      }
      throw new ConnectionError('the rest of a stream', 'the service ended it')
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
