import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { basePath, type ResourceName, resources } from '@masthead/contract'
import Fastify, { type ConnectionError, type FastifyInstance, LogController } from 'fastify'
import { AuthorizationServer } from './authorization-server/authorization-server.ts'
import { mountAuthorizationServer } from './authorization-server/mount.ts'
import type { Database } from './database/database.ts'
import { openToAllOrigins } from './http/cross-origin.ts'
import { describeApi } from './http/description.ts'
import { getOnly } from './http/get-only.ts'
import { type Handler, mountOperations } from './http/mount-operations.ts'
import { asProblem, problemBody, sendProblem } from './http/problems.ts'
import { DelegatedTokens } from './identity/delegated-tokens.ts'
import { type OutsideIssuer, OutsideTokens } from './identity/outside-issuer.ts'
import { type Authenticator, Principals } from './identity/principal.ts'
import { Problem } from './problem.ts'

/** Whose delegated tokens are accepted: those of our own authorization server, or of one outside. */
export type Delegation = { issuer: string; secret: string } | OutsideIssuer

export type AppOptions = { database: Database; baseUrl: string; delegation: Delegation; logLevel?: 'silent' | 'warn' }

const largestBody = 256 * 1024
const longestUrl = 8 * 1024
/** Room for a URL that is too long to be refused with 414, not cut off with 431. */
const largestHead = 32 * 1024

/** The service as it runs in production and in tests. */
export const buildApp = async (options: AppOptions): Promise<FastifyInstance> => {
  const { database, baseUrl, delegation, logLevel = 'warn' } = options
  const app = Fastify({
    bodyLimit: largestBody,
    http: { maxHeaderSize: largestHead },
    routerOptions: { maxParamLength: longestUrl },
    requestIdHeader: false,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    logController: new LogController({ disableRequestLogging: true }),
    logger: { level: logLevel, serializers: { err: withoutValues }, stream: process.stderr },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, baseUrl),
    // No hook sees what the router refuses, so a page of another origin is let to read it here.
    frameworkErrors: (error, request, reply) =>
      void sendProblem(reply.headers(openToAllOrigins), asProblem(error, request), baseUrl),
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    if (request.url.length > longestUrl) throw new Problem('url_too_long', 'The URL has more than 8 KiB.')
  })
  closeConnectionsAtTheEnd(app)
  app.setErrorHandler((error, request, reply) => sendProblem(reply, asProblem(error, request), baseUrl))
  app.setNotFoundHandler((request) => {
    throw new Problem('not_found', `There is nothing at ${request.url.split('?', 1)[0]?.slice(0, 200)}.`)
  })
  getOnly(app, '/readyz', async () => {
    await database.ping()
    return { status: 'ready' }
  })
  await describeApi(app, baseUrl, delegation.issuer)
  const delegated =
    'secret' in delegation
      ? await mountOwnServer(app, options, delegation)
      : new OutsideTokens(database, delegation, (error) =>
          app.log.warn({ err: error }, 'the outside issuer did not give its keys'),
        )
  const principals = new Principals(database, delegated)
  const handlers = await loadHandlers()
  await app.register((api) => mountOperations(api, { database, principals, handlers, baseUrl }), { prefix: basePath })
  return app
}

const mountOwnServer = async (
  app: FastifyInstance,
  { database, baseUrl }: AppOptions,
  { issuer, secret }: { issuer: string; secret: string },
): Promise<Authenticator> => {
  const resource = baseUrl + basePath
  const onError = (error: Error) => app.log.error({ err: error }, 'the authorization server failed')
  const server = await AuthorizationServer.start({ database, issuer, resource, secret, onError })
  app.addHook('onClose', () => server.stop())
  await app.register((pages) => mountAuthorizationServer(pages, { server, database, issuer, resource }))
  return new DelegatedTokens(database, { issuer, audience: resource, key: server.key })
}

/** A stop waits for answers under way; a caller that then kept its connection open would hold it up for a minute. */
const closeConnectionsAtTheEnd = (app: FastifyInstance): void => {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close')
  })
}

/** Each resource of the contract has a folder of its name; nothing else needs to be registered. */
const loadHandlers = async (): Promise<Map<string, Handler>> => {
  const names = Object.keys(resources) as ResourceName[] // the keys of `resources` are their names
  const modules = await Promise.all(names.map((name) => import(`./resources/${name}/handlers.ts`)))
  return new Map(modules.flatMap(({ handlers }) => Object.entries<Handler>(handlers)))
}

const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID()

/** Details of a database error can hold what a caller sent. */
const withoutValues = (error: Error) => ({
  type: error.name,
  code: 'code' in error ? String(error.code) : undefined,
  message: error.message,
  stack: error.stack ?? '',
})

/** What could not even be parsed never becomes a request, but is answered all the same. */
const refuseUnreadable = (error: ConnectionError, socket: Socket, baseUrl: string): void => {
  if (!socket.writable) return void socket.destroy()
  const problem = unreadable(error)
  const id = randomUUID()
  const body = JSON.stringify(problemBody(problem, baseUrl, id))
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    'Cache-Control: no-store',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const unreadable = ({ code, rawPacket }: ConnectionError): Problem => {
  if (code !== 'HPE_HEADER_OVERFLOW') return new Problem('malformed_request', 'This is not a valid HTTP request.')
  const packet: unknown = rawPacket // a Buffer, whatever its declared type says
  const firstLine = Buffer.isBuffer(packet) ? packet.indexOf('\r\n') : 0
  return firstLine < 0 || firstLine > longestUrl
    ? new Problem('url_too_long', 'The URL has more than 8 KiB.')
    : new Problem('headers_too_large', 'The headers have more than 32 KiB.')
}
