import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as http from '../http/node-internals/node-http.ts'
import { allowAllOrigins } from '../http/responses/cross-origin.ts'
import { methodNotAllowed } from '../http/responses/problems.ts'
import { mountInteractions, readForms, type Surroundings } from './interactions.ts'
import { mountInvitations } from './invitations.ts'
import { limitAuthorizations, limitExchanges, limitVisits, type Refuse, refusePerson, refuseProgram } from './limits.ts'
import { rememberVisitor } from './visitors.ts'

const metadata = '/.well-known/openid-configuration'
const tokenPath = '/oauth2/token'

/** Any page may fetch these with a token or code of its own, by these methods; the others are for people. */
const openPaths: Record<string, string[]> = {
  [tokenPath]: ['POST'],
  '/oauth2/revoke': ['POST'],
  '/oauth2/jwks': ['GET', 'HEAD'],
  '/oauth2/userinfo': ['GET', 'HEAD', 'POST'],
  [metadata]: ['GET', 'HEAD'],
  '/.well-known/oauth-authorization-server': ['GET', 'HEAD'],
}

const authorizationPath = '/oauth2/authorize'

/** The others for people. */
const pagePaths = ['/oauth2/authorize/:uid', '/oauth2/logout', '/oauth2/logout/confirm', '/oauth2/logout/success']

/** Without the host of an absolute address, which the caller may choose. */
const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]*/i, '')

const methodsAt = (url: string): string[] => {
  const methods = openPaths[pathOf(url).split('?', 1)[0] ?? '']
  return methods ? [...methods, 'OPTIONS'] : []
}

/**
 * The provider's own router ignores case and a slash at the end. So it is given the path of the route that limited the
 * request, not the one that was sent.
 */
const addressAtProvider = ({ routeOptions, params, url }: FastifyRequest): string => {
  const { url: route = '' } = routeOptions
  if (route.startsWith('/.well-known/')) return metadata
  const { uid } = params as { uid?: string } // only one route has a parameter
  return route.replace(':uid', encodeURIComponent(uid || 'none')) + (/\?.*$/s.exec(url)?.[0] ?? '')
}

/** The same for everybody, and cheap. */
const isPublished = (path: string): boolean => path === '/oauth2/jwks' || path.startsWith('/.well-known/')

export const mountAuthorizationServer = async (app: FastifyInstance, surroundings: Surroundings): Promise<void> => {
  const { server, database, issuer, limiter } = surroundings
  const { host, protocol } = new URL(issuer)
  const pass = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { handle } = await server.loaded()
    const { raw } = request
    // The provider names itself by these: the configured issuer, not the address that the request came by.
    raw.headers['x-forwarded-host'] = host
    raw.headers['x-forwarded-proto'] = protocol.slice(0, -1)
    // CORS is answered here, the same for every client.
    delete raw.headers.origin
    // RFC 6749 §5.2: errors there are JSON, also when a person looks on.
    if (methodsAt(request.url).length > 0) raw.headers.accept = 'application/json'
    raw.url = addressAtProvider(request)
    // For the library's own pages; ours say more.
    reply.headers({
      'content-security-policy': "frame-ancestors 'none'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    const passed = Buffer.isBuffer(request.body) ? unread(raw, request.body) : raw
    rememberVisitor(passed, request.address, request.id)
    reply.hijack()
    handle(passed, reply.raw)
  }
  await app.register(async (passing) => {
    passing.removeAllContentTypeParsers()
    // The provider reads the body itself.
    passing.addContentTypeParser('*', (_request, _payload, done) => done(null))
    passing.addHook('onRequest', async (request, reply) => {
      const allowed = methodsAt(request.url)
      if (allowed.length === 0) return
      await allowAllOrigins(methodsAt).call(passing, request, reply)
      if (!allowed.includes(request.method)) throw methodNotAllowed(request.method, allowed)
    })
    const limited = (refuse: Refuse) => (limiter ? { onRequest: limitVisits(limiter, refuse) } : {})
    for (const path of pagePaths) passing.all(path, limited(refusePerson), pass)
    passing.all('/oauth2/*', limited(refusePerson), async (_request, reply) => reply.callNotFound())
    await passing.register(async (beginning) => {
      if (limiter) beginning.addHook('onRequest', limitVisits(limiter, refusePerson))
      beginning.addHook('onRequest', limitAuthorizations(limiter))
      beginning.all(authorizationPath, pass)
    })
    for (const path of Object.keys(openPaths).filter((one) => one !== tokenPath))
      passing.all(path, isPublished(path) ? {} : limited(refuseProgram), pass)
    await passing.register(async (exchanging) => {
      exchanging.addContentTypeParser(
        'application/x-www-form-urlencoded',
        { parseAs: 'buffer' },
        (_request, body, done) => done(null, body),
      )
      if (limiter) exchanging.addHook('preHandler', limitExchanges(limiter, database))
      exchanging.all(tokenPath, limited(refuseProgram), pass)
    })
  })
  await app.register(async (pages) => {
    readForms(pages, surroundings)
    mountInteractions(pages, surroundings)
    mountInvitations(pages, surroundings)
  })
}

/** The provider reads the body itself, also where we had to look into it. */
const unread = (raw: IncomingMessage, body: Buffer): IncomingMessage => {
  const { method, url, headers } = raw
  const again = Object.assign(new http.IncomingMessage(raw.socket), { method, url, headers, complete: true })
  again.push(body)
  again.push(null)
  return again
}
