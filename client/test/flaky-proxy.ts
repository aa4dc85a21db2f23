import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { garblers } from '../../server/test/requests/judged-responses.ts'

/** What happens to a request instead of going through. */
export type Mishap =
  /** It is answered so, and never arrives. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The connection breaks before it arrives, or when the service has answered. */
  | 'reset before'
  | 'reset after'
  /** Nobody answers. */
  | 'silence'
  | 'none'

export type FlakyProxy = {
  origin: string
  /** What happens to the next requests, one each; the others go through. */
  mishaps: Mishap[]
  /** What came, in order. */
  seen: { method: string; url: string; headers: IncomingMessage['headers']; at: number; status: number | null }[]
}

/** Stands in front of a service, and ends with the test file. */
export const startFlakyProxy = async (target: string): Promise<FlakyProxy> => {
  const proxy: FlakyProxy = { origin: '', mishaps: [], seen: [] }
  const server = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await Array.fromAsync(incoming))
    const { method = '', url = '', headers } = incoming
    const seen: FlakyProxy['seen'][number] = { method, url, headers, at: performance.now(), status: null }
    proxy.seen.push(seen)
    const mishap = proxy.mishaps.shift() ?? 'none'
    if (mishap === 'silence') return
    if (mishap === 'reset before') return incoming.socket.resetAndDestroy()
    if (typeof mishap === 'object') return outgoing.writeHead(mishap.status, mishap.headers).end(mishap.body ?? '')
    const answer = await pass(target, incoming, body)
    seen.status = answer.statusCode ?? null
    if (mishap === 'reset after') return incoming.socket.resetAndDestroy()
    return send(answer, outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  proxy.origin = `http://127.0.0.1:${port}`
  garblers.add(proxy.origin)
  return proxy
}

const pass = async (target: string, { method, url, headers }: IncomingMessage, body: Buffer) => {
  const outgoing = request(new URL(url ?? '/', target), { ...(method && { method }), headers, agent: false })
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage] // as `response` is emitted
  return answer
}

const send = (answer: IncomingMessage, outgoing: ServerResponse): void => {
  outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
  answer.pipe(outgoing)
}
