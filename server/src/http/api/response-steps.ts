import type { Problem } from '../../problem.ts'
import { isCurrent } from '../responses/conditional.ts'
import { openToAllOrigins } from '../responses/cross-origin.ts'
import { encode, isLeftPlain, tagIn } from '../responses/encoding.ts'
import { asProblem, problemResponse } from '../responses/problems.ts'
import { sendNotModified, sendResponse } from '../responses/send.ts'
import { challenge, resourceMetadataPath } from './callers/authenticate.ts'
import { type Exchange, found, type Step } from './exchange.ts'

export const conditional: Step = (exchange) => {
  if (exchange.tags === null || !found(exchange.route).isRead) return
  const tag = tagIn(found(exchange.plain), exchange.encoding)
  if (tag !== undefined && isCurrent(exchange.tags, tag)) exchange.currentTag = tag
}

export const encoding: Step = (exchange) => {
  const { api, cached, encoding } = exchange
  const plain = found(exchange.plain)
  const isPlain = exchange.currentTag !== null || isLeftPlain(plain, encoding)
  exchange.encoded = isPlain ? plain : (cached?.encoded[encoding] ?? null)
  if (exchange.encoded) return undefined
  const made = cached && api.cache ? api.cache.encodedIn(cached, encoding) : encode(plain, encoding)
  return made.then((encoded) => {
    exchange.encoded = encoded
  })
}

export const send: Step = ({ response, encoded, currentTag, isFromCache, charge, requestId }) => {
  // Nothing had to be read or sent.
  if (currentTag !== null && isFromCache) charge?.refund()
  const own = { 'x-request-id': requestId, ...charge?.headers() }
  if (currentTag === null) sendResponse(response, found(encoded), own)
  else sendNotModified(response, found(encoded), currentTag, own)
}

/** What a step has thrown, instead of all later steps. */
export const refuse = (exchange: Exchange, error: unknown): void => {
  const { api, request, response, requestId } = exchange
  const problem = asProblem(error, { request, requestId, log: api.log })
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
  return challenge(
    problem,
    baseUrl + resourceMetadataPath(contract),
    route?.scopes.map((scope) => prefix + scope).join(' '),
  )
}
