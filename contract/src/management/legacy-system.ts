import * as field from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'

const LegacySystem = Type.Object(
  {
    isAttached: Type.Boolean({ description: 'Whether the tenant has a legacy system.' }),
    url: field.nullableText('Where records are handed to, without user name, password and query.'),
    attachedAt: field.nullableTimestamp('Since when.'),
    waiting: Type.Integer({ description: 'Deliveries that wait for their turn or for another attempt.' }),
    failed: Type.Integer({ description: 'Deliveries that were given up after three days.' }),
    oldestWaiting: field.nullableTimestamp('When the oldest that waits was written.'),
    lastError: field.nullableText('What the last failed attempt met.'),
    lastErrorAt: field.nullableTimestamp('When that was.'),
  },
  { ...field.closed, title: 'LegacySystem' },
)
const LegacyRetry = Type.Object(
  {
    retried: Type.Integer({ description: 'Failed deliveries that are tried again.' }),
    hastened: Type.Integer({ description: 'Waiting deliveries that are tried at once.' }),
  },
  { ...field.closed, title: 'LegacyRetry' },
)

export const legacySystem = defineResource({
  name: 'legacy-system',
  singular: 'legacy system',
  description: 'The legacy system of the tenant, and what is on its way to it.',
  record: LegacySystem,
  operations: {
    GetLegacySystem: {
      method: 'GET',
      path: '/legacy-system',
      scope: 'legacy:manage',
      summary: 'Get the state of the legacy system',
      status: 200,
      response: LegacySystem,
    },
    RetryDeliveries: {
      method: 'POST',
      path: '/legacy-system/retry',
      scope: 'legacy:manage',
      summary: 'Try failed and waiting deliveries now',
      status: 200,
      response: LegacyRetry,
      problems: ['conflict'],
    },
  },
})
