import { allows, type Scope } from '@masthead/contract'
import type { ReactNode } from 'react'
import { PageHead } from './design/page-head.tsx'
import { useMe } from './session.tsx'

/** Whether the role of who is signed in allows it. The service decides by the same rule; this only spares vain attempts. */
export const useMay = (scope: Scope): boolean => allows(useMe().tenant.role, scope)

type PermittedProps = { scope: Scope; title: string; children: ReactNode }

/** A page for those who may; others learn why they do not see it. */
export const Permitted = ({ scope, title, children }: PermittedProps) => {
  const may = useMay(scope)
  const { tenant } = useMe()
  if (may) return children
  return (
    <div className="page">
      <PageHead title={title} />
      <div className="notice">
        <h2>Your role does not allow this</h2>
        <p>
          In {tenant.name} you are a {tenant.role}: you may look at records, but not change them. An administrator can
          make you an editor.
        </p>
      </div>
    </div>
  )
}
