import { oneOf } from '../fields.ts'
import type { Scope } from '../scopes.ts'
import { isManagementScope, type ManagementScope, managementScopes } from './scopes.ts'

export const roles = ['admin', 'editor', 'viewer'] as const
export type Role = (typeof roles)[number]

export const Role = oneOf(
  roles,
  '`admin`: everything, and the administration. `editor`: everything in the records. `viewer`: looks only.',
)

/** What a member may do in the tenant, whatever the token says. */
export const allows = (role: Role, scope: Scope | ManagementScope): boolean => {
  if (isManagementScope(scope)) return role === 'admin' || !managementScopes[scope].adminsOnly
  return role !== 'viewer' || scope.endsWith(':read')
}
