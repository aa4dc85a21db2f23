import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Principal } from '../../identity/principal.ts'

/** A request that is over. But for the id, which a caller may choose, nothing here is what the caller wrote. */
export type FinishedRequest = {
  requestId: string
  /** Its name in the contract; of what is no operation, the pattern of its route. */
  operation: string
  /** The pattern of its route; null when there is none. */
  path: string | null
  method: string
  status: number
  milliseconds: number
  principal: Principal | null
  /** The limit by which it was refused with 429. */
  refusedBy: string | null
}

/** Told of every request when it comes and when it is over. */
export type RequestWatcher = { arrived: () => void; finished: (finished: FinishedRequest) => void }

export type EndSpan = (finished: FinishedRequest) => void

/** Has a request served within a span of its own, which ends when it is told what became of the request. */
export type Trace = (request: IncomingMessage, operation: string, serve: () => void) => EndSpan

/** As nginx has it: the caller left before the response was sent. */
export const callerLeft = 499

export const tellFinished = (
  watchers: readonly RequestWatcher[],
  endSpan: EndSpan | null,
  { req, writableFinished, statusCode }: ServerResponse,
  more: Omit<FinishedRequest, 'method' | 'status'>,
): void => {
  const finished = { ...more, method: req.method ?? '', status: writableFinished ? statusCode : callerLeft }
  for (const watcher of watchers) watcher.finished(finished)
  endSpan?.(finished)
}
