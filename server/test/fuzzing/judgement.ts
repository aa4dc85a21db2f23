import assert from 'node:assert/strict'
import { type ProblemCode, scopesOf } from '@masthead/contract'
import { assertConforms, assertProblemSchema, operationAt } from '../requests/contract-responses.ts'
import { assertProblem } from '../requests/problem-response.ts'
import type { CallResponse } from '../service.ts'
import type { Holder } from './token-kinds.ts'

/** What was sent, as far as it decides on what may be answered. */
export type Sent = {
  method: string
  /** Below the base path, without the query. */
  path: string
  holder: Holder
  /** When it is one that the service has to take. */
  requestId: string | undefined
  hasKey: boolean
}

/** Problems with which a request is refused before anybody looks who sent it. */
const unreadable: readonly ProblemCode[] = ['malformed_request', 'url_too_long', 'headers_too_large']
/** Problems that tell nothing of the caller. */
const unauthenticated: readonly ProblemCode[] = [...unreadable, 'missing_token', 'invalid_token']
/** Problems of addresses and methods that no operation has. */
const elsewhere: readonly ProblemCode[] = [...unauthenticated, 'not_found', 'method_not_allowed']

/** The answer is one that the contract allows to this caller for this request. */
export const assertWithinContract = (sent: Sent, answer: CallResponse): void => {
  const { status, headers, text } = answer
  assert.ok(status >= 200 && status < 500, 'the service failed')
  const requestId = headers.get('x-request-id') ?? ''
  assert.match(requestId, /^[A-Za-z0-9._-]{1,128}$/)
  if (!isUnread(answer) && sent.requestId !== undefined) assert.equal(requestId, sent.requestId)
  assert.ok(text.isWellFormed())
  if (sent.method === 'HEAD') assert.equal(text, '')
  if (status >= 400) assertRefusal(sent, answer)
  else if (sent.method === 'OPTIONS') assert.equal(status, 204)
  else assertSuccess(sent, answer)
}

/** Perhaps: an answer to HEAD has no body that would tell. */
const isUnread = ({ status, body }: CallResponse): boolean =>
  body === null ? [400, 414, 431].includes(status) : unreadable.includes(body.code)

const assertSuccess = ({ method, path, holder }: Sent, answer: CallResponse): void => {
  const { status, headers } = answer
  const named = operationAt(method, path)
  assert.ok(named, 'no operation is there')
  assert.ok(
    holder && scopesOf(named.operation).some((scope) => holder.scopes.has(scope)),
    'the token does not have this scope',
  )
  assert.ok(status === named.operation.status || (status === 304 && named.operation.method === 'GET'))
  assert.equal(headers.get('cache-control'), 'private, no-cache')
  assertOpen(headers)
  assertLimits(headers)
  if (status !== 304) assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assertConforms(named, answer, method)
}

const assertRefusal = ({ method, path, holder }: Sent, answer: CallResponse): void => {
  const { status, headers, body } = answer
  const named = operationAt(method, path)
  // Token before scope before all the rest: who lacks one of them learns only that.
  const lacking =
    holder === null
      ? 401
      : named && !scopesOf(named.operation).some((scope) => holder.scopes.has(scope))
        ? 403
        : undefined
  if (!isUnread(answer)) assert.equal([401, 403].includes(status) ? status : undefined, lacking)
  if (status === 401 || status === 403)
    assert.match(headers.get('www-authenticate') ?? '', /^Bearer (\w+="[^"\\]*"(, |$))+$/)
  if (status === 405) assert.match(headers.get('allow') ?? '', /^[A-Z]+(, [A-Z]+)+$/)
  if (method === 'HEAD') return
  const places = (body?.errors ?? []).map(({ code: _code, detail: _detail, ...place }: Record<string, string>) => place)
  // What is kept of an answer is sent again to the letter: then it names the first request.
  const requestId = headers.has('idempotency-replayed') ? headers.get('x-request-id') : body?.requestId
  assertProblem({ ...answer, body: { ...body, requestId } }, body?.code, places)
  assertProblemSchema(body)
  if (named && status !== 405) assertConforms(named, answer)
  else assert.ok(elsewhere.includes(body.code), 'no operation is there')
  if (!unreadable.includes(body.code)) assertOpen(headers)
  if (!unauthenticated.includes(body.code)) assertLimits(headers)
}

const assertOpen = (headers: Headers): void => {
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(headers.get('access-control-allow-credentials'), null)
}

const assertLimits = (headers: Headers): void => {
  assert.match(headers.get('ratelimit') ?? '', /^"token";r=\d+;t=\d+, "tenant";r=\d+;t=\d+$/)
  assert.match(headers.get('ratelimit-policy') ?? '', /^"token";q=\d+;w=\d+, "tenant";q=\d+;w=\d+$/)
}
