import '../admin/administration.css'
import type { WebhookEndpoint } from '@masthead/client/management'
import { useQuery } from '@tanstack/react-query'
import { Link, usePathId } from '../address.tsx'
import { Ago } from '../design/ago.tsx'
import { formatInstant, formatNumber } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { Loading, Trouble } from '../design/states.tsx'
import { Permitted } from '../permission.tsx'
import { useManagement } from '../session.tsx'
import { Deliveries } from '../webhooks/deliveries.tsx'
import { EnableButton, EndpointActions } from '../webhooks/endpoint-actions.tsx'
import { nameOf, StateBadge, StateNotice } from '../webhooks/endpoint-state.tsx'
import { EventNames } from '../webhooks/event-names.tsx'
import { LegacyProperties, RetryButton } from '../webhooks/legacy-system.tsx'
import { endpointQuery } from '../webhooks/queries.ts'

export const Page = () => (
  <Permitted title="Webhooks" scope="webhooks:manage">
    <div className="page">
      <Endpoint />
    </div>
  </Permitted>
)

const crumbs = <Link to="/admin/webhooks">Webhooks</Link>

const Endpoint = () => {
  const management = useManagement()
  const { data: endpoint, error, refetch } = useQuery(endpointQuery(management, usePathId()))
  if (!endpoint && error)
    return (
      <>
        <PageHead title="This endpoint cannot be shown" crumbs={crumbs} />
        <Trouble error={error} onRetry={() => refetch()} />
      </>
    )
  if (!endpoint) return <Loading what="the endpoint" />
  const { kind, waiting, failed } = endpoint
  return (
    <>
      <PageHead
        title={nameOf(endpoint)}
        crumbs={crumbs}
        marks={<StateBadge endpoint={endpoint} />}
        actions={kind === 'webhook' ? <EndpointActions endpoint={endpoint} /> : waiting + failed > 0 && <RetryButton />}
      >
        {kind === 'legacy' && <>The operator of the service attaches it. It cannot be changed here.</>}
      </PageHead>
      <StateNotice endpoint={endpoint} actions={<EnableButton endpoint={endpoint} />} />
      <Details endpoint={endpoint} />
      <Deliveries endpoint={endpoint} />
    </>
  )
}

const Details = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const { kind, url, createdAt, formerSecretUntil, waiting, failed } = endpoint
  return (
    <section className="card" aria-label="Details">
      <dl className="properties">
        <div className="wide">
          <dt>Address</dt>
          <dd>{url}</dd>
        </div>
        <div className="wide">
          <dt>Is told of</dt>
          <dd>
            <EventNames endpoint={endpoint} />
          </dd>
        </div>
        <div>
          <dt>Waiting</dt>
          <dd>{formatNumber(waiting)}</dd>
        </div>
        <div>
          <dt>{kind === 'legacy' ? 'Failed, after three days of trying' : 'Failed, after the last attempt'}</dt>
          <dd>{formatNumber(failed)}</dd>
        </div>
        <div>
          <dt>{kind === 'legacy' ? 'Attached' : 'Made'}</dt>
          <dd>
            <Ago at={createdAt} />
          </dd>
        </div>
        {formerSecretUntil !== null && (
          <div>
            <dt>Signed with the former secret, too</dt>
            <dd>until {formatInstant(formerSecretUntil)}</dd>
          </div>
        )}
        {kind === 'legacy' && <LegacyProperties />}
      </dl>
    </section>
  )
}
