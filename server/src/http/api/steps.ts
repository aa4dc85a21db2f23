import type { IncomingMessage, ServerResponse } from 'node:http'
import { basePath, largest } from '@masthead/contract'
import type { FastifyBaseLogger } from 'fastify'
import { hasScope, type Principal, type Principals } from '../../identity/principal.ts'
import type { Begin } from '../connections/drain.ts'
import { requestId } from '../connections/request-id.ts'
import { callerLeft, type RequestWatcher } from '../connections/watched-requests.ts'
import { chooseEncoding } from '../responses/encoding.ts'
import { asProblem, problemAnswer } from '../responses/problems.ts'
import { type AnswerCache, mayRemember } from '../responses/response-cache.ts'
import { sendForm, sendRefusal } from '../responses/send.ts'
import { tokenIn } from './authenticate.ts'
import type { Read, ReadAnswer } from './handler.ts'
import type { Charge, RateLimiter } from './rate-limit.ts'

type Surroundings = {
  principals: Principals
  answers: AnswerCache
  reads: ReadonlyMap<string, Read>
  /** Null where nothing is limited. */
  limiter: RateLimiter | null
  watchers: readonly RequestWatcher[]
  begin: Begin
  baseUrl: string
  log: FastifyBaseLogger
}

/** Who asks for what, and the answer where it is in memory or else how to read it. */
type Found = { principal: Principal; of: Pick<Read, 'operation' | 'path' | 'scope'> } & (
  | { answer: ReadAnswer; read?: undefined }
  | { answer?: undefined; read: () => Promise<ReadAnswer> }
)

/**
 * Answers plain reads before the framework looks at them: the way through its routes and hooks costs as much again.
 * Whatever is not as simple as that is left to the framework.
 */
export const answerReads = (surroundings: Surroundings) => {
  const { principals, answers, reads, limiter, watchers, begin, baseUrl, log } = surroundings

  const find = (request: IncomingMessage): Found | null => {
    const { method, url = '', headers } = request
    if (method !== 'GET' || !url.startsWith(basePath) || url.length > largest.urlBytes) return null
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return null
    const token = tokenIn(request)
    const principal = token && principals.recall(token)
    if (!principal) return null
    const found = recall(principal, request, url) ?? plainRead(principal, request, url)
    return found && hasScope(principal, found.of.scope) ? found : null
  }

  const recall = (principal: Principal, { headers }: IncomingMessage, url: string): Found | null => {
    const of = mayRemember(headers) ? answers.find(principal.tenantId, url) : null
    const form = of && answers.knownForm(of, chooseEncoding(headers['accept-encoding']))
    const ifNoneMatch = headers['if-none-match']
    if (!form || (ifNoneMatch !== undefined && ifNoneMatch !== form.headers.etag)) return null
    return { principal, of, answer: { form, isCurrent: ifNoneMatch !== undefined, isFromMemory: true } }
  }

  const plainRead = (principal: Principal, { headers }: IncomingMessage, url: string): Found | null => {
    for (const of of reads.values()) {
      const match = of.plain.exec(url)
      if (match)
        return { principal, of, read: () => of.answer({ principal, url, params: match.groups ?? {}, headers }) }
    }
    return null
  }

  /** False when it is left to the framework. */
  const answer = (
    { principal, of, answer, read }: Found,
    charge: Charge | null,
    request: IncomingMessage,
    response: ServerResponse,
    began: number,
  ): boolean => {
    const id = requestId(request.headers['x-request-id'])
    const whenOver = () => {
      charge?.leave()
      if (watchers.length === 0) return
      const { operation, path } = of
      const status = response.writableFinished ? response.statusCode : callerLeft
      const milliseconds = performance.now() - began
      const told = { requestId: id, operation, path, method: 'GET', status, milliseconds, principal, refusedBy: null }
      for (const watcher of watchers) watcher.answered(told)
    }
    if (!begin(response, whenOver)) return false
    for (const watcher of watchers) watcher.arrived()
    if (answer) {
      answers.noteGiven()
      sendForm(response, answer, id, charge)
      return true
    }
    read()
      .then((found) => sendForm(response, found, id, charge))
      .catch((error) => {
        const problem = asProblem(error, { raw: request, id, log })
        sendRefusal(response, problemAnswer(problem, baseUrl, id), id, charge)
      })
    return true
  }

  return (request: IncomingMessage, response: ServerResponse, leave: () => void): void => {
    const began = performance.now()
    const found = find(request)
    const go = (charge: Charge | null) => {
      // The caller may have hung up while Redis was asked.
      if (response.closed) charge?.leave()
      // Refusals are told by the framework, and counted by nobody.
      else if (!found || charge?.refused || !answer(found, charge, request, response, began)) {
        charge?.leave()
        leave()
      }
    }
    const charge = found && limiter ? limiter.call(found.principal) : null
    if (charge instanceof Promise) charge.then(go, leave)
    else go(charge)
  }
}
