import type { IncomingMessage } from 'node:http'
import type { Pages } from '../http/pages/pages.ts'
import type { PageHandler, Visit } from '../http/pages/visit.ts'
import * as http from '../node-http.ts'
import { type Dependencies, interactionPages } from './interactions.ts'
import { invitationPages } from './invitations.ts'
import { limitAuthorizations, limitExchanges, limitVisits, refusePerson, refuseProgram } from './limits.ts'
import { setVisitor } from './visitors.ts'

const metadata = '/.well-known/openid-configuration'
const tokenPath = '/oauth2/token'

/** Scripts of any origin may call these endpoints, by these methods. */
const openPaths: Record<string, ('GET' | 'POST')[]> = {
  [tokenPath]: ['POST'],
  '/oauth2/revoke': ['POST'],
  '/oauth2/jwks': ['GET'],
  '/oauth2/userinfo': ['GET', 'POST'],
  [metadata]: ['GET'],
  '/.well-known/oauth-authorization-server': ['GET'],
}

/** The provider's pages for people. */
const pagePaths: Record<string, ('GET' | 'POST')[]> = {
  '/oauth2/authorize': ['GET'],
  '/oauth2/authorize/{uid}': ['GET'],
  '/oauth2/logout': ['GET'],
  '/oauth2/logout/confirm': ['POST'],
  '/oauth2/logout/success': ['GET'],
}

/** The provider's router ignores case and a trailing slash, so it gets the path of the route whose limits applied. */
const addressAtProvider = (path: string, { params: { uid = '' }, url }: Visit): string => {
  if (path.startsWith('/.well-known/')) return metadata
  return path.replace('{uid}', encodeURIComponent(uid)) + (/\?.*$/s.exec(url)?.[0] ?? '')
}

/** These responses are the same for everybody, and cheap. */
const isUnlimited = (path: string): boolean => path === '/oauth2/jwks' || path.startsWith('/.well-known/')

export const addAuthorizationServer = (pages: Pages, dependencies: Dependencies): void => {
  const { server, database, issuer, limiter } = dependencies
  const { host, protocol } = new URL(issuer)
  const pass =
    (path: string): PageHandler =>
    async (visit) => {
      const { request, response } = visit
      const { handle } = await server.loaded()
      // The provider derives its own address from these headers; it must be the configured issuer.
      request.headers['x-forwarded-host'] = host
      request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
      // CORS is handled by us, in the same way for every client.
      delete request.headers.origin
      // RFC 6749 §5.2: errors of these endpoints are JSON, in a browser too.
      if (path in openPaths) request.headers.accept = 'application/json'
      request.url = addressAtProvider(path, visit)
      for (const [name, value] of Object.entries({ ...visit.headers, ...providerHeaders }))
        response.setHeader(name, value)
      const passed = visit.bytes ? unread(request, visit.bytes) : request
      setVisitor(passed, visit.address, visit.requestId)
      handle(passed, response)
      return null
    }
  const [forPeople, forPrograms] = [limitVisits(limiter, refusePerson), limitVisits(limiter, refuseProgram)]
  pages.guardBelow('/oauth2', [forPeople])
  const handlersAt = (path: string, methods: readonly ('GET' | 'POST')[]) =>
    Object.fromEntries(methods.map((method) => [method, pass(path)]))
  for (const [path, methods] of Object.entries(pagePaths)) {
    const guards = path === '/oauth2/authorize' ? [forPeople, limitAuthorizations(limiter)] : [forPeople]
    pages.add({ path, guards, ...handlersAt(path, methods) })
  }
  for (const [path, methods] of Object.entries(openPaths)) {
    const guards = isUnlimited(path) ? [] : [forPrograms]
    if (path === tokenPath) guards.push(limitExchanges(limiter, database))
    pages.add({ path, isOpenToAllOrigins: true, guards, ...handlersAt(path, methods) })
  }
  pages.add(...interactionPages(dependencies), invitationPages(dependencies))
}

/** For the provider's own pages; our pages set stricter ones. */
const providerHeaders = {
  'content-security-policy': "frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** The provider reads the body itself, so a body that we have read is put into a new request. */
const unread = (raw: IncomingMessage, body: Buffer): IncomingMessage => {
  const { method, url, headers } = raw
  const again = Object.assign(new http.IncomingMessage(raw.socket), { method, url, headers, complete: true })
  again.push(body)
  again.push(null)
  return again
}
