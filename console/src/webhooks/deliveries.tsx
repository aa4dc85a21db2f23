import './webhooks.css'
import type { WebhookDelivery, WebhookEndpoint } from '@masthead/client/management'
import { webhookLimits } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import { useParameters, useSetParameters } from '../address.tsx'
import { Ago } from '../design/ago.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatNumber } from '../design/formats.ts'
import { Segments } from '../design/segments.tsx'
import { Empty } from '../design/states.tsx'
import { TableHead } from '../design/table-head.tsx'
import { beforeOf, OlderPages } from '../lists/older-pages.tsx'
import { useManagement } from '../session.tsx'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { DeliveryState, formatDuration, ResendButton } from './delivery-state.tsx'
import { deliveriesQuery } from './queries.ts'

const filters = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['waiting', 'Waiting'],
  ['delivered', 'Delivered'],
] as const

/** What was sent to an endpoint, and what waits. It keeps itself up to date. */
export const Deliveries = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const management = useManagement()
  const parameters = useParameters()
  const setParameters = useSetParameters()
  const [state] = filters.find(([name]) => name === parameters.state) ?? ['']
  const asked = {
    state: state === '' ? undefined : state,
    before: beforeOf(parameters),
  }
  const query = useQuery(deliveriesQuery(management, endpoint.id, asked))
  const open = (delivery: string | undefined) => setParameters({ delivery }, { replace: true })
  return (
    <section className="section" aria-labelledby="deliveries">
      <div className="section-head deliveries-head">
        <div>
          <h2 id="deliveries">Deliveries</h2>
          <p className="muted small">Of the last {webhookLimits.keptDays} days. This list keeps itself up to date.</p>
        </div>
        <Segments
          legend="Which deliveries"
          options={filters}
          value={state}
          onChange={(chosen) => setParameters({ state: chosen, before: undefined }, { replace: true })}
        />
      </div>
      <Fetched query={query} what="the deliveries">
        {({ items, next }) => (
          <>
            <div className="card table-frame" aria-busy={query.isPlaceholderData}>
              {items.length === 0 ? (
                <Nothing state={state} endpoint={endpoint} />
              ) : (
                <DeliveryTable endpoint={endpoint} deliveries={items} onOpen={open} />
              )}
            </div>
            <OlderPages to="/admin/webhooks/$id" id={endpoint.id} parameters={parameters} next={next} />
          </>
        )}
      </Fetched>
      {parameters.delivery !== undefined && (
        <DeliveryDialog endpoint={endpoint} id={parameters.delivery} onClose={() => open(undefined)} />
      )}
    </section>
  )
}

const Nothing = ({ state, endpoint }: { state: string; endpoint: WebhookEndpoint }) => {
  if (state === 'failed')
    return (
      <Empty title="No delivery failed">
        <p>Those that the endpoint has not taken after the last attempt stand here.</p>
      </Empty>
    )
  if (state === 'waiting') return <Empty title="Nothing waits" />
  return (
    <Empty title="Nothing was sent yet">
      {endpoint.kind === 'legacy' ? (
        <p>Every change of an account, a contact or a task is sent, and then stands here.</p>
      ) : (
        <p>Send a test event to see whether the endpoint takes it. What it is told of then stands here.</p>
      )}
    </Empty>
  )
}

type DeliveryTableProps = {
  endpoint: WebhookEndpoint
  deliveries: readonly WebhookDelivery[]
  onOpen: (id: string) => void
}

const DeliveryTable = ({ endpoint, deliveries, onOpen }: DeliveryTableProps) => (
  <table className="records plain">
    <caption className="visually-hidden">Deliveries</caption>
    <TableHead
      columns={['Event', 'State', 'Last response', { amount: 'Took' }, { amount: 'Attempts' }, 'Happened']}
      hasActions
    />
    <tbody>
      {deliveries.map((delivery) => (
        <tr key={delivery.number}>
          <td>
            <button type="button" className="link-button row-title" onClick={() => onOpen(delivery.id)}>
              {delivery.type}
            </button>
          </td>
          <td data-label="State">
            <DeliveryState delivery={delivery} />
          </td>
          <td data-label="Last response">
            <LastResponse delivery={delivery} />
          </td>
          <td data-label="Took" className="end">
            {delivery.durationMs === null ? '–' : formatDuration(delivery.durationMs)}
          </td>
          <td data-label="Attempts" className="end">
            {formatNumber(delivery.attempts)}
          </td>
          <td data-label="Happened">
            <Ago at={delivery.createdAt} />
          </td>
          <td className="row-actions">
            <ResendButton endpoint={endpoint} delivery={delivery} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const LastResponse = ({ delivery: { status, error } }: { delivery: WebhookDelivery }) => {
  if (status === null && error === null) return <span className="muted">None yet</span>
  return error === null ? status : <span className="problem-text">{error}</span>
}
