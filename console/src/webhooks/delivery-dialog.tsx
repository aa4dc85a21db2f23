import './webhooks.css'
import type { WebhookDeliveryDetail, WebhookEndpoint } from '@masthead/client/management'
import { webhookLimits } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import { Ago } from '../design/ago.tsx'
import { Copied } from '../design/copied.tsx'
import { Dialog } from '../design/dialog.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatInstant, formatNumber } from '../design/formats.ts'
import { useManagement } from '../session.tsx'
import { DeliveryState, formatDuration, ResendButton } from './delivery-state.tsx'
import { deliveryQuery } from './queries.ts'

type DeliveryDialogProps = { endpoint: WebhookEndpoint; id: string; onClose: () => void }

/** One delivery in full: what is sent, and what came of it. */
export const DeliveryDialog = ({ endpoint, id, onClose }: DeliveryDialogProps) => {
  const management = useManagement()
  const query = useQuery(deliveryQuery(management, endpoint.id, id))
  return (
    <Dialog title={query.data?.type ?? 'A delivery'} isWide onClose={onClose}>
      <Fetched query={query} what="the delivery">
        {(delivery) => (
          <div className="delivery">
            <Outcome delivery={delivery} />
            <Exchange delivery={delivery} />
            <div className="dialog-actions">
              <button type="button" className="button" onClick={onClose}>
                Close
              </button>
              <ResendButton endpoint={endpoint} delivery={delivery} isMain />
            </div>
          </div>
        )}
      </Fetched>
    </Dialog>
  )
}

const Outcome = ({ delivery }: { delivery: WebhookDeliveryDetail }) => {
  const { createdAt, triedAt, nextAttemptAt, attempts, status, error, durationMs } = delivery
  return (
    <dl className="properties">
      <div>
        <dt>State</dt>
        <dd>
          <DeliveryState delivery={delivery} />
        </dd>
      </div>
      <div>
        <dt>Happened</dt>
        <dd>{formatInstant(createdAt)}</dd>
      </div>
      <div>
        <dt>Attempts</dt>
        <dd>
          {formatNumber(attempts)}
          {triedAt !== null && (
            <>
              , the last <Ago at={triedAt} />
            </>
          )}
        </dd>
      </div>
      {durationMs !== null && (
        <div>
          <dt>The last took</dt>
          <dd>{formatDuration(durationMs)}</dd>
        </div>
      )}
      {status !== null && (
        <div>
          <dt>Status</dt>
          <dd>{status}</dd>
        </div>
      )}
      {nextAttemptAt !== null && (
        <div>
          <dt>Next attempt</dt>
          <dd>
            <Ago at={nextAttemptAt} />
          </dd>
        </div>
      )}
      {error !== null && (
        <div className="wide">
          <dt>What the last attempt met</dt>
          <dd className="problem-text">{error}</dd>
        </div>
      )}
    </dl>
  )
}

const Exchange = ({ delivery: { id, request, response } }: { delivery: WebhookDeliveryDetail }) => (
  <>
    <Copied
      label="Request"
      text={`POST ${request.url}\ncontent-type: application/json\nwebhook-id: ${id}\nwebhook-timestamp: …\nwebhook-signature: v1,…`}
    />
    <p className="muted small">Timestamp and signature are new with every attempt, the id is always the same.</p>
    <Copied label="Request body" text={request.body} shown={laidOut(request.body)} />
    {response === null ? (
      <p className="muted">There was no response yet.</p>
    ) : response === '' ? (
      <p className="muted">The response had no body.</p>
    ) : (
      <Copied label={`Response body, the first ${webhookLimits.responseBytes / 1_024} KiB`} text={response} />
    )}
  </>
)

/** The body is JSON in one line. Of erased contacts it may be something else. */
const laidOut = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
