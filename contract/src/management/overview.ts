import * as field from '../fields.ts'
import { count } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'

const Overview = Type.Object(
  {
    subscriptionsByStatus: Type.Array(
      Type.Object(
        { status: field.text('The status, in lower case.'), count: count('Subscriptions that have it.') },
        field.closed,
      ),
      { description: 'Subscriptions that are not deleted, by status, the most frequent first.' },
    ),
    subscriptionsByPublication: Type.Array(
      Type.Object(
        {
          publicationId: field.identifier('Identifier of the publication.'),
          code: field.text('Its code.'),
          name: field.nullableText('Its name.'),
          count: count('All of its subscriptions.'),
          active: count('Those with the status `active`.'),
        },
        field.closed,
      ),
      { description: 'Subscriptions that are not deleted, by publication, the most frequent first; 20 at most.' },
    ),
    renewalsDue: Type.Array(
      Type.Object(
        {
          month: field.text('The month, as `2026-11`.'),
          count: count('Active subscriptions that are due for renewal.'),
        },
        field.closed,
      ),
      { description: 'Renewals that come due, by month: the current one and the eleven after it.' },
    ),
    receivables: Type.Array(
      Type.Object(
        {
          age: field.oneOf(['not_due', '1-30', '31-60', '61-90', 'over_90'], 'Days since the invoice was due.'),
          count: count('Open invoices of this age.'),
          totalDue: Type.String({ pattern: '^-?[0-9]+\\.[0-9]{2}$', description: 'What is due in sum.' }),
        },
        field.closed,
      ),
      { description: 'What open invoices ask for, by age; always all five.' },
    ),
  },
  { ...field.closed, title: 'Overview' },
)

export const overview = defineResource({
  name: 'overview',
  singular: 'overview',
  description: 'How the business of the tenant stands.',
  record: Overview,
  operations: {
    GetOverview: {
      method: 'GET',
      path: '/overview',
      scope: 'overview:read',
      summary: 'Get figures about subscriptions, renewals and receivables',
      status: 200,
      response: Overview,
    },
  },
})
