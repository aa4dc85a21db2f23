import {
  isManagementScope,
  type ManagementScope,
  managementScopes,
  type Role,
  type Scope,
  scopes,
} from '@masthead/contract'

export const allScopes = Object.keys(scopes) as Scope[] // the keys of `scopes` are the scopes

/** What a member may do in the tenant, whatever the token says. */
export const allows = (role: Role, scope: Scope | ManagementScope): boolean => {
  if (isManagementScope(scope)) return role === 'admin' || !managementScopes[scope].adminsOnly
  return role !== 'viewer' || scope.endsWith(':read')
}
