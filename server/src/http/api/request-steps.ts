import { largest } from '@masthead/contract'
import { stopping } from '../connections/in-flight.ts'
import { readTags } from '../responses/conditional.ts'
import { openToAllOrigins, preflightHeaders } from '../responses/cross-origin.ts'
import { brokenPath, methodNotAllowed, nothingAt, urlTooLong } from '../responses/problems.ts'
import { mayBeCached } from '../responses/response-cache.ts'
import { type Exchange, found, type Step } from './exchange.ts'
import { fingerprint, readKey } from './requests/idempotency.ts'
import { readBytes } from './requests/request-body.ts'
import { readQuery } from './requests/request-query.ts'

/** Refuses while the server is being stopped, and what is too long to be looked at. */
export const admission: Step = ({ api, url }) => {
  if (api.inFlight.isStopping) throw stopping()
  if (url.length > largest.urlBytes) throw urlTooLong()
}

/** A preflight of a browser needs no token; whatever is sent here, no later step is taken. */
export const preflight: Step = ({ api, destination, request, response, requestId }) => {
  if (request.method !== 'OPTIONS' || !api.isOpenToAllOrigins || destination.routes.size === 0) return
  const headers = { ...openToAllOrigins, ...preflightHeaders(allowedMethods(destination.routes)) }
  response.writeHead(204, { ...headers, 'x-request-id': requestId }).end()
}

const allowedMethods = (routes: Exchange['destination']['routes']): string[] => [
  ...routes.keys().flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
  'OPTIONS',
]

export const path: Step = ({ destination: { isBroken, routes }, route, url, request: { method = '' } }) => {
  if (isBroken) throw brokenPath()
  if (!route) throw routes.size === 0 ? nothingAt(url) : methodNotAllowed(method, allowedMethods(routes))
}

export const request: Step = (exchange) => {
  const { isRead } = found(exchange.route)
  if (isRead) return judgeRead(exchange)
  const reading = readBytes(exchange.request, exchange.response)
  return reading ? reading.then((bytes) => judgeWrite(exchange, bytes)) : judgeWrite(exchange, undefined)
}

/** The URL of a cached response was judged when that was made. */
const judgeRead = (exchange: Exchange): undefined => {
  const { api, url, request, route } = exchange
  exchange.tags = readTags('If-None-Match', request.headers['if-none-match'])
  if (api.cache && exchange.versions !== null && mayBeCached(request.headers))
    exchange.cached = api.cache.find(found(exchange.principal).tenantId, url, exchange.versions.records)
  if (!exchange.cached) exchange.query = readQuery(url, found(route).operation.query)
}

const judgeWrite = (exchange: Exchange, bytes: Buffer | undefined): undefined => {
  const { url, request, route } = exchange
  const { operation, readBody } = found(route)
  exchange.tags = operation.conditional ? readTags('If-Match', request.headers['if-match']) : null
  exchange.query = readQuery(url, operation.query)
  exchange.bytes = bytes
  exchange.body = readBody(request.headers['content-type'], bytes)
}

export const idempotency: Step = (exchange) => {
  const { method = '', headers } = exchange.request
  const key = method === 'POST' ? readKey(headers['idempotency-key']) : null
  if (key === null) return
  const { lineage } = found(exchange.principal)
  exchange.retriable = { principal: lineage, key, fingerprint: fingerprint(method, exchange.url, exchange.bytes) }
}
