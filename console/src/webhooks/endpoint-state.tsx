import type { WebhookEndpoint } from '@masthead/client/management'
import { webhookLimits } from '@masthead/contract'
import type { ReactNode } from 'react'
import { Badge } from '../design/badge.tsx'
import { formatInstant, formatNumber } from '../design/formats.ts'

/** What an endpoint is called: what it is for, or else its address. */
export const nameOf = ({ kind, description, url }: WebhookEndpoint): string => {
  if (kind === 'legacy') return 'Legacy system'
  const { host, pathname } = new URL(url)
  return description || host + (pathname === '/' ? '' : pathname)
}

export const StateBadge = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const { disabledAt, disabledBecause, failingSince } = endpoint
  if (disabledAt !== null) return <Badge tone={disabledBecause === 'requested' ? 'calm' : 'problem'}>Disabled</Badge>
  return failingSince === null ? <Badge tone="good">Enabled</Badge> : <Badge tone="caution">Failing</Badge>
}

/** Where somebody disabled it, the audit trail says who. */
const reasons: Readonly<Record<string, string>> = {
  gone: 'it answered 410 (Gone)',
  failing: 'it took nothing for five days',
}

/** Since when, and why, in a few words; nothing where all is well. */
export const StateReason = ({ endpoint }: { endpoint: WebhookEndpoint }) => {
  const { disabledAt, disabledBecause, failingSince } = endpoint
  const since = disabledAt ?? failingSince
  const reason = disabledAt === null ? undefined : reasons[disabledBecause ?? '']
  return (
    since !== null && (
      <>
        since {formatInstant(since)}
        {reason && `: ${reason}`}
      </>
    )
  )
}

/** What is wrong with an endpoint, and what can be done about it. */
export const StateNotice = ({ endpoint, actions }: { endpoint: WebhookEndpoint; actions?: ReactNode }) => {
  const { kind, disabledAt, disabledBecause, failingSince, waiting } = endpoint
  if (disabledAt !== null)
    return (
      <section className={disabledBecause === 'requested' ? 'notice caution' : 'notice'} aria-label="State">
        <h2>
          Disabled <StateReason endpoint={endpoint} />
        </h2>
        <p>
          Nothing is sent. What happens meanwhile is recorded for {webhookLimits.keptDays} days
          {waiting > 0 && <>: {formatNumber(waiting)} wait</>}. Enabling it sends what waits.
        </p>
        {actions}
      </section>
    )
  return failingSince === null ? null : (
    <section className="notice caution" aria-label="State">
      <h2>
        Failing <StateReason endpoint={endpoint} />
      </h2>
      <p>
        The deliveries below say what the attempts met. They are repeated at growing intervals
        {kind === 'webhook' ? '; after five days without a success the endpoint is disabled.' : ', for three days.'}
      </p>
    </section>
  )
}
