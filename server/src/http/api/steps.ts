import { largest } from '@masthead/contract'
import { type Principal, requireScope } from '../../identity/principal.ts'
import { Problem } from '../../problem.ts'
import { stopping } from '../connections/in-flight.ts'
import { isCurrent, readTags } from '../responses/conditional.ts'
import { openToAllOrigins, preflightHeaders } from '../responses/cross-origin.ts'
import { encode, isLeftPlain, tagIn } from '../responses/encoding.ts'
import {
  asProblem,
  brokenPath,
  methodNotAllowed,
  nothingAt,
  problemResponse,
  urlTooLong,
} from '../responses/problems.ts'
import { mayBeCached } from '../responses/response-cache.ts'
import { sendNotModified, sendResponse } from '../responses/send.ts'
import { authenticate, challenge, knownHolder, resourceMetadataPath } from './authenticate.ts'
import { type Exchange, found } from './exchange.ts'
import { read, write } from './handler.ts'
import { fingerprint, readKey } from './idempotency.ts'
import type { Charge } from './rate-limit.ts'
import { readBytes } from './request-body.ts'
import { readQuery } from './request-query.ts'
import { TooManyUnknownTokens } from './unknown-tokens.ts'

/** Passes, or throws what the request is refused with. It gives a promise only where something has to be waited for. */
type Step = (exchange: Exchange) => Promise<void> | undefined

/** Refuses while the server is being stopped, and what is too long to be looked at. */
const admission: Step = ({ api, url }) => {
  if (api.inFlight.isStopping) throw stopping()
  if (url.length > largest.urlBytes) throw urlTooLong()
}

/** A preflight of a browser needs no token; whatever is sent here, no later step is taken. */
const preflight: Step = ({ api, destination, request, response, requestId }) => {
  if (request.method !== 'OPTIONS' || !api.isOpenToAllOrigins || destination.routes.size === 0) return
  const headers = { ...openToAllOrigins, ...preflightHeaders(allowedMethods(destination.routes)) }
  response.writeHead(204, { ...headers, 'x-request-id': requestId }).end()
}

const allowedMethods = (routes: Exchange['destination']['routes']): string[] => [
  ...routes.keys().flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
  'OPTIONS',
]

const token: Step = (exchange) => {
  exchange.principal = knownHolder(exchange.api.principals, exchange.request)
  return exchange.principal ? undefined : findHolder(exchange)
}

/** Whoever was refused for their rate a moment ago is charged before the database is asked. */
const findHolder = async (exchange: Exchange): Promise<void> => {
  const { principals, limiter, refusedCallers, addressOf } = exchange.api
  const { request } = exchange
  const refused = limiter && refusedCallers.find(request.headers.authorization)
  if (refused) await charge(exchange, refused)
  try {
    exchange.principal = await authenticate(
      principals,
      request,
      () => addressOf(request),
      limiter?.unknownTokens ?? null,
    )
  } catch (error) {
    if (error instanceof TooManyUnknownTokens) exchange.refusedBy = 'unknown-tokens'
    throw error
  }
}

const rate: Step = (exchange) => (exchange.charge ? undefined : charge(exchange, found(exchange.principal)))

const charge = (exchange: Exchange, principal: Principal): Promise<void> | undefined => {
  const charged = exchange.api.limiter?.call(principal)
  if (charged instanceof Promise) return charged.then((late) => accept(exchange, principal, late))
  return charged && accept(exchange, principal, charged)
}

const accept = (exchange: Exchange, principal: Principal, charged: Charge): undefined => {
  // The caller may have hung up while Redis was asked or the token was looked up.
  if (exchange.response.closed) charged.leave()
  else exchange.charge = charged
  if (!charged.refused) return
  const { limit, detail, seconds } = charged.refused
  // Counted from when the token was known to be good.
  if (exchange.principal) exchange.api.refusedCallers.note(exchange.request.headers.authorization, principal)
  // Log and metrics tell who it was, also when the token was not looked up for it.
  exchange.principal = principal
  exchange.refusedBy = limit
  throw new Problem('too_many_requests', detail, { headers: { 'retry-after': String(seconds) } })
}

const path: Step = ({ destination: { isBroken, routes }, route, url, request: { method = '' } }) => {
  if (isBroken) throw brokenPath()
  if (!route) throw routes.size === 0 ? nothingAt(url) : methodNotAllowed(method, allowedMethods(routes))
}

