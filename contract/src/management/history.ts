import * as field from '../fields.ts'
import { before, defineResource, next } from '../operation.ts'
import { listedNames } from '../resources.ts'
import { Type } from '../schema.ts'

const values = (when: string) =>
  Type.Unsafe<unknown>({
    description: `The record ${when}, with the fields that responses show; null where there was none, or what was noted has been erased.`,
  })

const RecordChange = Type.Object(
  {
    number: Type.Integer({ description: 'Number of the change; newer ones have larger numbers.' }),
    at: field.timestamp('When it happened.'),
    author: Type.Object(
      {
        kind: field.text(
          'A `personal`, `service` or `delegated` token, an `operator`, `masthead` itself, or an `import`.',
        ),
        name: field.nullableText('The user or integration, as far as known.'),
        application: field.nullableText('The application that acted for the user; null where none did.'),
      },
      { ...field.closed, description: 'Who did it.' },
    ),
    action: field.text('What was done: `created`, `updated`, `deleted`, `restored`.'),
    before: values('before'),
    after: values('after'),
    isErased: Type.Boolean({ description: 'What was noted of it has been erased on request of the person.' }),
  },
  { ...field.closed, title: 'RecordChange' },
)

export const history = defineResource({
  name: 'history',
  singular: 'change of a record',
  description: 'What was done to one record, for members who may read it.',
  record: RecordChange,
  operations: {
    GetHistory: {
      method: 'GET',
      path: '/history/{resource}/{recordId}',
      scope: 'history:read',
      summary: 'List the changes of a record, the newest first, 20 at a time',
      description: `\`resource\` is one of ${listedNames.join(', ')}; \`recordId\` is either identifier. It tells neither addresses nor requests: those are in the audit log, for admins.`,
      query: Type.Object({
        before: before('changes'),
      }),
      status: 200,
      response: Type.Object(
        {
          items: Type.Array(RecordChange, { description: 'Up to 20 changes.' }),
          next,
        },
        { ...field.closed, title: 'RecordHistory' },
      ),
    },
  },
})
