import type { IncomingMessage } from 'node:http'
import type { Pages } from '../http/pages/pages.ts'
import { allowAllOrigins, guarded, type PageHandler, type Visit } from '../http/pages/visit.ts'
import * as http from '../node-http.ts'
import { type Dependencies, interactionPages } from './interactions.ts'
import { invitationPages } from './invitations.ts'
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
const pagePaths = ['/oauth2/authorize/{uid}', '/oauth2/logout', '/oauth2/logout/confirm', '/oauth2/logout/success']

/** The provider's router ignores case and a trailing slash, so it gets the path of the route whose limits applied. */
const addressAtProvider = ({ path, params: { uid = '' }, url }: Visit): string => {
  if (path === null || path.startsWith('/.well-known/')) return metadata
  return path.replace('{uid}', encodeURIComponent(uid)) + (/\?.*$/s.exec(url)?.[0] ?? '')
}

/** These responses are the same for everybody, and cheap. */
const isUnlimited = (path: string): boolean => path === '/oauth2/jwks' || path.startsWith('/.well-known/')

export const addAuthorizationServer = (pages: Pages, dependencies: Dependencies): void => {
  const { server, database, issuer, limiter } = dependencies
  const { host, protocol } = new URL(issuer)
  const pass =
    (isOpen: boolean): PageHandler =>
    async (visit) => {
      const { request, response } = visit
      const { handle } = await server.loaded()
      // The provider derives its own address from these headers; it must be the configured issuer.
      request.headers['x-forwarded-host'] = host
      request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
      // A guard of ours handles CORS, in the same way for every client.
      delete request.headers.origin
      // RFC 6749 §5.2: errors of these endpoints are JSON, in a browser too.
      if (isOpen) request.headers.accept = 'application/json'
      request.url = addressAtProvider(visit)
      for (const [name, value] of Object.entries({ ...visit.headers, ...providerHeaders }))
        response.setHeader(name, value)
      const passed = visit.bytes ? unread(request, visit.bytes) : request
      setVisitor(passed, visit.address, visit.id)
      handle(passed, response)
      return null
    }
  const [forPeople, forPrograms] = [limitVisits(limiter, refusePerson), limitVisits(limiter, refuseProgram)]
  const page = pass(false)
  pages.guardBelow('/oauth2', [forPeople])
  for (const path of pagePaths) pages.add({ path, guards: [forPeople], GET: page, POST: page })
  const authorize = [forPeople, limitAuthorizations(limiter)]
  pages.add({ path: '/oauth2/authorize', guards: authorize, GET: page, POST: page })
  for (const [path, methods] of Object.entries(openPaths)) {
    const answer = path === tokenPath ? guarded([limitExchanges(limiter, database)], pass(true)) : pass(true)
    pages.add({
      path,
      guards: [allowAllOrigins([...methods, 'OPTIONS']), ...(isUnlimited(path) ? [] : [forPrograms])],
      ...(methods.includes('GET') && { GET: answer }),
      ...(methods.includes('POST') && { POST: answer }),
    })
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