const scope: Step = ({ principal, route }) => {
  requireScope(found(principal), found(route).scope)
}

const request: Step = (exchange) => {
  const { isRead } = found(exchange.route)
  if (isRead) return judgeRead(exchange)
  const reading = readBytes(exchange.request, exchange.response)
  return reading ? reading.then((bytes) => judgeWrite(exchange, bytes)) : judgeWrite(exchange, undefined)
}

/** The URL of a cached response was judged when that was made. */
const judgeRead = (exchange: Exchange): undefined => {
  const { api, url, request, route } = exchange
  exchange.tags = readTags('If-None-Match', request.headers['if-none-match'])
  if (api.cache && mayBeCached(request.headers))
    exchange.cached = api.cache.find(found(exchange.principal).tenantId, url)
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

const idempotency: Step = (exchange) => {
  const { method = '', headers } = exchange.request
  const key = method === 'POST' ? readKey(headers['idempotency-key']) : null
  if (key === null) return
  const { lineage } = found(exchange.principal)
  exchange.retriable = { principal: lineage, key, fingerprint: fingerprint(method, exchange.url, exchange.bytes) }
}

const handler: Step = (exchange) => {
  const { api, cached, route } = exchange
  if (!cached) return found(route).isRead ? read(exchange) : write(exchange).finally(api.afterWrite)
  exchange.plain = cached.plain
  exchange.isFromCache = true
  api.cache?.noteHit()
  return undefined
}

const conditional: Step = (exchange) => {
  if (exchange.tags === null || !found(exchange.route).isRead) return
  const tag = tagIn(found(exchange.plain), exchange.encoding)
  if (tag !== undefined && isCurrent(exchange.tags, tag)) exchange.currentTag = tag
}

const encoding: Step = (exchange) => {
  const { api, cached, encoding } = exchange
  const plain = found(exchange.plain)
  const isPlain = exchange.currentTag !== null || isLeftPlain(plain, encoding)
  exchange.encoded = isPlain ? plain : (cached?.encoded.get(encoding) ?? null)
  if (exchange.encoded) return undefined
  const made = cached && api.cache ? api.cache.encodedIn(cached, encoding) : encode(plain, encoding)
  return made.then((encoded) => {
    exchange.encoded = encoded
  })
}

const send: Step = ({ response, encoded, currentTag, isFromCache, charge, requestId }) => {
  // Nothing had to be read or sent.
  if (currentTag !== null && isFromCache) charge?.refund()
  const own = { requestId, rate: charge?.headers() ?? {} }
  if (currentTag === null) sendResponse(response, found(encoded), own)
  else sendNotModified(response, found(encoded), currentTag, own)
}

/** What every call goes through. A request that is refused goes no further than the step that refuses it. */
const steps: readonly Step[] = [
  admission,
  preflight,
  token,
  rate,
  path,
  scope,
  request,
  idempotency,
  handler,
  conditional,
  encoding,
  send,
]

/** Takes the steps from this one on, all of them at once where none has to wait. */
export const takeSteps = (exchange: Exchange, from = 0): void => {
  try {
    for (let index = from; index < steps.length && !exchange.response.headersSent; index++) {
      const waiting = steps[index]?.(exchange)
      if (waiting) {
        waiting.then(
          () => takeSteps(exchange, index + 1),
          (error) => refuse(exchange, error),
        )
        return
      }
    }
  } catch (error) {
    refuse(exchange, error)
  }
}

const refuse = (exchange: Exchange, error: unknown): void => {
  const { api, request, response, requestId } = exchange
  const problem = asProblem(error, { raw: request, id: requestId, log: api.log })
  // Whoever has the head of another response already must not take this for its body.
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, headers, body } = problemResponse(problem, api.baseUrl, requestId)
  response
    .writeHead(status, {
      ...(api.isOpenToAllOrigins && openToAllOrigins),
      ...exchange.charge?.headers(),
      ...headers,
      ...((status === 401 || status === 403) && { 'www-authenticate': challengeOf(exchange, problem) }),
      'x-request-id': requestId,
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}

const challengeOf = ({ api, route, principal }: Exchange, problem: Problem): string => {
  const { contract, baseUrl } = api
  // An application asks for a scope under its longer name.
  const prefix = principal?.kind === 'delegated' ? contract.scopePrefix : ''
  return challenge(problem, baseUrl + resourceMetadataPath(contract), route && prefix + route.scope)
}
