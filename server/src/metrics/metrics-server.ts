import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { prometheusContentType } from 'prom-client'
import { createServer } from '../http/node-internals/node-http.ts'

/** Measures are for whoever may reach this port. */
export type MetricsServer = { url: string; close: () => Promise<void> }

export const serveMetrics = async (
  { host, port }: { host: string; port: number },
  text: () => Promise<string>,
  onError: (error: Error) => void,
): Promise<MetricsServer> => {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Measures are at GET /metrics.\n')
      return
    }
    text().then(
      (measures) => response.writeHead(200, { 'content-type': prometheusContentType }).end(measures),
      (error) => {
        onError(error)
        response.writeHead(500).end()
      },
    )
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
