import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { methodNotAllowed } from '../responses/problems.ts'

const allowed = ['GET', 'HEAD', 'OPTIONS']

/** A page that is only read: other methods are refused by name. Fastify's own HEAD says `Content-Length: 0` in a 304. */
export const getOnly = (app: FastifyInstance, url: string, handler: RouteHandlerMethod): void => {
  app.route({ method: ['GET', 'HEAD'], url, handler })
  app.options(url, async (_request, reply) => reply.code(204).header('allow', allowed.join(', ')).send())
  app.route({
    method: ['POST', 'PUT', 'PATCH', 'DELETE'],
    url,
    handler: async ({ method }) => {
      throw methodNotAllowed(method, allowed)
    },
  })
}
