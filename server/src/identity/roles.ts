import { type Scope, scopes } from '@masthead/contract'

export const roles = ['admin', 'editor', 'viewer'] as const
export type Role = (typeof roles)[number]

export const allScopes = Object.keys(scopes) as Scope[] // the keys of `scopes` are the scopes

/** What a member may do in the tenant, whatever the token says. */
export const allows = (role: Role, scope: Scope): boolean => role !== 'viewer' || scope.endsWith(':read')
