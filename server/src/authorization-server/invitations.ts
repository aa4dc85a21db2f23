import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Author } from '../audit/author.ts'
import type { Query } from '../database/connection.ts'
import { consumeInvitation, findInvitation, type OpenInvitation } from '../identity/invitations.ts'
import { addMember, createMember } from '../identity/members.ts'
import { signIn } from '../identity/sign-in.ts'
import { findProvenUser, hashPasswordOf, proveAddress, type User } from '../identity/users.ts'
import { Refusal } from '../refusal.ts'
import { calledFrom, formOf, type Surroundings, tooManyAttempts } from './interactions.ts'
import { limitSignIns } from './limits.ts'
import { errorPage, invitationPage, type Page } from './pages.ts'
import { sendPage } from './send-page.ts'

const address = '/oauth2/invitations/:secret'

/** Whoever has the link becomes a member: with an account of this tenant, or with one that works everywhere. */
export const mountInvitations = (app: FastifyInstance, surroundings: Surroundings): void => {
  const { database, baseUrl, limiter } = surroundings

  app.get(address, async (request, reply) => {
    const invitation = await findInvitation(database.read, secretOf(request))
    return sendPage(reply, invitation ? pageOf(request, invitation) : overPage)
  })

  app.post(address, limiter ? { onRequest: limitSignIns(limiter) } : {}, async (request, reply) => {
    const secret = secretOf(request)
    const invitation = await findInvitation(database.read, secret)
    if (!invitation) return sendPage(reply, overPage)
    const outcome = await accept(surroundings, request, invitation, secret)
    if (outcome === 'joined') return reply.redirect(`${baseUrl}/`, 303)
    if (outcome === 'over') return sendPage(reply, overPage)
    const { problem, retryAfterSeconds } = outcome
    if (retryAfterSeconds === undefined) return sendPage(reply, pageOf(request, invitation, problem))
    request.refusedBy = 'wrong-passwords'
    reply.header('retry-after', retryAfterSeconds)
    return sendPage(reply, { ...pageOf(request, invitation, problem), status: 429 })
  })
}

const secretOf = (request: FastifyRequest): string => (request.params as { secret: string }).secret // the router fills it

const overPage = errorPage({
  status: 404,
  title: 'This invitation is over',
  detail:
    'You may have joined already: then sign in. Otherwise it was withdrawn, replaced or too old: ask the person who invited you for a new link.',
})

const pageOf = (request: FastifyRequest, { email, role, tenantName }: OpenInvitation, problem?: string): Page => {
  const { account, name = '' } = formOf(request)
  return invitationPage({
    ...{ action: request.url, tenant: tenantName, email, role, name },
    ...(problem !== undefined && { problem: { with: account === 'existing' ? 'existing' : 'new', text: problem } }),
  })
}

type Outcome = 'joined' | 'over' | { problem: string; retryAfterSeconds?: number }

const accept = async (
  { database }: Surroundings,
  request: FastifyRequest,
  invitation: OpenInvitation,
  secret: string,
): Promise<Outcome> => {
  const { account, name = '', password = '' } = formOf(request)
  const from = calledFrom(request)
  let known: User | undefined
  if (account === 'existing') {
    const outcome = await signIn(database.query, from, invitation.email, password)
    if ('refused' in outcome && outcome.refused === 'throttled') return tooManyAttempts(outcome.retryAfterSeconds)
    // An account whose address is not proven belongs to the tenant that it has.
    known = 'users' in outcome ? outcome.users.find(({ tenantId }) => tenantId === null) : undefined
    // Whoever has the mailbox may know that there is such an account.
    if (!known && 'users' in outcome && invitation.isMailed) return { problem: belongsElsewhere }
    if (!known) return { problem: wrongPassword }
  }
  const author = { kind: 'visitor', ...from, ...(known && { user: known.id }) } as const
  try {
    const account = known ?? { name, passwordHash: await hashPasswordOf(database.read, invitation.email, password) }
    return await database.transaction(async (query) => {
      if (!(await consumeInvitation(query, secret))) return 'over'
      await join(query, author, invitation, account)
      return 'joined'
    })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { problem: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.` }
  }
}

const wrongPassword =
  'Wrong password. If you have not joined an organisation by mail before, choose a new password above.'
const belongsElsewhere =
  'That account belongs to another organisation. Choose a new password above: it replaces the old one there, too.'

/** A link that was mailed proves the address; one that somebody else was shown does not. */
const join = async (
  query: Query,
  author: Author,
  { tenantId, email, role, isMailed }: OpenInvitation,
  account: User | { name: string; passwordHash: string },
): Promise<void> => {
  if (!('id' in account)) {
    if (isMailed && (await findProvenUser(query, email)))
      throw new Refusal('you have an account with this address: enter its password below')
    await createMember(query, author, { tenantId, email, role, ...account, isProven: isMailed })
    return
  }
  await addMember(query, author, account, { tenantId, role })
  if (isMailed) await proveAddress(query, account)
}
