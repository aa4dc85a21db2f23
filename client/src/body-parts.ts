import { withDeadline } from './deadline.ts'
import { ConnectionError, MastheadError } from './errors.ts'
import type { Failure } from './retries.ts'

export type PartsOptions = {
  signal?: AbortSignal | undefined
  /** How long a connection may bring nothing. */
  quietMilliseconds: number
}

/** The bytes that one connection brings, as they come. It is closed when nobody takes more. */
export async function* bodyParts(
  { signal, quietMilliseconds }: PartsOptions,
  open: (connection: AbortSignal) => Promise<Response | Failure>,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const connection = new AbortController()
  // The deadline applies to the connection alone: the caller may take any time between two parts.
  const soon = <T>(work: Promise<T>): Promise<T> =>
    withDeadline(quietMilliseconds, signal, (deadline) => deadline.during(work))
  const broken = (cause: unknown): never => {
    throw new ConnectionError(`the rest of a ${name}`, cause)
  }
  try {
    const opened = await soon(open(connection.signal))
    if (opened instanceof MastheadError) throw opened
    const reader = opened.body?.getReader()
    for (;;) {
      const part = await soon(reader?.read().catch(broken) ?? Promise.resolve(undefined))
      if (!part?.value) return
      yield part.value
    }
  } finally {
    connection.abort()
  }
}
