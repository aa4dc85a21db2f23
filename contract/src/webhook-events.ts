import type { TObject, TSchema } from 'typebox'
import * as field from './fields.ts'
import { count } from './fields.ts'
import { accounts } from './resources/accounts.ts'
import { contacts } from './resources/contacts.ts'
import { tasks } from './resources/tasks.ts'
import { resourceNames } from './resources.ts'
import { Type } from './schema.ts'

type WebhookEvent = { summary: string; data: TSchema }

/** The record as the API shows it, and the user of the legacy system who wrote it. A task names its user itself. */
const recordOf = ({ properties }: TObject, title: string) =>
  Type.Object(
    { userId: field.nullableText('User of the legacy system who acted; null where none is known.'), ...properties },
    { ...field.closed, title },
  )
const ContactData = recordOf(contacts.record, 'ContactEventData')
const AccountData = recordOf(accounts.record, 'AccountEventData')
const TaskData = recordOf(tasks.record, 'TaskEventData')

const importData = (counts: Record<string, TSchema>, title: string) =>
  Type.Object(
    {
      importId: field.identifier('Identifier of the import.'),
      counts: Type.Object(
        Object.fromEntries(resourceNames.map((name) => [name, Type.Optional(Type.Object(counts, field.closed))])),
        { ...field.closed, description: 'How many records, by resource.' },
      ),
      cursor: field.text('Give it as `after` to `GET /changes`: what was written since before the import follows.'),
    },
    { ...field.closed, title },
  )
const CompletedData = importData(
  { created: count('Records that were created.'), changed: count('Records that were changed.') },
  'ImportCompletedData',
)
const UndoneData = importData(
  { removed: count('Records that were removed.'), restored: count('Records that got their former values.') },
  'ImportUndoneData',
)

/** What an endpoint can be told of. Each event is one POST with the body `{type, timestamp, data}`. */
export const webhookEvents = {
  'contact.created': { summary: 'A contact was created.', data: ContactData },
  'contact.updated': { summary: 'A contact was changed.', data: ContactData },
  'contact.deleted': { summary: 'A contact was deleted; it can be restored.', data: ContactData },
  'contact.restored': { summary: 'A deleted contact was restored.', data: ContactData },
  'account.created': { summary: 'An account was created.', data: AccountData },
  'account.updated': { summary: 'An account was corrected.', data: AccountData },
  'task.created': { summary: 'A task was created.', data: TaskData },
  'task.updated': { summary: 'A task was changed, marked as done or opened again.', data: TaskData },
  'import.completed': { summary: 'An import has written all of its records.', data: CompletedData },
  'import.undone': { summary: 'An import was taken back.', data: UndoneData },
} as const satisfies Record<string, WebhookEvent>

export type WebhookEventType = keyof typeof webhookEvents

export const webhookEventTypes = Object.keys(webhookEvents) as WebhookEventType[] // they are its keys

export const isWebhookEventType = (name: string): name is WebhookEventType => Object.hasOwn(webhookEvents, name)

/** What an admin sends to see whether an endpoint works. Nobody subscribes to it. */
export const testEventType = 'webhook.test'

const TestData = Type.Object(
  { endpointId: field.identifier('Identifier of the endpoint.') },
  { ...field.closed, title: 'WebhookTestData' },
)

/** All that an endpoint receives. */
export const sentEvents: Readonly<Record<string, WebhookEvent>> = {
  ...webhookEvents,
  [testEventType]: { summary: 'An admin tests the endpoint.', data: TestData },
}

/** What a tenant may have of them, and how long what they were sent is kept. */
export const webhookLimits = { endpoints: 20, keptDays: 30, responseBytes: 4_096, rotationHours: 24 } as const
