import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Charge, RateLimiter } from '../http/rate-limit.ts'
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

export const limitSignIns = (limiter: RateLimiter) => async (request: FastifyRequest, reply: FastifyReply) =>
  apply(reply, await limiter.signIn(request.address), refusePerson)

/**
 * Anybody can say to be an application, which has no secret. So only the tokens that it is given count, or a stranger
 * could keep it from getting any.
 */
export const limitExchanges = (limiter: RateLimiter) => async (request: FastifyRequest, reply: FastifyReply) => {
  const form = request.body as Buffer | undefined // as the parser of the token endpoint leaves it
  const clientId = new URLSearchParams(form?.toString()).get('client_id')
  if (clientId === null) return
  const charge = await limiter.exchange(clientId)
  reply.raw.once('close', () => {
    if (reply.raw.statusCode !== 200) charge.refund()
  })
  return apply(reply, charge, refuseProgram)
}
