import type { Author } from '../audit/author.ts'
import type { Query } from '../database/connections/statement.ts'
import type { Database } from '../database/database.ts'
import type { PageRoute } from '../http/pages/pages.ts'
import type { PageHandler, Visit } from '../http/pages/visit.ts'
import { consumeInvitation, findInvitation, type OpenInvitation } from '../identity/people/invitations.ts'
import { addMember, createMember } from '../identity/people/members.ts'
import { signIn } from '../identity/people/sign-in.ts'
import { findAccounts, findProvenUser, hashPasswordOf, proveAddress, type User } from '../identity/people/users.ts'
import { Refusal } from '../refusal.ts'
import { calledFrom, type Dependencies, formPages, redirect, refuseAttempt } from './interactions.ts'
import { limitSignIns } from './limits.ts'
import { pageResponse } from './page-response.ts'
import { errorPage, invitationPage, type Page } from './pages.ts'
import { openSession } from './session-opening.ts'

const path = '/oauth2/invitations/{secret}'

/** The link makes its reader a member, with an account of this tenant or with one that works everywhere, and signs them in. */
export const invitationPages = (dependencies: Dependencies): PageRoute => {
  const { database, baseUrl, limiter } = dependencies
  const { shown, sent } = formPages(dependencies)
  const show: PageHandler = async (visit) => {
    const invitation = await findInvitation(database.read, secretOf(visit))
    return pageResponse(invitation ? pageOf(visit, invitation) : overPage)
  }
  const acceptWith: PageHandler = async (visit) => {
    const invitation = await findInvitation(database.read, secretOf(visit))
    if (!invitation) return pageResponse(overPage)
    const outcome = await accept(database, visit, invitation)
    if (typeof outcome === 'object' && 'joined' in outcome) {
      const accounts = await findAccounts(database.query, invitation.email)
      const joined = accounts.find(({ id }) => id === outcome.joined)
      if (joined) await openSession(dependencies, visit, joined)
      return redirect(`${baseUrl}/t/${invitation.tenantSlug}/`)
    }
    if (outcome === 'over') return pageResponse(overPage)
    return pageResponse({ ...pageOf(visit, invitation, outcome.problem), status: outcome.status })
  }
  return { ...shown(path, show), ...sent(path, acceptWith, [limitSignIns(limiter)]) }
}

const secretOf = ({ params: { secret = '' } }: Visit): string => secret

const overPage = errorPage({
  status: 404,
  title: 'This invitation is over',
  detail:
    'You may have joined already: then sign in. Otherwise it was withdrawn, replaced or too old: ask the person who invited you for a new link.',
})

const pageOf = ({ form, url }: Visit, { email, role, tenantName }: OpenInvitation, problem?: string): Page => {
  const { account, name = '' } = form
  const given = { action: url, tenant: tenantName, email, role, name }
  if (problem === undefined) return invitationPage(given)
  return invitationPage({ ...given, problem: { with: account === 'existing' ? 'existing' : 'new', text: problem } })
}

type Outcome = { joined: string } | 'over' | { status: number; problem: string }

const accept = async (database: Database, visit: Visit, invitation: OpenInvitation): Promise<Outcome> => {
  const { account, name = '', password = '' } = visit.form
  const from = calledFrom(visit)
  let known: User | undefined
  if (account === 'existing') {
    const outcome = await signIn(database.query, from, invitation.email, password)
    if ('refused' in outcome && outcome.refused === 'throttled')
      return { status: 429, problem: refuseAttempt(visit, outcome.retryAfterSeconds) }
    // An account whose address is not proven belongs to one tenant.
    known = 'users' in outcome ? outcome.users.find(({ tenantId }) => tenantId === null) : undefined
    // The owner of the mailbox may know that there is such an account.
    const problem = 'users' in outcome && invitation.isMailed ? belongsElsewhere : wrongPassword
    if (!known) return { status: 422, problem }
  }
  const author = { kind: 'visitor', ...from, ...(known && { user: known.id }) } as const
  try {
    const account = known ?? { name, passwordHash: await hashPasswordOf(database.read, invitation.email, password) }
    return await database.transaction(async (query) => {
      if (!(await consumeInvitation(query, secretOf(visit)))) return 'over'
      return { joined: (await join(query, author, invitation, account)).id }
    })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { status: 422, problem: error.sentence }
  }
}

const wrongPassword =
  'Wrong password. If you have not joined an organisation by mail before, choose a new password above.'
const belongsElsewhere =
  'That account belongs to another organisation. Choose a new password above: it replaces the old one there, too.'

type NewAccount = Pick<User, 'name' | 'passwordHash'>

/** A link that was mailed proves the address; one that was shown to somebody else does not. */
const join = async (query: Query, author: Author, invitation: OpenInvitation, account: User | NewAccount) => {
  const { tenantId, email, role, isMailed } = invitation
  if ('id' in account) {
    const member = await addMember(query, author, account, { tenantId, role })
    if (isMailed) await proveAddress(query, account)
    return member
  }
  if (isMailed && (await findProvenUser(query, email)))
    throw new Refusal('you have an account with this address: enter its password below')
  return createMember(query, author, { tenantId, email, role, ...account, isProven: isMailed })
}
