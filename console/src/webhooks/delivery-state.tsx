import type { WebhookDelivery, WebhookEndpoint } from '@masthead/client/management'
import { useQueryClient } from '@tanstack/react-query'
import { Badge } from '../design/badge.tsx'
import { formatNumber } from '../design/formats.ts'
import { Trouble } from '../design/states.tsx'
import { useSubmission } from '../forms/submission.ts'
import { useManagement } from '../session.tsx'
import { queryKey } from './queries.ts'

const states = {
  waiting: { tone: 'calm', label: 'Waiting' },
  delivered: { tone: 'good', label: 'Delivered' },
  failed: { tone: 'problem', label: 'Failed' },
} as const

export const DeliveryState = ({ delivery: { state, error } }: { delivery: WebhookDelivery }) =>
  // It was tried, and is tried again.
  state === 'waiting' && error !== null ? (
    <Badge tone="caution">Trying again</Badge>
  ) : (
    <Badge tone={states[state].tone}>{states[state].label}</Badge>
  )

export const formatDuration = (milliseconds: number): string =>
  milliseconds < 1_000 ? `${milliseconds} ms` : `${formatNumber(Math.round(milliseconds / 100) / 10)} s`

type ResendButtonProps = { endpoint: WebhookEndpoint; delivery: WebhookDelivery; isMain?: boolean }

/** Nothing is sent to an endpoint that is disabled; deliveries to a legacy system are tried all together. */
export const ResendButton = ({ endpoint, delivery, isMain = false }: ResendButtonProps) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, send } = useSubmission({ isRepeatable: true })
  const resend = async () => {
    await send({}, (_, options) => management.deliveries.resend(endpoint.id, delivery.id, options))
    await queryClient.invalidateQueries({ queryKey })
  }
  if (endpoint.kind === 'legacy' || endpoint.disabledAt !== null) return null
  return (
    <>
      {error !== undefined && <Trouble error={error} />}
      <button type="button" className={isMain ? 'button primary' : 'button'} aria-disabled={isBusy} onClick={resend}>
        Send again<span className="visually-hidden"> {delivery.type}</span>
      </button>
    </>
  )
}
