import { type InjectOptions, inject, type Response } from 'light-my-request'
import type { App } from '../../src/app.ts'

/** A request without a connection, from any address, as the service gets it from its server. */
export const injectRequest = ({ server }: App, options: InjectOptions): Promise<Response> =>
  inject((request, response) => server.emit('request', request, response), options)
