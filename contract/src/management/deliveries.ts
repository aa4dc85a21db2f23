import * as field from '../fields.ts'
import { before, defineResource, next } from '../operation.ts'
import { Type } from '../schema.ts'
import { webhookLimits } from '../webhook-events.ts'

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

const deliveryFields = {
  id: field.text('The `webhook-id` of the event (`msg_…`), which every attempt carries.'),
  endpointId: field.identifier('The endpoint.'),
  number: Type.Integer({ description: 'Number of the event; newer ones have larger numbers.' }),
  type: field.text('Type of the event.'),
  recordId: field.identifier('The record that it tells of.'),
  state: field.oneOf(
    deliveryStates,
    '`failed`: it was given up after the last attempt. `waiting`: it waits for its turn or for another attempt.',
  ),
  createdAt: field.timestamp('When the event happened.'),
  attempts: Type.Integer({ description: 'How many attempts were begun.' }),
  triedAt: field.nullableTimestamp('When the last attempt began; null before the first.'),
  nextAttemptAt: field.nullableTimestamp('When the next attempt is due; null when there is none.'),
  status: field.nullableInteger('Status of the last response; null when there was none.'),
  error: field.nullableText('Why the last attempt failed; null when it was taken, and before the first.'),
  durationMs: field.nullableInteger('How long the last attempt took, in milliseconds.'),
}
const WebhookDelivery = Type.Object(deliveryFields, { ...field.closed, title: 'WebhookDelivery' })
const WebhookDeliveryDetail = Type.Object(
  {
    ...deliveryFields,
    request: Type.Object(
      {
        url: field.text('The address that it is posted to, without the query.'),
        body: field.text('The body, byte for byte. The signature covers it.'),
      },
      { ...field.closed, description: 'What is sent.' },
    ),
    response: field.nullableText(
      `The first ${webhookLimits.responseBytes} bytes of the last response; null when there was none.`,
    ),
  },
  { ...field.closed, title: 'WebhookDeliveryDetail' },
)

const scope = 'webhooks:manage'

export const deliveries = defineResource({
  name: 'deliveries',
  singular: 'delivery',
  description: `What was sent to an endpoint in the last ${webhookLimits.keptDays} days, and what waits.`,
  record: WebhookDelivery,
  operations: {
    GetWebhookDeliveries: {
      method: 'GET',
      path: '/webhook-endpoints/{endpointId}/deliveries',
      scope,
      summary: 'List the deliveries of an endpoint, the newest first, 50 at a time',
      query: Type.Object({
        before: before('deliveries'),
        state: Type.Optional(field.oneOf(deliveryStates, 'Only deliveries in this state.')),
      }),
      status: 200,
      response: Type.Object(
        {
          items: Type.Array(WebhookDelivery, { description: 'Up to 50 deliveries.' }),
          next,
        },
        { ...field.closed, title: 'WebhookDeliveryList' },
      ),
    },
    SendTestEvent: {
      method: 'POST',
      path: '/webhook-endpoints/{endpointId}/test',
      scope,
      summary: 'Send a test event to an endpoint',
      status: 201,
      response: WebhookDelivery,
      problems: ['conflict'],
    },
    GetWebhookDelivery: {
      method: 'GET',
      path: '/webhook-endpoints/{endpointId}/deliveries/{deliveryId}',
      scope,
      summary: 'Get a delivery with its request and the response',
      status: 200,
      response: WebhookDeliveryDetail,
    },
    ResendWebhookDelivery: {
      method: 'POST',
      path: '/webhook-endpoints/{endpointId}/deliveries/{deliveryId}/resend',
      scope,
      summary: 'Send a delivery again now, under the same id',
      status: 200,
      response: WebhookDelivery,
      problems: ['conflict'],
    },
  },
})
