import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'

type Value = { stringValue?: string; intValue?: number; boolValue?: boolean }
type SentSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  attributes: { key: string; value: Value }[]
  status: { code?: number; message?: string }
  events?: object[]
}
type SentTraces = { resourceSpans: { resource: object; scopeSpans: { spans: SentSpan[] }[] }[] }

export type TracedSpan = Omit<SentSpan, 'attributes'> & { attributes: Record<string, unknown> }

/** A collector of OpenTelemetry on loopback, which keeps what it is sent as JSON; one that hangs takes it and never answers. */
export const startReceiver = async ({ hangs = false } = {}) => {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    bodies.push(`${request.method} ${request.url} ${await text(request)}`)
    if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : ''
  const spans = (): TracedSpan[] =>
    bodies
      .map((body): SentTraces => JSON.parse(body.replace('POST /v1/traces ', '')))
      .flatMap(({ resourceSpans }) => resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans)
      .sort((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)))
      .map(({ attributes, ...span }) => ({
        ...span,
        attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
      }))
  return { endpoint: `http://127.0.0.1:${port}`, bodies, spans }
}
