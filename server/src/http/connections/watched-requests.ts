import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
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

declare module 'fastify' {
  interface FastifyRequest {
    refusedBy?: string
  }
}

/** Told of every request when it comes and when it is over. */
export type RequestWatcher = { arrived: () => void; finished: (finished: FinishedRequest) => void }

export type EndSpan = (finished: FinishedRequest) => void

/** Has a request served within a span of its own, which ends when it is told what became of the request. */
export type Trace = (request: IncomingMessage, operation: string, serve: () => void) => EndSpan

/** As nginx has it: the caller left before the response was sent. */
export const callerLeft = 499

/** They hear of the end also when the caller left: a hook of the framework would not. */
export const watchPage = (
  { watchers, trace }: { watchers: readonly RequestWatcher[]; trace: Trace | null },
  request: FastifyRequest,
  reply: FastifyReply,
  serve: () => void,
): void => {
  const route = routeOf(request)
  for (const watcher of watchers) watcher.arrived()
  let endSpan: EndSpan | null = null
  reply.raw.once('close', () => {
    const finished = {
      requestId: request.id,
      ...route,
      method: request.method,
      status: reply.raw.writableFinished ? reply.raw.statusCode : callerLeft,
      milliseconds: reply.elapsedTime,
      principal: null,
      refusedBy: request.refusedBy ?? null,
    }
    for (const watcher of watchers) watcher.finished(finished)
    endSpan?.(finished)
  })
  if (trace) endSpan = trace(request.raw, route.operation, serve)
  else serve()
}

/** Never the URL, which callers choose. */
const routeOf = ({ is404, routeOptions: { url } }: FastifyRequest): Pick<FinishedRequest, 'operation' | 'path'> =>
  is404 || url === undefined ? { operation: 'other', path: null } : { operation: url, path: url }
