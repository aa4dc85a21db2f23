import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../database/database.ts'
import { allowAllOrigins } from '../http/cross-origin.ts'
import { methodNotAllowed } from '../http/problems.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { mountInteractions } from './interactions.ts'
import { rememberVisitor } from './visitors.ts'

const metadata = '/.well-known/openid-configuration'

/** Any page may fetch these with a token or code of its own, by these methods; the others are for people. */
const openPaths: Record<string, string[]> = {
  '/oauth2/token': ['POST'],
  '/oauth2/revoke': ['POST'],
  '/oauth2/jwks': ['GET', 'HEAD'],
  '/oauth2/userinfo': ['GET', 'HEAD', 'POST'],
  [metadata]: ['GET', 'HEAD'],
  '/.well-known/oauth-authorization-server': ['GET', 'HEAD'],
}

/** Without the host of an absolute address, which the caller may choose. */
const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]*/i, '')

const methodsAt = (url: string): string[] => {
  const methods = openPaths[pathOf(url).split('?', 1)[0] ?? '']
  return methods ? [...methods, 'OPTIONS'] : []
}

export const mountAuthorizationServer = async (
  app: FastifyInstance,
  {
    server,
    database,
    issuer,
    resource,
  }: { server: AuthorizationServer; database: Database; issuer: string; resource: string },
): Promise<void> => {
  const { host, protocol } = new URL(issuer)
  const pass = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { raw } = request
    // The provider names itself by these: the configured issuer, not the address that the request came by.
    raw.headers['x-forwarded-host'] = host
    raw.headers['x-forwarded-proto'] = protocol.slice(0, -1)
    // CORS is answered here, the same for every client.
    delete raw.headers.origin
    // RFC 6749 §5.2: errors there are JSON, also when a person looks on.
    if (methodsAt(request.url).length > 0) raw.headers.accept = 'application/json'
    raw.url = pathOf(request.url)
    if (raw.url.startsWith('/.well-known/')) raw.url = metadata
    // For the library's own pages; ours say more.
    reply.headers({
      'content-security-policy': "frame-ancestors 'none'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    rememberVisitor(raw, request.ip, request.id)
    reply.hijack()
    server.handle(raw, reply.raw)
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
    passing.all('/oauth2/*', pass)
    for (const path of Object.keys(openPaths).filter((one) => one.startsWith('/.well-known/'))) passing.all(path, pass)
  })
  await app.register((pages) => mountInteractions(pages, { server, database, issuer, resource }))
}
