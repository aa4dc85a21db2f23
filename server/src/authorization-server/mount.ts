import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../database/database.ts'
import { allowAllOrigins } from '../http/cross-origin.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { mountInteractions } from './interactions.ts'

const metadata = '/.well-known/openid-configuration'

/** Any page may fetch these with a token or code of its own; the others are for people. */
const openPaths = [
  '/oauth2/token',
  '/oauth2/revoke',
  '/oauth2/jwks',
  '/oauth2/userinfo',
  metadata,
  '/.well-known/oauth-authorization-server',
]

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
    if (openPaths.includes(pathOf(request))) raw.headers.accept = 'application/json'
    if (request.url.startsWith('/.well-known/')) raw.url = metadata
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    reply.hijack()
    server.handle(raw, reply.raw)
  }
  await app.register(async (passing) => {
    passing.removeAllContentTypeParsers()
    // The provider reads the body itself.
    passing.addContentTypeParser('*', (_request, _payload, done) => done(null))
    passing.addHook('onRequest', async (request, reply) => {
      if (openPaths.includes(pathOf(request)))
        await allowAllOrigins(() => ['GET', 'POST', 'OPTIONS']).call(passing, request, reply)
    })
    passing.all('/oauth2/*', pass)
    for (const path of openPaths.filter((one) => one.startsWith('/.well-known/'))) passing.all(path, pass)
  })
  await app.register((pages) => mountInteractions(pages, { server, database, issuer, resource }))
}

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? ''
