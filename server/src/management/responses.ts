import type { Role } from '@masthead/contract'
import type { Query } from '../database/connections/connection.ts'
import { lockCallerMembership } from '../identity/consents.ts'
import type { Principal } from '../identity/principal.ts'
import type { HandlerResult } from '../operation-call.ts'
import { invalidProperty, Problem } from '../problem.ts'
import { Refusal } from '../refusal.ts'

export const json = (value: object, location?: string): HandlerResult => ({
  body: JSON.stringify(value),
  ...(location !== undefined && { location }),
})

export const notFound = (what: string): Problem => new Problem('not_found', `There is no such ${what} here.`)

/** Every caller is a user: the scopes of this interface belong to roles. */
export const userOf = ({ userId }: { userId: string | null }): string => {
  if (userId !== null) return userId
  throw new Error('a management operation was called by no user')
}

/** Locks the membership, so that nothing is created for a caller whose right to it has just ended. */
export const requireMember = async (query: Query, principal: Principal, role?: Role): Promise<void> => {
  const membership = await lockCallerMembership(query, principal)
  if (!membership) throw new Problem('invalid_token', 'Your session or your membership has ended.')
  if (role && membership.role !== role) throw new Problem('insufficient_role', `This takes the role ${role}.`)
}

/** What an operator would be refused at the command line is a conflict here. */
export const conflictIfRefused = <T>(done: Promise<T>): Promise<T> =>
  done.catch((error) => {
    if (!(error instanceof Refusal)) throw error
    throw new Problem('conflict', `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`)
  })

/** The schema lets a name of spaces pass. */
export const requireText = (property: string, text: string): void => {
  if (text.trim() === '') throw invalidProperty(property, 'too_short', `\`${property}\` must not be empty.`)
}

export const signedInElsewhere = (): Problem =>
  new Problem('conflict', 'People sign in at an identity provider outside: this is done there, or by the operator.')
