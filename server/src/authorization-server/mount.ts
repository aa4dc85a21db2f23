import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { allowAllOrigins } from '../http/responses/cross-origin.ts'
import { methodNotAllowed } from '../http/responses/problems.ts'
import * as http from '../node-http.ts'
import { type Dependencies, mountInteractions, readForms } from './interactions.ts'
import { mountInvitations } from './invitations.ts'
import { limitAuthorizations, limitExchanges, limitVisits, refusePerson, refuseProgram } from './limits.ts'
import { setVisitor } from './visitors.ts'

const metadata = '/.well-known/openid-configuration'
const tokenPath = '/oauth2/token'

/** Scripts of any origin may call these endpoints, by these methods. */
const openPaths: Record<string, string[]> = {
  [tokenPath]: ['POST'],
  '/oauth2/revoke': ['POST'],
  '/oauth2/jwks': ['GET', 'HEAD'],
  '/oauth2/userinfo': ['GET', 'HEAD', 'POST'],
  [metadata]: ['GET', 'HEAD'],
  '/.well-known/oauth-authorization-server': ['GET', 'HEAD'],
}

/** The provider's pages for people, beside the authorization endpoint. */
const pagePaths = ['/oauth2/authorize/:uid', '/oauth2/logout', '/oauth2/logout/confirm', '/oauth2/logout/success']

const methodsAt = (url: string): string[] => {
  // The request target may be an absolute URL, whose host the client chooses.
  const path = url.replace(/^https?:\/\/[^/]*/i, '')
  const methods = openPaths[path.split('?', 1)[0] ?? '']
  return methods ? [...methods, 'OPTIONS'] : []
}

/** The provider's router ignores case and a trailing slash, so it gets the path of the route whose limits applied. */
const addressAtProvider = ({ routeOptions, params, url }: FastifyRequest): string => {
  const { url: route = '' } = routeOptions
  if (route.startsWith('/.well-known/')) return metadata
  const { uid } = params as { uid?: string } // only one route has a parameter
  return route.replace(':uid', encodeURIComponent(uid || 'none')) + (/\?.*$/s.exec(url)?.[0] ?? '')
}

/** These responses are the same for everybody, and cheap. */
const isUnlimited = (path: string): boolean => path === '/oauth2/jwks' || path.startsWith('/.well-known/')

export const mountAuthorizationServer = async (app: FastifyInstance, dependencies: Dependencies): Promise<void> => {
  const { server, database, issuer, limiter } = dependencies
  const { host, protocol } = new URL(issuer)
  const pass = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { handle } = await server.loaded()
    const { raw } = request
    // The provider derives its own address from these headers; it must be the configured issuer.
    raw.headers['x-forwarded-host'] = host
    raw.headers['x-forwarded-proto'] = protocol.slice(0, -1)
    // Our own hook handles CORS, in the same way for every client.
    delete raw.headers.origin
    // RFC 6749 §5.2: errors of these endpoints are JSON, in a browser too.
    if (methodsAt(request.url).length > 0) raw.headers.accept = 'application/json'
    raw.url = addressAtProvider(request)
    // These headers are for the provider's own pages; our pages set stricter ones.
    reply.headers({
      'content-security-policy': "frame-ancestors 'none'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    const passed = Buffer.isBuffer(request.body) ? unread(raw, request.body) : raw
    setVisitor(passed, request.address, request.id)
    reply.hijack()
    handle(passed, reply.raw)
  }
  const [forPeople, forPrograms] = [limitVisits(limiter, refusePerson), limitVisits(limiter, refuseProgram)]
  await app.register(async (endpoints) => {
    endpoints.removeAllContentTypeParsers()
    // The provider reads the body itself.
    endpoints.addContentTypeParser('*', (_request, _payload, done) => done(null))
    endpoints.addHook('onRequest', async (request, reply) => {
      const allowed = methodsAt(request.url)
      if (allowed.length === 0) return
      await allowAllOrigins(methodsAt).call(endpoints, request, reply)
      if (!allowed.includes(request.method)) throw methodNotAllowed(request.method, allowed)
    })
    for (const path of pagePaths) endpoints.all(path, { onRequest: forPeople }, pass)
    endpoints.all('/oauth2/*', { onRequest: forPeople }, async (_request, reply) => reply.callNotFound())
    endpoints.all('/oauth2/authorize', { onRequest: [forPeople, limitAuthorizations(limiter)] }, pass)
    for (const path of Object.keys(openPaths).filter((one) => one !== tokenPath))
      endpoints.all(path, isUnlimited(path) ? {} : { onRequest: forPrograms }, pass)
    await endpoints.register(async (exchanges) => {
      exchanges.addContentTypeParser(
        'application/x-www-form-urlencoded',
        { parseAs: 'buffer' },
        (_request, body, done) => done(null, body),
      )
      exchanges.addHook('preHandler', limitExchanges(limiter, database))
      exchanges.all(tokenPath, { onRequest: forPrograms }, pass)
    })
  })
  await app.register(async (pages) => {
    readForms(pages, dependencies)
    mountInteractions(pages, dependencies)
    mountInvitations(pages, dependencies)
  })
}

/** The provider reads the body itself, so a body that we have read is put into a new request. */
const unread = (raw: IncomingMessage, body: Buffer): IncomingMessage => {
  const { method, url, headers } = raw
  const again = Object.assign(new http.IncomingMessage(raw.socket), { method, url, headers, complete: true })
  again.push(body)
  again.push(null)
  return again
}
