import { allows, type ManagementScope, managementScopes } from '@masthead/contract'
import type { ReactNode } from 'react'
import { PageHead } from '../design/page-head.tsx'
import { useMe } from '../session.tsx'
import { roleNames } from './role-choice.tsx'

/** A page that takes an admin; others are told so, and whom they can ask. */
export const AdminsOnly = ({
  title,
  scope,
  children,
}: {
  title: string
  scope: ManagementScope
  children: ReactNode
}) => {
  const { tenant, admins } = useMe()
  if (allows(tenant.role, scope)) return children
  const { words } = managementScopes[scope]
  return (
    <div className="page">
      <PageHead title={title} />
      <div className="card padded section">
        <h2>This page is for admins</h2>
        <p>
          You are {roleNames[tenant.role].withArticle} of {tenant.name}. It takes an admin to{' '}
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
        {admins.length === 0 && <p>This tenant has no admin: the operator of the service can make you one.</p>}
      </div>
    </div>
  )
}
