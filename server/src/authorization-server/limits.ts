import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Query } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { isUnavailable } from '../database/unavailable.ts'
import type { Charge, RateLimiter } from '../http/api/callers/rate-limit.ts'
import { type Holder, holderOf } from './adapter.ts'
import { errorPage } from './pages.ts'
import { sendPage } from './send-page.ts'

export type Refuse = (reply: FastifyReply, refused: NonNullable<Charge['refused']>) => FastifyReply

/** Answers for the hook when it refuses, and leaves its headers in either case. */
const apply = (reply: FastifyReply, { headers, refused }: Charge, refuse: Refuse): FastifyReply | undefined => {
  for (const [name, value] of Object.entries(headers())) {
    const others = reply.getHeader(name)
    reply.header(name, others === undefined ? value : `${others}, ${value}`)
  }
  if (!refused) return undefined
  reply.request.refusedBy = refused.limit
  return refuse(reply.code(429).header('retry-after', refused.seconds), refused)
}

/** RFC 6749 has no error of the token endpoint for this; its "temporarily_unavailable" is what others answer. */
export const refuseProgram: Refuse = (reply, { detail }) =>
  reply.header('cache-control', 'no-store').send({ error: 'temporarily_unavailable', error_description: detail })

export const refusePerson: Refuse = (reply, { detail }) =>
  sendPage(reply, errorPage({ status: 429, title: 'Too many requests', detail }))

export const limitVisits =
  (limiter: RateLimiter, refuse: Refuse) => async (request: FastifyRequest, reply: FastifyReply) =>
    apply(reply, await limiter.visit(request.address), refuse)

/** More than any application needs, and little enough to be stored for whoever sends it. */
const mostRequestBytes = 4_096

/**
 * An authorization request is stored when it leads to one of our pages, and does not count otherwise. Whoever hangs up
 * before that is known has it counted: the provider may store it all the same.
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

export const limitSignIns = (limiter: RateLimiter) => async (request: FastifyRequest, reply: FastifyReply) =>
  apply(reply, await limiter.signIn(request.address), refusePerson)

/**
 * Tokens are counted for the application and the user that the code or refresh token was given for, so that no user can use
 * up what others have. One that nobody was given counts for its address alone, like every request: anybody can say to be an
 * application, which has no secret. For the same reason only tokens that are given count.
 */
export const limitExchanges =
  (limiter: RateLimiter, database: Database) => async (request: FastifyRequest, reply: FastifyReply) => {
    const form = request.body as Buffer | undefined // as the parser of the token endpoint leaves it
    const holder = await findHolder(database.read, new URLSearchParams(form?.toString())).catch((error: unknown) => {
      // The provider, which asks for the same, has a response for this.
      if (isUnavailable(error)) return null
      throw error
    })
    if (!holder) return
    const charge = await limiter.exchange(holder.clientId, holder.userId)
    reply.raw.once('close', () => {
      if (reply.raw.headersSent && reply.raw.statusCode !== 200) charge.refund()
    })
    return apply(reply, charge, refuseProgram)
  }

/** By grant type, the model under which the provider stores what is exchanged, and the parameter that holds it. */
const secrets = {
  authorization_code: ['AuthorizationCode', 'code'],
  refresh_token: ['RefreshToken', 'refresh_token'],
} as const

const findHolder = async (query: Query, form: URLSearchParams): Promise<Holder | null> => {
  const grantType = form.get('grant_type')
  if (grantType !== 'authorization_code' && grantType !== 'refresh_token') return null
  const [model, parameter] = secrets[grantType]
  return holderOf(query, model, form.get(parameter) ?? '')
}
