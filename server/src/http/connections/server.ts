import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer as createListener } from 'node:net'
import { largest } from '@masthead/contract'
import { createServer } from '../../node-http.ts'

/** How long a request may take to arrive, and a caller may take nothing of its response. */
const defaultTimeoutMilliseconds = 30_000
/** How long a connection may wait for its next request: longer than usual proxies keep theirs, which may be used at any time. */
const keepAliveMilliseconds = 72_000

export const newServer = (timeoutMilliseconds = defaultTimeoutMilliseconds): Server => {
  const server = createServer({
    // Room for a URL that is too long to be refused with 414, not cut off with 431.
    maxHeaderSize: largest.headBytes,
    // Node takes the shorter limit for the head and the longer for the whole request; by itself this one is a minute.
    headersTimeout: timeoutMilliseconds,
    requestTimeout: timeoutMilliseconds,
    connectionsCheckingInterval: timeoutMilliseconds / 10,
    keepAliveTimeout: keepAliveMilliseconds,
  })
  server.setTimeout(timeoutMilliseconds)
  // RFC 9110 §10.1.1: one that is not known may be refused, which Node does with a 417 of its own, or ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}

type Where = {
  host: string
  port: number
  /** The system distributes connections over all threads that listen with it. */
  reusePort: boolean
}

/** `localhost` may have an address of IPv4 and one of IPv6, at each of which a server must listen. */
export const listen = async (server: Server, where: Where): Promise<void> => {
  await once(server.listen(where), 'listening')
  const main = server.address()
  if (where.host !== 'localhost' || main === null || typeof main === 'string') return
  for (const { address } of await lookup(where.host, { all: true })) {
    if (address === main.address) continue
    // As the server of HTTP is one itself. All connections are those of that server.
    const second = createListener({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))
    server.once('stopping', () => second.close())
    // Where it cannot be had, one address is enough.
    await once(second.listen({ ...where, host: address, port: main.port }), 'listening').catch(() => {})
  }
}
