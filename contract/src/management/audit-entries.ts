import * as field from '../fields.ts'
import { before, defineResource, filter, flag, next } from '../operation.ts'
import { Type } from '../schema.ts'

const AuditEntry = Type.Object(
  {
    number: Type.Integer({ description: 'Number of the entry; newer ones have larger numbers.' }),
    at: field.timestamp('When it happened.'),
    author: Type.Object(
      {
        kind: field.text(
          'A `personal`, `service` or `delegated` token, a `visitor`, an `operator`, `masthead` itself, or an `import`.',
        ),
        name: field.nullableText('The user, integration, application or operator, as far as known.'),
        application: field.nullableText('The application that acted for the user; null where none did.'),
        address: field.nullableText('The address that the call came from.'),
        requestId: field.nullableText('Finds the call in the log of the operator.'),
      },
      { ...field.closed, description: 'Who did it.' },
    ),
    action: field.text('What was done.'),
    resource: field.text('To what kind of thing.'),
    recordId: field.text('To which one.'),
    recordName: field.nullableText(
      'The user, or the application consented to, that the identifier stands for; null where it stands for neither.',
    ),
    before: Type.Unsafe<unknown>({ description: 'What it was before; null where there is nothing to tell.' }),
    after: Type.Unsafe<unknown>({ description: 'What it was after; null where there is nothing to tell.' }),
    isErased: Type.Boolean({ description: 'What was noted of it has been erased on request of the person.' }),
  },
  { ...field.closed, title: 'AuditEntry' },
)

export const auditEntries = defineResource({
  name: 'audit-entries',
  singular: 'audit entry',
  description: 'What was done in the tenant, and by whom.',
  record: AuditEntry,
  operations: {
    GetAuditEntries: {
      method: 'GET',
      path: '/audit-entries',
      scope: 'audit:read',
      summary: 'List what was done, the newest first, 50 at a time',
      query: Type.Object({
        before: before('entries'),
        resource: filter('Only what was done to this kind of thing.'),
        recordId: filter('Only what was done to this one; with `resource`.'),
        includeIssued: flag('Also each token that an application got by a consent, and each opening of the console.'),
      }),
      status: 200,
      response: Type.Object(
        {
          items: Type.Array(AuditEntry, { description: 'Up to 50 entries.' }),
          next,
        },
        { ...field.closed, title: 'AuditEntryList' },
      ),
    },
  },
})
