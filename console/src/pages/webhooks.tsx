import '../admin/administration.css'
import '../webhooks/webhooks.css'
import type { ShownWebhookEndpoint, WebhookEndpoint } from '@masthead/client/management'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from '../address.tsx'
import { Badge } from '../design/badge.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatNumber } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { Empty } from '../design/states.tsx'
import { TableHead } from '../design/table-head.tsx'
import { Permitted } from '../permission.tsx'
import { useManagement } from '../session.tsx'
import { MakeDialog } from '../webhooks/endpoint-form.tsx'
import { nameOf, StateBadge, StateReason } from '../webhooks/endpoint-state.tsx'
import { EventNames } from '../webhooks/event-names.tsx'
import { NoLegacySystem } from '../webhooks/legacy-system.tsx'
import { endpointsQuery } from '../webhooks/queries.ts'
import { SecretOnce } from '../webhooks/secret.tsx'

const title = 'Webhooks'

export const Page = () => (
  <Permitted title={title} scope="webhooks:manage">
    <Webhooks />
  </Permitted>
)

type Asked = { for: 'making' } | { for: 'showing'; shown: ShownWebhookEndpoint }

const Webhooks = () => {
  const management = useManagement()
  const query = useQuery(endpointsQuery(management))
  const [asked, setAsked] = useState<Asked>()
  // A late answer closes its own dialog, not the one that was opened after it.
  const onClose = () => setAsked((now) => (now === asked ? undefined : now))
  return (
    <div className="page">
      <PageHead
        title={title}
        actions={
          <button type="button" className="button primary" onClick={() => setAsked({ for: 'making' })}>
            Make an endpoint
          </button>
        }
      >
        Addresses outside that are told what happens here, as soon as it does.
      </PageHead>
      <Fetched query={query} what="the endpoints">
        {({ items }) => (
          <>
            <div className="card table-frame">
              {items.length === 0 ? <NoEndpoint /> : <EndpointTable endpoints={items} />}
            </div>
            {items.every(({ kind }) => kind !== 'legacy') && <NoLegacySystem />}
          </>
        )}
      </Fetched>
      {asked?.for === 'making' && (
        <MakeDialog onClose={onClose} onMade={(shown) => setAsked({ for: 'showing', shown })} />
      )}
      {asked?.for === 'showing' && <SecretOnce shown={asked.shown} onClose={onClose} />}
    </div>
  )
}

const NoEndpoint = () => (
  <Empty title="Nobody is told of anything yet">
    <p>
      Another system need not ask again and again what is new: make an endpoint with its address, and it gets a signed
      POST for every event that you choose. What it does not take is sent again for days.
    </p>
  </Empty>
)

const EndpointTable = ({ endpoints }: { endpoints: readonly WebhookEndpoint[] }) => (
  <table className="records plain">
    <caption className="visually-hidden">Endpoints</caption>
    <TableHead columns={['Endpoint', 'State', { amount: 'Waiting' }, { amount: 'Failed' }]} />
    <tbody>
      {endpoints.map((endpoint) => (
        <tr key={endpoint.id}>
          <td>
            <Link to="/admin/webhooks/$id" id={endpoint.id} className="title-link">
              {nameOf(endpoint)}
            </Link>
            <p className="small">
              <code>{endpoint.url}</code>
            </p>
            <EventNames endpoint={endpoint} />
          </td>
          <td data-label="State">
            <div>
              <StateBadge endpoint={endpoint} />{' '}
              <span className="muted small">
                <StateReason endpoint={endpoint} />
              </span>
            </div>
          </td>
          <td data-label="Waiting" className="end">
            {formatNumber(endpoint.waiting)}
          </td>
          <td data-label="Failed" className="end">
            {endpoint.failed === 0 ? 0 : <Badge tone="problem">{formatNumber(endpoint.failed)}</Badge>}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)
