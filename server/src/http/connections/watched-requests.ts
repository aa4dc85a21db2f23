import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../../identity/principal.ts'

/** A request that is over. But for the id, which a caller may choose, nothing here is what the caller wrote. */
export type Answered = {
  requestId: string
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
export type RequestWatcher = { arrived: () => void; answered: (answered: Answered) => void }

/** As nginx has it: the caller left before the answer was sent. */
export const callerLeft = 499

/** They hear of the end also when the caller left: a hook of the framework would not. */
export const watchRequest = (
  watchers: readonly RequestWatcher[],
  request: FastifyRequest,
  reply: FastifyReply,
): void => {
  for (const watcher of watchers) watcher.arrived()
  reply.raw.once('close', () => {
    const answered = {
      requestId: request.id,
      ...routeOf(request),
      method: request.method,
      status: reply.raw.writableFinished ? reply.raw.statusCode : callerLeft,
      milliseconds: reply.elapsedTime,
      principal: request.principal ?? null,
      refusedBy: request.refusedBy ?? null,
    }
    for (const watcher of watchers) watcher.answered(answered)
  })
}

/** Its name in the contract; of what is no operation, the pattern of its route. Never the address, which callers choose. */
export const routeOf = (request: FastifyRequest): { operation: string; path: string | null } => {
  const { config, url } = request.routeOptions
  if (request.is404 || url === undefined) return { operation: 'other', path: null }
  const { operation = url } = config as { operation?: string } // set where operations are mounted
  return { operation, path: url }
}
