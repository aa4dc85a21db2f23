import './webhooks.css'
import type { WebhookEndpoint } from '@masthead/client/management'
import { isWebhookEventType, webhookEvents } from '@masthead/contract'

/** The events that an endpoint is told of, by their names. */
export const EventNames = ({ endpoint: { kind, events } }: { endpoint: WebhookEndpoint }) => {
  if (kind === 'legacy') return <p className="muted small">Every change of an account, a contact or a task</p>
  return (
    <ul className="event-names" aria-label="Events">
      {events.map((type) => (
        <li key={type} title={isWebhookEventType(type) ? webhookEvents[type].summary : undefined}>
          <code>{type}</code>
        </li>
      ))}
    </ul>
  )
}
