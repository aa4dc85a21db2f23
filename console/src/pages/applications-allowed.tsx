import '../admin/administration.css'
import type { Consent } from '@masthead/client/management'
import { scopes } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../admin/confirm-dialog.tsx'
import { Ago } from '../design/ago.tsx'
import { Fetched } from '../design/fetched.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Empty } from '../design/states.tsx'
import { TableHead } from '../design/table-head.tsx'
import { useManagement, useMe } from '../session.tsx'

const queryKey = ['consents']

export const Page = () => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { tenant } = useMe()
  const query = useQuery({ queryKey, queryFn: ({ signal }) => management.consents.list({ signal }) })
  const [withdrawn, setWithdrawn] = useState<Consent>()
  return (
    <div className="page">
      <PageHead title="Allowed applications">What you allowed applications to do for you in {tenant.name}.</PageHead>
      <Fetched query={query} what="what you allowed">
        {({ items }) => (
          <div className="card table-frame">
            {items.length === 0 ? (
              <Empty title="You allowed no application anything">
                <p>
                  When an application asks to act for you and you consent, it stands here, and you can withdraw what you
                  allowed.
                </p>
              </Empty>
            ) : (
              <Consents items={items} onWithdraw={setWithdrawn} />
            )}
          </div>
        )}
      </Fetched>
      {withdrawn && (
        <ConfirmDialog
          title={`Withdraw what you allowed ${withdrawn.application}?`}
          action="Withdraw"
          onClose={() => setWithdrawn(undefined)}
          onConfirm={async () => {
            await management.consents.delete(withdrawn.id)
            await queryClient.invalidateQueries({ queryKey })
          }}
        >
          <p>{withdrawn.application} is refused from now on. When it needs you again, it asks you again.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

const Consents = ({ items, onWithdraw }: { items: readonly Consent[]; onWithdraw: (consent: Consent) => void }) => (
  <table className="records plain">
    <caption className="visually-hidden">Allowed applications</caption>
    <TableHead columns={['Application', 'It may', 'Allowed']} hasActions />
    <tbody>
      {items.map((consent) => (
        <tr key={consent.id}>
          <td>
            <strong className="row-title">{consent.application}</strong>
          </td>
          <td data-label="It may">
            <ul>
              {consent.scopes.map((scope) => (
                <li key={scope}>{scopes[scope]}</li>
              ))}
            </ul>
          </td>
          <td data-label="Allowed">
            <Ago at={consent.createdAt} />
          </td>
          <td className="row-actions">
            <button type="button" className="button danger" onClick={() => onWithdraw(consent)}>
              Withdraw<span className="visually-hidden"> what {consent.application} may do</span>
            </button>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)
