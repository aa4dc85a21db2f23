import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { percentile } from './percentiles.ts'
import { counterEnd, counterLength, firstCounter, type Rendered, render } from './rendered.ts'
import type { Ask, LoadResult, Slice } from './slice.ts'

/**
 * Sends requests over a few connections, one at a time on each, for so many seconds, and checks every response. It measures
 * where there is no wrk. It shares the cores with the server and with PostgreSQL, so whatever it costs flattens every ratio
 * towards 1. Hence it is no HTTP client: bytes that were rendered before go out, and of what comes back it reads the status
 * and the length.
 */
type Request = Rendered & { ask: Ask; status: string; length: number | null }

let counter = firstCounter()

const requestOf = (ask: Ask): Request => ({ ...render(ask), ask, status: String(ask.status ?? 200), length: null })

const bytesOf = ({ bytes, counterAt }: Request): Buffer => {
  if (counterAt < 0) return bytes
  // A copy, because the socket may still hold the last one.
  const copy = Buffer.from(bytes)
  counter = (counter + 1) % counterEnd
  copy.write(String(counter).padStart(counterLength, '0'), counterAt, 'latin1')
  return copy
}

type ReceivedHead = { status: string; length: number; headLength: number }

const readHead = (received: Buffer): ReceivedHead | null => {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = received.toString('latin1', 0, end)
  const status = head.slice(9, 12)
  if (status === '304') return { status, length: 0, headLength: end + 4 }
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  if (length === undefined) throw new Error(`a response does not say its length: ${head}`)
  return { status, length: Number(length), headLength: end + 4 }
}

/** A fast error must not pass for speed. A read has the length that it had the first time; that of a write may vary. */
const check = (request: Request, { status, length }: ReceivedHead): void => {
  const { method = 'GET', path } = request.ask
  if (status !== request.status) throw new Error(`${method} ${path} answered ${status} instead of ${request.status}`)
  if (method !== 'GET') return
  request.length ??= length
  if (length !== request.length) throw new Error(`${path} answered ${length} bytes, and ${request.length} before`)
}

class Connection {
  readonly #socket: Socket
  readonly #answered: (milliseconds: number) => Request | null
  readonly #failed: (error: Error) => void
  #request: Request | null = null
  #sentAt = 0
  /** The beginning of a head whose end has not come yet. */
  #partial: Buffer | null = null
  #head: ReceivedHead | null = null
  #missing = 0

  constructor(
    { hostname, port }: URL,
    answered: (milliseconds: number) => Request | null,
    failed: (error: Error) => void,
  ) {
    this.#answered = answered
    this.#failed = failed
    const callback = (count: number, buffer: Uint8Array): boolean => {
      try {
        this.#receive(Buffer.from(buffer.buffer, buffer.byteOffset, count))
      } catch (error) {
        failed(error instanceof Error ? error : new Error(String(error)))
      }
      return true
    }
    // One buffer for all that comes, instead of a new one for each piece.
    const onread = { buffer: Buffer.allocUnsafe(65_536), callback }
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true, onread })
    this.#socket.on('error', failed).on('close', () => {
      // One that has done its part may be closed while others still wait for their responses.
      if (this.#request) failed(new Error(`${hostname}:${port} hung up`))
    })
  }

  async opened(): Promise<void> {
    await once(this.#socket, 'connect')
  }

  send(request: Request): void {
    this.#request = request
    this.#sentAt = performance.now()
    this.#socket.write(bytesOf(request))
  }

  #receive(chunk: Buffer): void {
    if (this.#head) this.#missing -= chunk.length
    else {
      const received = this.#partial ? Buffer.concat([this.#partial, chunk]) : chunk
      this.#head = readHead(received)
      this.#partial = this.#head ? null : Buffer.from(received)
      if (!this.#head) return
      this.#missing = this.#head.length - (received.length - this.#head.headLength)
    }
    if (this.#missing > 0) return
    if (this.#missing < 0 || !this.#request) throw new Error('more came than was announced')
    check(this.#request, this.#head)
    this.#head = null
    this.#request = null
    const next = this.#answered(performance.now() - this.#sentAt)
    if (next) this.send(next)
  }

  close(): void {
    this.#request = null
    this.#socket
      .off('error', this.#failed)
      .on('error', () => {})
      .destroy()
  }
}

const run = async ({ origin, connections, seconds, asks }: Slice): Promise<LoadResult> => {
  const requests = asks.map(requestOf)
  const latencies: number[] = []
  const open = new Set<Connection>()
  let taken = Math.floor(Math.random() * requests.length)
  let under = 0
  let deadline = Number.POSITIVE_INFINITY
  const take = (): Request => requests[taken++ % requests.length] ?? requestOf({ path: '/' })
  try {
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
    for (let number = 0; number < connections; number++) {
      const answered = (milliseconds: number): Request | null => {
        latencies.push(milliseconds)
        if (performance.now() < deadline) return take()
        if (--under === 0) resolve()
        return null
      }
      open.add(new Connection(new URL(origin), answered, reject))
    }
    await Promise.race([Promise.all([...open].map((connection) => connection.opened())), ended])
    const processor = process.cpuUsage()
    const start = performance.now()
    deadline = start + seconds * 1_000
    under = connections
    for (const connection of open) connection.send(take())
    // Whatever was begun is waited for: of a server that needs longer than the slice, something must count.
    await ended
    const elapsed = performance.now() - start
    const { user, system } = process.cpuUsage(processor)
    latencies.sort((a, b) => a - b)
    return {
      rate: (latencies.length / elapsed) * 1_000,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      seconds: elapsed / 1_000,
      count: latencies.length,
      busy: (user + system) / 1_000 / elapsed,
    }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  } finally {
    for (const connection of open) connection.close()
  }
}

process.on('message', async (slice: Slice) => {
  process.send?.(await run(slice))
})
process.on('disconnect', () => process.exit())
