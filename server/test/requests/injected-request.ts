import type { FastifyInstance } from 'fastify'
import { type InjectOptions, inject, type Response } from 'light-my-request'

/** A request without a connection, from any address, as the service gets it from its server. */
export const injectRequest = async (app: FastifyInstance, options: InjectOptions): Promise<Response> => {
  await app.ready()
  return inject((request, response) => app.server.emit('request', request, response), options)
}
