import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../identity/principal.ts'

/** A request that is over. But for the id, which a caller may choose, nothing here is what the caller wrote. */
export type Answered = {
  requestId: string
  operation: string
  method: string
  status: number
  milliseconds: number
  principal: Principal | null
}

/** Told of every request when it comes and when it is over. */
export type RequestWatcher = { arrived: () => void; answered: (answered: Answered) => void }

/** As nginx has it: the caller left before the answer was sent. */
const callerLeft = 499

/** `answered` comes also when the caller left: a hook of the framework would not. */
export const watchRequest = (watcher: RequestWatcher, request: FastifyRequest, reply: FastifyReply): void => {
  watcher.arrived()
  reply.raw.once('close', () =>
    watcher.answered({
      requestId: request.id,
      operation: operationOf(request),
      method: request.method,
      status: reply.raw.writableFinished ? reply.raw.statusCode : callerLeft,
      milliseconds: reply.elapsedTime,
      principal: request.principal ?? null,
    }),
  )
}

/** Its name in the contract; of what is no operation, the pattern of its route. Never the address, which callers choose. */
export const operationOf = (request: FastifyRequest): string => {
  if (request.is404) return 'other'
  const { config, url = 'other' } = request.routeOptions
  const { operation = url } = config as { operation?: string } // set where operations are mounted
  return operation
}
