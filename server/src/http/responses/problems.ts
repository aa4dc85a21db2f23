import type { IncomingMessage } from 'node:http'
import { largest, type Problem as ProblemBody, problems } from '@masthead/contract'
import { isUnavailable } from '../../database/connections/unavailable.ts'
import { Busy } from '../../database/fair-queue.ts'
import type { PlainResponse } from '../../database/idempotency-records.ts'
import { codeOf } from '../../error-message.ts'
import type { Log } from '../../log/log.ts'
import { conflictOf, Problem, unavailable } from '../../problem.ts'
import { Refusal } from '../../refusal.ts'

export const urlTooLong = (): Problem =>
  new Problem('url_too_long', `The URL has more than ${largest.urlBytes / 1024} KiB.`)

export const bodyTooLarge = (most: number): Problem =>
  new Problem('body_too_large', `The body has more than ${most / 1024} KiB.`)

export const cutOff = (): Problem => new Problem('malformed_request', 'The request was not sent to its end.')

export const brokenPath = (): Problem => new Problem('malformed_request', 'The path holds a broken percent-encoding.')

export const nothingAt = (url: string, meant?: string | null): Problem => {
  const suggestion = meant ? ` Did you mean \`${meant.slice(0, 200)}\`?` : ''
  return new Problem('not_found', `There is nothing at ${url.split('?', 1)[0]?.slice(0, 200)}.${suggestion}`)
}

export const methodNotAllowed = (method: string, allowed: readonly string[]): Problem =>
  new Problem('method_not_allowed', `${method} is not possible here; ${allowed.join(', ')} are.`, {
    headers: { allow: allowed.join(', ') },
  })

export const unsupportedMediaType = (detail: string, header = 'Content-Type'): Problem =>
  new Problem('unsupported_media_type', detail, { errors: [{ header, code: 'not_supported', detail }] })

type FailedRequest = { request: IncomingMessage; requestId: string; log: Log }

/** Every failure becomes a problem; what the caller did not cause is logged and never shown. */
export const asProblem = (error: unknown, { request, requestId, log }: FailedRequest): Problem => {
  if (error instanceof Problem) return error
  if (request.destroyed && !request.complete) return cutOff()
  // Such as a member, while a token is made for them. Where a record refers to nothing, `write` has named the property.
  if (codeOf(error) === foreignKeyViolation)
    return new Problem('invalid_body', 'What it names was removed at this very moment.')
  if (error instanceof Refusal) return conflictOf(error)
  // Nothing is wrong here, and whoever sends too much must not fill the log.
  if (error instanceof Busy) return unavailable('Too many calls wait already.')
  if (isUnavailable(error)) {
    log.warn({ reqId: requestId, err: error }, 'the database did not answer')
    return unavailable('The service cannot reach its data right now.')
  }
  log.error({ reqId: requestId, err: error }, 'a request failed')
  return new Problem('internal_error', 'Something went wrong on our side. The `requestId` finds it in the log.')
}

const foreignKeyViolation = '23503'

export const problemBody = (problem: Problem, baseUrl: string, requestId: string): ProblemBody => ({
  type: `${baseUrl}/problems/${problem.code}`,
  title: problems[problem.code].title,
  status: problem.status,
  detail: problem.message,
  code: problem.code,
  requestId,
  ...(problem.errors.length > 0 && { errors: problem.errors }),
})

/** What a caller sent and a detail repeats may hold, or be cut to, half of a surrogate pair, which many JSON readers refuse. */
const wellFormed = (_member: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value

/** The problem as it is sent, but for what belongs to each request. */
export const problemResponse = (problem: Problem, baseUrl: string, requestId: string): PlainResponse => ({
  status: problem.status,
  headers: {
    'cache-control': 'no-store',
    ...problem.headers,
    'content-type': 'application/problem+json; charset=utf-8',
  },
  body: JSON.stringify(problemBody(problem, baseUrl, requestId), wellFormed),
})
