import type { FastifyReply, FastifyRequest } from 'fastify'
import { isUnavailable } from '../database/connections/unavailable.ts'
import type { Database } from '../database/database.ts'
import type { Charge, RateLimiter } from '../http/api/callers/rate-limit.ts'
import { findGrantee } from './adapter.ts'
import { errorPage } from './pages.ts'
import { sendPage } from './send-page.ts'

type Refuse = (reply: FastifyReply, refused: NonNullable<Charge['refused']>) => FastifyReply

const apply = (reply: FastifyReply, { headers, refused }: Charge, refuse: Refuse): FastifyReply | undefined => {
  for (const [name, value] of Object.entries(headers())) {
    const others = reply.getHeader(name)
    reply.header(name, others === undefined ? value : `${others}, ${value}`)
  }
  if (!refused) return undefined
  reply.request.refusedBy = refused.limit
  return refuse(reply.code(429).header('retry-after', refused.seconds), refused)
}

/** RFC 6749 has no error of the token endpoint for this; other servers send its "temporarily_unavailable". */
export const refuseProgram: Refuse = (reply, { detail }) =>
  reply.header('cache-control', 'no-store').send({ error: 'temporarily_unavailable', error_description: detail })

export const refusePerson: Refuse = (reply, { detail }) =>
  sendPage(reply, errorPage({ status: 429, title: 'Too many requests', detail }))

export const limitVisits =
  (limiter: RateLimiter | null, refuse: Refuse) => async (request: FastifyRequest, reply: FastifyReply) =>
    limiter ? apply(reply, await limiter.visit(request.address), refuse) : undefined

export const limitSignIns = (limiter: RateLimiter | null) => async (request: FastifyRequest, reply: FastifyReply) =>
  limiter ? apply(reply, await limiter.signIn(request.address), refusePerson) : undefined

/** More than any application needs, and little enough to store for anybody. */
const mostRequestBytes = 4_096

/**
 * An authorization request counts when it leads to one of our pages, because then it is stored. It also counts when the
 * client disconnects before that is known: the provider may store it all the same.
 */
export const limitAuthorizations =
  (limiter: RateLimiter | null) => async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.url.length > mostRequestBytes) return sendPage(reply, tooLongPage)
    if (!limiter) return
    const charge = await limiter.begin(request.address)
    reply.raw.once('close', () => {
      const isStored = String(reply.raw.getHeader('location')).startsWith('/oauth2/interaction/')
      if (reply.raw.headersSent && !isStored) charge.refund()
    })
    return apply(reply, charge, refusePerson)
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
  (limiter: RateLimiter | null, database: Database) => async (request: FastifyRequest, reply: FastifyReply) => {
    if (!limiter) return
    const body = request.body as Buffer | undefined // the parser of the token endpoint leaves a buffer
    const form = new URLSearchParams(body?.toString())
    const grantee = await granteeOf(database, form).catch((error: unknown) => {
      // The provider reads the same row, and has a response for this.
      if (isUnavailable(error)) return null
      throw error
    })
    if (!grantee) return
    const charge = await limiter.exchange(grantee.clientId, grantee.userId)
    reply.raw.once('close', () => {
      if (reply.raw.headersSent && reply.raw.statusCode !== 200) charge.refund()
    })
    return apply(reply, charge, refuseProgram)
  }

const granteeOf = async ({ read }: Database, form: URLSearchParams) => {
  const grantType = form.get('grant_type')
  if (grantType === 'authorization_code') return findGrantee(read, 'AuthorizationCode', form.get('code') ?? '')
  if (grantType === 'refresh_token') return findGrantee(read, 'RefreshToken', form.get('refresh_token') ?? '')
  return null
}
