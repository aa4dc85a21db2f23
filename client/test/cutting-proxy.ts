import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import { garblers } from '../../server/test/requests/judged-responses.ts'

export type CuttingProxy = {
  origin: string
  /** How many connections came so far. */
  connections: () => number
  /** How many are open. */
  open: () => number
  /** After so many bytes of the service a connection breaks, or goes silent; none when there is none. */
  mishap: { afterBytes: number; is: 'cut' | 'silence' } | null
}

/** Stands in front of a service, passes bytes, and ends with the test file. */
export const startCuttingProxy = async (target: string): Promise<CuttingProxy> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((client) => {
    connections++
    sockets.add(client)
    const service = connect(Number(port), hostname)
    const { mishap } = proxy
    let bytes = 0
    client.pipe(service)
    service.on('data', (part) => {
      const passed = mishap ? Math.max(0, mishap.afterBytes - bytes) : part.length
      bytes += part.length
      if (passed > 0) client.write(part.subarray(0, passed))
      if (mishap?.is === 'cut' && bytes >= mishap.afterBytes) client.end(() => client.resetAndDestroy())
    })
    service.on('end', () => client.end())
    // A side that breaks takes the other along.
    for (const [one, other] of [[client, service] as const, [service, client] as const])
      one.on('error', () => {}).on('close', () => other.destroy())
    client.on('close', () => sockets.delete(client))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port: own } = server.address() as AddressInfo // it listens on a port
  const proxy: CuttingProxy = {
    origin: `http://127.0.0.1:${own}`,
    connections: () => connections,
    open: () => sockets.size,
    mishap: null,
  }
  garblers.add(proxy.origin)
  return proxy
}
