import type { Role } from '@masthead/contract'
import type { Query } from '../database/connection.ts'
import { lockCallerMembership } from '../identity/consents.ts'
import type { Principal } from '../identity/principal.ts'
import type { Answer } from '../operation-call.ts'
import { invalidProperty, Problem } from '../problem.ts'

/** What a handler answers, where no body is stored as it is sent. */
export const json = (value: object, location?: string): Answer => ({
  body: JSON.stringify(value),
  ...(location !== undefined && { location }),
})

export const notFound = (what: string): Problem => new Problem('not_found', `There is no such ${what} here.`)

/** The caller as a user: the scopes of this interface are given to no other. */
export const userOf = ({ userId }: { userId: string | null }): string => {
  if (userId !== null) return userId
  throw new Error('a management operation was called by no user')
}

/** What somebody makes must not outlive what ended their right to it while it was made. */
export const requireMember = async (query: Query, principal: Principal, role?: Role): Promise<void> => {
  const held = await lockCallerMembership(query, principal)
  if (!held) throw new Problem('invalid_token', 'Your session or your membership has ended.')
  if (role !== undefined && held.role !== role) throw new Problem('insufficient_role', `This takes the role ${role}.`)
}

/** A schema lets spaces pass, which name nothing. */
export const requireWords = (property: string, text: string): void => {
  if (text.trim() === '') throw invalidProperty(property, 'too_short', `\`${property}\` must not be empty.`)
}

export const signedInElsewhere = (): Problem =>
  new Problem('conflict', 'People sign in at an identity provider outside: this is done there, or by the operator.')
