import type { IncomingMessage, ServerResponse } from 'node:http'
import { basePath } from '@masthead/contract'
import { hasScope, type Principal, type Principals } from '../identity/principal.ts'
import { type AnswerCache, type Form, type KnownAnswer, mayRemember } from './answer-cache.ts'
import { callerLeft, type RequestWatcher } from './answered-requests.ts'
import { tokenIn } from './authenticate.ts'
import { chooseEncoding } from './compression.ts'
import type { Charge, RateLimiter } from './rate-limit.ts'
import { requestId } from './request-id.ts'
import { sendForm } from './send-form.ts'

type Surroundings = {
  principals: Principals
  answers: AnswerCache
  /** Null where nothing is limited. */
  limiter: RateLimiter | null
  watchers: readonly RequestWatcher[]
  /** Says that an answer is under way; false when none may begin any more. */
  begin: (response: ServerResponse) => boolean
}

type Found = { principal: Principal; answer: KnownAnswer; form: Form; isCurrent: boolean }

/**
 * Answers what is in memory before the framework looks at it: the way through its routes and hooks costs as much again.
 * Whatever is not as simple as that is left to the framework.
 */
export const answerFromMemory = ({ principals, answers, limiter, watchers, begin }: Surroundings) => {
  const find = ({ method, url = '', headers }: IncomingMessage): Found | null => {
    if (method !== 'GET' || !url.startsWith(basePath) || !mayRemember(headers)) return null
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return null
    const token = tokenIn(headers.authorization)
    const principal = token && principals.recall(token)
    if (!principal) return null
    const answer = answers.find(principal.tenantId, url)
    const form = answer && answers.knownForm(answer, chooseEncoding(headers['accept-encoding']))
    if (!form || !hasScope(principal, answer.scope)) return null
    const ifNoneMatch = headers['if-none-match']
    if (ifNoneMatch !== undefined && ifNoneMatch !== form.headers.etag) return null
    return { principal, answer, form, isCurrent: ifNoneMatch !== undefined }
  }

  const send = (
    { principal, answer, form, isCurrent }: Found,
    charge: Charge | null,
    request: IncomingMessage,
    response: ServerResponse,
    began: number,
  ) => {
    answers.noteGiven()
    const id = requestId(request.headers['x-request-id'])
    for (const watcher of watchers) watcher.arrived()
    response.once('close', () => {
      charge?.leave()
      if (watchers.length === 0) return
      const { operation, path } = answer
      const status = response.writableFinished ? response.statusCode : callerLeft
      const milliseconds = performance.now() - began
      const told = { requestId: id, operation, path, method: 'GET', status, milliseconds, principal, refusedBy: null }
      for (const watcher of watchers) watcher.answered(told)
    })
    sendForm(response, form, isCurrent, id, charge)
  }

  return (request: IncomingMessage, response: ServerResponse, leave: () => void): void => {
    const began = performance.now()
    const found = find(request)
    const go = (charge: Charge | null) => {
      // The caller may have hung up while Redis was asked.
      if (response.closed) charge?.leave()
      // Refusals are told by the framework, and counted by nobody.
      else if (!found || charge?.refused || !begin(response)) {
        charge?.leave()
        leave()
      } else send(found, charge, request, response, began)
    }
    const charge = found && limiter ? limiter.call(found.principal) : null
    if (charge instanceof Promise) charge.then(go, leave)
    else go(charge)
  }
}
