import type { Role } from '@masthead/contract'
import type { Query } from '../database/connections/statement.ts'
import type { TenantDatabase } from '../database/database.ts'
import { lockCallerMembership } from '../identity/people/consents.ts'
import type { Principal } from '../identity/principal.ts'
import type { HandlerResult } from '../operation-call.ts'
import { invalidProperty, Problem } from '../problem.ts'
import { find } from '../webhooks/administration.ts'

export const json = (value: object, location?: string): HandlerResult => ({ body: JSON.stringify(value), location })

export const notFound = (what: string): Problem => new Problem('not_found', `There is no such ${what} here.`)

/** The first of those that were found, one more than a page holds, and the number before which the next page begins. */
export const pageOf = <T extends { number: number }>(found: readonly T[], pageSize: number) => {
  const items = found.slice(0, pageSize)
  return { items, next: found.length > pageSize ? (items.at(-1)?.number ?? null) : null }
}

/** Returns what was looked up, or answers 404 where there is none. */
export const existing = <T>(what: string, it: T | null | undefined): T => {
  if (it === null || it === undefined) throw notFound(what)
  return it
}

export const endpointOf = async (tenant: TenantDatabase, id: string) =>
  existing('webhook endpoint', await find(tenant, id))

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

/** The schema lets a name of spaces pass. */
export const requireText = (property: string, text: string): void => {
  if (text.trim() === '') throw invalidProperty(property, 'too_short', `\`${property}\` must not be empty.`)
}

export const signedInElsewhere = (): Problem =>
  new Problem('conflict', 'People sign in at an identity provider outside: this is done there, or by the operator.')
