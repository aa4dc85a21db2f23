import * as field from '../fields.ts'
import { longest } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'
import { webhookEventTypes, webhookLimits } from '../webhook-events.ts'
import { listOf } from './list-of.ts'

const EventList = Type.Array(field.oneOf(webhookEventTypes, 'A type of event.'), {
  description: 'The types of events that it is told of.',
  minItems: 1,
  uniqueItems: true,
})
const url = field.text('Where events are posted to: a public `https` address.', {
  minLength: 1,
  maxLength: longest.website,
})
const description = field.text('What it is for.', { maxLength: longest.name })

const endpointFields = {
  id: field.identifier('Identifier of the endpoint.'),
  kind: field.oneOf(
    ['webhook', 'legacy'],
    '`legacy`: the legacy system, which the operator attaches. It can be looked at here, and not changed.',
  ),
  url: field.text('Where events are posted to; of a legacy system without the query.'),
  description: field.text('What it is for; empty when nobody said.'),
  events: Type.Array(field.text('A type of event.'), {
    description: 'The types of events that it is told of; empty for a legacy system, which is told of every record.',
  }),
  createdAt: field.timestamp('When it was made.'),
  disabledAt: field.nullableTimestamp('When it was disabled; null while it is told of events.'),
  disabledBecause: Type.Unsafe<'requested' | 'gone' | 'failing' | null>({
    type: ['string', 'null'],
    description:
      '`requested`: somebody disabled it. `gone`: it answered 410. `failing`: it took nothing for five days. Null while it is not.',
  }),
  failingSince: field.nullableTimestamp('Since when every attempt has failed; null when the last one was taken.'),
  formerSecretUntil: field.nullableTimestamp('Until when events are also signed with the former secret.'),
  waiting: Type.Integer({ description: 'Deliveries that wait for their turn or for another attempt.' }),
  failed: Type.Integer({ description: 'Deliveries that were given up.' }),
}
export const WebhookEndpoint = Type.Object(endpointFields, { ...field.closed, title: 'WebhookEndpoint' })
const ShownWebhookEndpoint = Type.Object(
  { ...endpointFields, secret: field.text('The secret that signs events (`whsec_…`). It is shown only now.') },
  { ...field.closed, title: 'ShownWebhookEndpoint' },
)
const WebhookEndpointInput = Type.Object(
  { url, events: EventList, description: Type.Optional(description) },
  { ...field.closed, title: 'WebhookEndpointInput' },
)
const WebhookEndpointChange = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(EventList),
    description: Type.Optional(description),
    isDisabled: Type.Optional(
      Type.Boolean({
        description: `Stop sending; what happens is recorded for ${webhookLimits.keptDays} days. False: send again what waits.`,
      }),
    ),
  },
  { ...field.closed, title: 'WebhookEndpointChange' },
)
const WebhookReplayInput = Type.Object(
  { since: field.timestamp('Events from this moment on are sent again.') },
  { ...field.closed, title: 'WebhookReplayInput' },
)
const WebhookReplay = Type.Object(
  { replayed: Type.Integer({ description: 'Deliveries that are sent again, in order and under the same ids.' }) },
  { ...field.closed, title: 'WebhookReplay' },
)

const scope = 'webhooks:manage'

export const webhookEndpoints = defineResource({
  name: 'webhook-endpoints',
  singular: 'webhook endpoint',
  description: 'Addresses outside that are told what happens in the tenant.',
  record: WebhookEndpoint,
  operations: {
    GetWebhookEndpoints: {
      method: 'GET',
      path: '/webhook-endpoints',
      scope,
      summary: 'List the endpoints, the newest first',
      status: 200,
      response: listOf(WebhookEndpoint, 'WebhookEndpointList'),
    },
    CreateWebhookEndpoint: {
      method: 'POST',
      path: '/webhook-endpoints',
      scope,
      summary: 'Make an endpoint; its secret is shown once',
      body: WebhookEndpointInput,
      status: 201,
      response: ShownWebhookEndpoint,
      showsSecret: true,
      problems: ['conflict'],
    },
    GetWebhookEndpoint: {
      method: 'GET',
      path: '/webhook-endpoints/{endpointId}',
      scope,
      summary: 'Get an endpoint',
      status: 200,
      response: WebhookEndpoint,
    },
    UpdateWebhookEndpoint: {
      method: 'PATCH',
      path: '/webhook-endpoints/{endpointId}',
      scope,
      summary: 'Change an endpoint, disable or enable it',
      body: WebhookEndpointChange,
      status: 200,
      response: WebhookEndpoint,
      problems: ['conflict'],
    },
    DeleteWebhookEndpoint: {
      method: 'DELETE',
      path: '/webhook-endpoints/{endpointId}',
      scope,
      summary: 'Delete an endpoint with its deliveries',
      status: 200,
      response: WebhookEndpoint,
      problems: ['conflict'],
    },
    RotateWebhookSecret: {
      method: 'POST',
      path: '/webhook-endpoints/{endpointId}/rotate-secret',
      scope,
      summary: `Make a new secret; both sign for ${webhookLimits.rotationHours} hours`,
      status: 200,
      response: ShownWebhookEndpoint,
      showsSecret: true,
      problems: ['conflict'],
    },
    ReplayWebhookEvents: {
      method: 'POST',
      path: '/webhook-endpoints/{endpointId}/replay',
      scope,
      summary: 'Send the events of an endpoint again from a moment on',
      body: WebhookReplayInput,
      status: 200,
      response: WebhookReplay,
      problems: ['conflict'],
    },
  },
})
