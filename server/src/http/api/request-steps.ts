import { admit } from '../connections/in-flight.ts'
import { readTags } from '../responses/conditional.ts'
import { openToAllOrigins, preflightHeaders } from '../responses/cross-origin.ts'
import { acceptsEvents } from '../responses/media-type.ts'
import { brokenPath, methodNotAllowed, nothingAt } from '../responses/problems.ts'
import { mayBeCached } from '../responses/response-cache.ts'
import { type Exchange, found, type Step } from './exchange.ts'
import { cacheKeyOf } from './read-ahead.ts'
import { fingerprint, readKey } from './requests/idempotency.ts'
import { readBytes } from './requests/request-body.ts'
import { readQuery } from './requests/request-query.ts'

export const admission: Step = ({ api, url }) => {
  admit(api.inFlight, url)
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

export const path: Step = ({ destination: { isBroken, routes, meant }, route, url, request: { method = '' } }) => {
  if (isBroken) throw brokenPath()
  if (!route) throw routes.size === 0 ? nothingAt(url, meant?.()) : methodNotAllowed(method, allowedMethods(routes))
}

export const request: Step = (exchange) => {
  const { isRead } = found(exchange.route)
  if (isRead) return judgeRead(exchange)
  const reading = readBytes(exchange.request, exchange.response)
  return reading ? reading.then((bytes) => judgeWrite(exchange, bytes)) : judgeWrite(exchange, undefined)
}

/** The URL of a cached response was judged when that was made. */
const judgeRead = (exchange: Exchange): undefined => {
  const { api, url, request } = exchange
  const { operation, scopes } = found(exchange.route)
  const principal = found(exchange.principal)
  exchange.tags = readTags('If-None-Match', request.headers['if-none-match'])
  exchange.cacheKey = cacheKeyOf(url, scopes, principal)
  if (operation.followed && request.method === 'GET') exchange.following = followingOf(exchange)
  if (
    api.cache &&
    exchange.versions !== null &&
    !exchange.following &&
    !operation.isVolatile &&
    mayBeCached(request.headers)
  )
    exchange.cached = api.cache.find(principal.tenantId, exchange.cacheKey, exchange.versions.records)
  if (!exchange.cached) exchange.query = exchange.ahead?.query ?? readQuery(url, operation.query)
}

/** A response that was cached has not waited for anything. */
const followingOf = ({ url, request, route }: Exchange): Exchange['following'] => {
  const { accept, 'last-event-id': lastEventId } = request.headers
  if (acceptsEvents(accept)) return { as: 'stream', after: typeof lastEventId === 'string' ? lastEventId : undefined }
  const { wait } = url.includes('wait=') ? readQuery(url, found(route).operation.query) : {}
  return typeof wait === 'number' && wait > 0 ? { as: 'response', seconds: wait } : null
}

const judgeWrite = (exchange: Exchange, bytes: Buffer | undefined): undefined => {
  const { url, request, route } = exchange
  const { operation, readBody } = found(route)
  exchange.tags = operation.conditional ? readTags('If-Match', request.headers['if-match']) : null
  exchange.query = readQuery(url, operation.query)
  exchange.bytes = bytes
  exchange.body = readBody(request.headers, bytes)
}

export const idempotency: Step = (exchange) => {
  const { method = '', headers } = exchange.request
  const key = method === 'POST' ? readKey(headers['idempotency-key']) : null
  if (key === null) return
  const { lineage } = found(exchange.principal)
  exchange.retriable = { principal: lineage, key, fingerprint: fingerprint(method, exchange.url, exchange.bytes) }
}
