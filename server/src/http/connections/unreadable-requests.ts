import { once } from 'node:events'
import type { Socket } from 'node:net'
import { largest } from '@masthead/contract'
import { STATUS_CODES } from '../../node-http.ts'
import { Problem } from '../../problem.ts'
import { problemBody, urlTooLong } from '../responses/problems.ts'
import type { InFlight } from './in-flight.ts'
import { newRequestId } from './request-id.ts'
import type { RequestWatcher } from './watched-requests.ts'

/** As Node hands it to the listeners of `clientError`. */
type ConnectionError = Error & { code?: string; rawPacket?: unknown }

/** What could not even be parsed never becomes a request, but gets a response all the same. */
export class UnreadableRequests {
  readonly #baseUrl: string
  readonly #watchers: readonly RequestWatcher[]
  readonly #inFlight: InFlight
  /** They get responses to requests before what cannot be read. Each further packet comes here again. */
  readonly #answered = new WeakSet<Socket>()

  constructor(baseUrl: string, inFlight: InFlight, watchers: readonly RequestWatcher[]) {
    this.#baseUrl = baseUrl
    this.#inFlight = inFlight
    this.#watchers = watchers
  }

  readonly refuse = async (error: ConnectionError, socket: Socket): Promise<void> => {
    if (this.#answered.has(socket)) return
    // Whoever sent a whole request must hear what became of it, not of the bytes after it.
    const earlier = this.#inFlight.on(socket).filter(({ req }) => req.complete)
    if (earlier.length > 0) {
      this.#answered.add(socket)
      // What is read counts as a sign of a caller who takes what is sent. What is not read when a connection is closed costs the end of its response.
      const { timeout = 0 } = socket
      const pausing = timeout > 0 ? setTimeout(() => socket.pause(), timeout) : undefined
      await Promise.all(earlier.map((response) => once(response, 'close')))
      clearTimeout(pausing)
      this.#answered.delete(socket)
    }
    if (earlier.length > 0 || !socket.writable) socket.destroySoon()
    else this.#respond(socket, reason(error))
  }

  #respond(socket: Socket, problem: Problem): void {
    const requestId = newRequestId()
    socket.end(responseOf(problem, this.#baseUrl, requestId))
    const { status } = problem
    for (const watcher of this.#watchers) {
      watcher.arrived()
      watcher.finished({ requestId, status, ...unknown })
    }
  }
}

/** What it would have been. */
const unknown = {
  operation: 'unreadable',
  path: null,
  method: 'other',
  milliseconds: 0,
  principal: null,
  refusedBy: null,
}

const responseOf = (problem: Problem, baseUrl: string, id: string): string => {
  const body = JSON.stringify(problemBody(problem, baseUrl, id))
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    'Cache-Control: no-store',
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

const reason = ({ code, rawPacket }: ConnectionError): Problem => {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem('malformed_request', 'The request did not arrive in time.')
  if (code !== 'HPE_HEADER_OVERFLOW') return new Problem('malformed_request', 'This is not a valid HTTP request.')
  const firstLine = Buffer.isBuffer(rawPacket) ? rawPacket.indexOf('\r\n') : 0
  return firstLine < 0 || firstLine > largest.urlBytes
    ? urlTooLong()
    : new Problem('headers_too_large', `The headers have more than ${largest.headBytes / 1024} KiB.`)
}
