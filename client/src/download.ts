import { bodyParts, type PartsOptions } from './body-parts.ts'
import { withDeadline } from './deadline.ts'
import { MastheadError } from './errors.ts'
import { type Failure, isPassing, pauseMilliseconds } from './retries.ts'

export type DownloadOptions = PartsOptions & {
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
  options: DownloadOptions,
  { open, onPause }: Connections,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signal, retries } = options
  let at = options.from
  let etag: string | null = null
  for (let attempt = 1; ; attempt++) {
    const openHere = async (connection: AbortSignal): Promise<Response | Failure> => {
      const opened = await open(at, etag, attempt, connection)
      if (opened instanceof MastheadError) return opened
      if (!isRest(opened, at)) throw new MastheadError('the file is not the one that was begun')
      etag = opened.headers.get('etag')
      // Others may explain a 416 in its body, which is nothing of the file.
      return opened.status === 416 ? new Response() : opened
    }
    try {
      for await (const part of bodyParts(options, openHere, 'file')) {
        attempt = 1
        at += part.length
        yield part
      }
      return
    } catch (error) {
      signal?.throwIfAborted()
      if (!isPassing(error) || attempt > retries) throw error
      const pause = pauseMilliseconds(error, attempt)
      onPause(at, attempt, error, pause)
      await withDeadline(Number.POSITIVE_INFINITY, signal, (deadline) => deadline.sleep(pause))
    }
  }
}

/** RFC 9110 §15.5.17: a file of which everything has come is answered with 416 and its size, and without a body. */
const isRest = ({ status, headers }: Response, at: number): boolean =>
  status === (at === 0 ? 200 : 206) || (status === 416 && headers.get('content-range') === `bytes */${at}`)
