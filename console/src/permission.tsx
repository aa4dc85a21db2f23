import {
  allows,
  isManagementScope,
  type ManagementScope,
  managementScopes,
  roles,
  type Scope,
  scopes,
} from '@masthead/contract'
import type { ReactNode } from 'react'
import { roleNames } from './admin/role-choice.tsx'
import { PageHead } from './design/page-head.tsx'
import { useMe } from './session.tsx'

/** Whether the role of who is signed in allows it. The service decides by the same rule; this only spares vain attempts. */
export const useMay = (scope: Scope | ManagementScope): boolean => allows(useMe().tenant.role, scope)

type PermittedProps = { scope: Scope | ManagementScope; title: string; children: ReactNode }

/** A page for those who may; others learn which role it takes, and whom they can ask. */
export const Permitted = ({ scope, title, children }: PermittedProps) => {
  const { tenant, admins } = useMe()
  if (allows(tenant.role, scope)) return children
  const { label, withArticle } = roleNames[roles.findLast((role) => allows(role, scope)) ?? 'admin']
  const words = isManagementScope(scope) ? managementScopes[scope].words : scopes[scope]
  return (
    <div className="page">
      <PageHead title={title} />
      <div className="card padded section">
        <h2>This page is for {label.toLowerCase()}s</h2>
        <p>
          In {tenant.name} you are {roleNames[tenant.role].withArticle}. It takes {withArticle} to{' '}
          {words.charAt(0).toLowerCase() + words.slice(1)}.
        </p>
        {admins.length > 0 && (
          <>
            <p>Who can help:</p>
            <ul className="section">
              {admins.map(({ name, email }) => (
                <li key={email}>
                  {name}, <a href={`mailto:${email}`}>{email}</a>
                </li>
              ))}
            </ul>
          </>
        )}
        {admins.length === 0 && <p>This tenant has no admin: the operator of the service can give you the role.</p>}
      </div>
    </div>
  )
}
