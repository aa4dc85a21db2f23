import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { prometheusContentType } from 'prom-client'
import { createServer } from '../node-http.ts'

/** Serves metrics without authentication: anyone who can reach the port may read them. */
export const serveMetrics = async (
  { host, port }: { host: string; port: number },
  text: () => Promise<string>,
  onError: (error: Error) => void,
) => {
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Metrics are at GET /metrics.\n')
      return
    }
    try {
      const metrics = await text()
      response.writeHead(200, { 'content-type': prometheusContentType }).end(metrics)
    } catch (error) {
      onError(error as Error) // prom-client and our own code throw nothing else
      response.writeHead(500).end()
    }
  })
  server.listen({ host, port })
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${typeof address === 'object' ? address?.port : port}/metrics`,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
