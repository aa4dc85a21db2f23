import type { TSchema } from 'typebox'
import * as field from './fields.ts'
import { type Json, Type } from './schema.ts'
import { sentEvents } from './webhook-events.ts'

/** The requests that an endpoint receives, one for each type of event. */
export const describeWebhooks = (refer: (schema: TSchema) => Json): Json =>
  Object.fromEntries(
    Object.entries(sentEvents).map(([type, { summary, data }]) => [
      type,
      {
        post: {
          operationId: operationIdOf(type),
          summary,
          description,
          parameters,
          requestBody: { required: true, content: { 'application/json': { schema: bodyOf(type, refer(data)) } } },
          responses: {
            '2XX': { description: 'The event was taken. Anything else is retried.' },
            410: { description: 'The endpoint is gone, and is disabled.' },
          },
          security: [],
        },
      },
    ]),
  )

const description =
  'Signed as [Standard Webhooks](https://www.standardwebhooks.com) says, with the secret of the endpoint. An event may come more than once, under the same `webhook-id`. Those of one record come in order.'

const operationIdOf = (type: string): string =>
  `on${type
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}`

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

const parameters: Json = [
  header('webhook-id', 'Names the event; the same in every attempt.'),
  header('webhook-timestamp', 'When the attempt was made, in seconds since 1970.'),
  header(
    'webhook-signature',
    '`v1,` and the HMAC-SHA256, in base64, of id, timestamp and body joined by dots; two, separated by a space, while the secret is rotated.',
  ),
]

const bodyOf = (type: string, data: Json): Json => {
  const { properties, ...body } = Type.Object(
    { type: Type.Literal(type), timestamp: field.timestamp('When it happened.'), data: Type.Unsafe({}) },
    field.closed,
  )
  return { ...body, properties: { ...JSON.parse(JSON.stringify(properties)), data } }
}
