import { type ParsedUrlQuery, parse } from 'node:querystring'
import { isUnavailable } from '../database/connections/unavailable.ts'
import type { Database } from '../database/database.ts'
import type { Charge, RateLimiter } from '../http/api/callers/rate-limit.ts'
import { readBytes } from '../http/api/requests/request-body.ts'
import { jsonPage, type PageResponse } from '../http/pages/page-response.ts'
import type { Guard, Visit } from '../http/pages/visit.ts'
import { findGrantee } from './adapter.ts'
import { isForm } from './forms.ts'
import { pageResponse } from './page-response.ts'
import { errorPage } from './pages.ts'

type Refuse = (refused: NonNullable<Charge['refused']>) => PageResponse

const apply = (visit: Visit, { headers, refused }: Charge, refuse: Refuse): PageResponse | null => {
  for (const [name, value] of Object.entries(headers())) {
    const others = visit.headers[name]
    visit.headers[name] = others === undefined ? value : `${others}, ${value}`
  }
  if (!refused) return null
  visit.refusedBy = refused.limit
  visit.headers['retry-after'] = String(refused.seconds)
  return refuse(refused)
}

/** RFC 6749 has no error of the token endpoint for this; other servers send its "temporarily_unavailable". */
export const refuseProgram: Refuse = ({ detail }) => {
  const { headers, body } = jsonPage({ error: 'temporarily_unavailable', error_description: detail })
  return { status: 429, headers: { ...headers, 'cache-control': 'no-store' }, body }
}

export const refusePerson: Refuse = ({ detail }) =>
  pageResponse(errorPage({ status: 429, title: 'Too many requests', detail }))

export const limitVisits =
  (limiter: RateLimiter | null, refuse: Refuse): Guard =>
  async (visit) =>
    limiter && apply(visit, await limiter.visit(visit.address), refuse)

export const limitSignIns =
  (limiter: RateLimiter | null): Guard =>
  async (visit) =>
    limiter && apply(visit, await limiter.signIn(visit.address), refusePerson)

/** More than any application needs, and little enough to store for anybody. */
const mostRequestBytes = 4_096

/**
 * An authorization request counts when it leads to one of our pages, because then it is stored. It also counts when the
 * client disconnects before that is known: the provider may store it all the same.
 */
export const limitAuthorizations =
  (limiter: RateLimiter | null): Guard =>
  async (visit) => {
    const { url, address, response } = visit
    if (url.length > mostRequestBytes) return pageResponse(tooLongPage)
    if (!limiter) return null
    const charge = await limiter.begin(address)
    response.once('close', () => {
      const isStored = String(response.getHeader('location')).startsWith('/oauth2/interaction/')
      if (response.headersSent && !isStored) charge.refund()
    })
    return apply(visit, charge, refusePerson)
  }

const tooLongPage = errorPage({
  status: 414,
  title: 'This did not work',
  detail: `The request with which you were sent here is longer than ${mostRequestBytes / 1_024} KiB. Tell those who run the application.`,
})

/**
 * Issued tokens count for the application and the user of the code or refresh token, so that no user can use up the limit of
 * others. An unknown code counts for its address alone: applications have no secret, so anybody can pretend to be one.
 */
export const limitExchanges =
  (limiter: RateLimiter | null, database: Database): Guard =>
  async (visit) => {
    const { request, response } = visit
    // The provider refuses everything else.
    if (!limiter || !isForm(request)) return null
    visit.bytes = await readBytes(request, response)
    // Takes as many fields as the provider does: 1,000.
    const form = parse(visit.bytes?.toString() ?? '')
    const grantee = await granteeOf(database, form).catch((error: unknown) => {
      // The provider reads the same row, and has a response for this.
      if (isUnavailable(error)) return null
      throw error
    })
    if (!grantee) return null
    const charge = await limiter.exchange(grantee.clientId, grantee.userId)
    response.once('close', () => {
      if (response.headersSent && response.statusCode !== 200) charge.refund()
    })
    return apply(visit, charge, refuseProgram)
  }

const granteeOf = async ({ read }: Database, form: ParsedUrlQuery) => {
  const { grant_type: grantType, code = '', refresh_token: refreshToken = '' } = form
  if (grantType === 'authorization_code') return findGrantee(read, 'AuthorizationCode', String(code))
  if (grantType === 'refresh_token') return findGrantee(read, 'RefreshToken', String(refreshToken))
  return null
}
