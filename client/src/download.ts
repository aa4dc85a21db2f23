import { withDeadline } from './deadline.ts'
import { ConnectionError, MastheadError } from './errors.ts'
import { type Failure, isPassing, pauseMilliseconds } from './retries.ts'

export type DownloadOptions = {
  signal?: AbortSignal | undefined
  /** How long a connection may bring nothing. */
  quietMilliseconds: number
  /** How often in a row a connection may fail without bringing anything. */
  retries: number
  /** The first byte to bring. */
  from: number
}

type Connections = {
  /** Asks for the file from a byte on, if it still has the tag. The signal ends the connection. */
  open: (from: number, etag: string | null, attempt: number, signal: AbortSignal) => Promise<Response | Failure>
  onPause: (from: number, attempt: number, error: MastheadError, milliseconds: number) => void
}

/** The bytes of a file as they come. A connection that breaks or is silent is followed by another one, which goes on after the last byte. */
export async function* downloaded(
  { signal, quietMilliseconds, retries, from }: DownloadOptions,
  { open, onPause }: Connections,
): AsyncGenerator<Uint8Array, void, undefined> {
  const soon = <T>(work: Promise<T>): Promise<T> =>
    withDeadline(quietMilliseconds, signal, (deadline) => deadline.during(work))
  let at = from
  let etag: string | null = null
  for (let attempt = 1; ; attempt++) {
    const connection = new AbortController()
    try {
      const opened: Response | Failure = await soon(open(at, etag, attempt, connection.signal))
      if (opened instanceof MastheadError) throw opened
      if (opened.status !== (at === 0 ? 200 : 206)) throw new MastheadError('the file is not the one that was begun')
      etag = opened.headers.get('etag')
      const reader = opened.body?.getReader()
      for (;;) {
        const part = await soon(reader?.read().catch(broken) ?? Promise.resolve(undefined))
        if (!part?.value) return
        attempt = 1
        at += part.value.length
        yield part.value
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (!isPassing(error) || attempt > retries) throw error
      const pause = pauseMilliseconds(error, attempt)
      onPause(at, attempt, error, pause)
      await withDeadline(Number.POSITIVE_INFINITY, signal, (deadline) => deadline.sleep(pause))
    } finally {
      connection.abort()
    }
  }
}

const broken = (cause: unknown): never => {
  throw new ConnectionError('the rest of a file', cause)
}
