import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findInvitation, type OpenInvitation, takeInvitation } from '../identity/invitations.ts'
import { signIn } from '../identity/sign-in.ts'
import { createMember, findUserByEmail } from '../identity/users.ts'
import { Refusal } from '../refusal.ts'
import { calledFrom, formOf, type Surroundings } from './interactions.ts'
import { limitSignIns } from './limits.ts'
import { errorPage, invitationPage, type Page } from './pages.ts'
import { sendPage } from './send-page.ts'

const address = '/oauth2/invitations/:secret'

/** Whoever has the link becomes a member: with a new password, or with the one that the address has already. */
export const mountInvitations = (app: FastifyInstance, surroundings: Surroundings): void => {
  const { database, baseUrl, limiter } = surroundings

  app.get(address, async (request, reply) => {
    const invitation = await findInvitation(database.read, secretOf(request))
    return sendPage(reply, invitation ? await pageOf(surroundings, request, invitation) : overPage)
  })

  app.post(address, limiter ? { onRequest: limitSignIns(limiter) } : {}, async (request, reply) => {
    const secret = secretOf(request)
    const invitation = await findInvitation(database.read, secret)
    if (!invitation) return sendPage(reply, overPage)
    const problem = await accept(surroundings, request, invitation, secret)
    if (problem === null) return reply.redirect(`${baseUrl}/`, 303)
    return sendPage(reply, await pageOf(surroundings, request, invitation, problem))
  })
}

const secretOf = (request: FastifyRequest): string => (request.params as { secret: string }).secret // the router fills it

const overPage = errorPage({
  status: 404,
  title: 'This invitation is over',
  detail: 'It was accepted, withdrawn, replaced or too old. Ask who invited you for another one.',
})

const pageOf = async (
  { database }: Surroundings,
  request: FastifyRequest,
  { email, role, tenantName }: OpenInvitation,
  problem?: string,
): Promise<Page> =>
  invitationPage({
    ...{ action: request.url, tenant: tenantName, email, role },
    isKnown: (await findUserByEmail(database.read, email)) !== null,
    name: formOf(request).name ?? '',
    ...(problem !== undefined && { problem }),
  })

/** Null when it went well, else what was wrong. */
const accept = async (
  { database }: Surroundings,
  request: FastifyRequest,
  { tenantId, email, role }: OpenInvitation,
  secret: string,
): Promise<string | null> => {
  const { name = '', password = '' } = formOf(request)
  const known = await findUserByEmail(database.read, email)
  if (known) {
    const outcome = await signIn(database.query, calledFrom(request), email, password)
    if (!('user' in outcome))
      return outcome.refused === 'wrong' ? 'The password is not right.' : 'Too many attempts. Try again later.'
  }
  const author = { kind: 'visitor', ...calledFrom(request), ...(known && { user: known.id }) } as const
  try {
    await database.transaction(async (query) => {
      if (!(await takeInvitation(query, secret))) throw new Refusal('this invitation is over')
      await createMember(query, author, {
        tenantId,
        email,
        role,
        name: known?.name ?? name,
        password,
        mustBeNew: !known,
      })
    })
    return null
  } catch (error) {
    if (error instanceof Refusal) return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`
    throw error
  }
}
