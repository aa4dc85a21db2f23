import * as field from '../fields.ts'
import { asking, cursor, defineResource, filter, flag, pageOf, paging } from '../operation.ts'
import { Route } from '../route.ts'
import { Type } from '../schema.ts'

const TaskInput = Type.Object(
  {
    accountId: field.reference(
      'accounts',
      field.text('The account, by its business identifier or its `id`.', { minLength: 1 }),
    ),
    title: field.input('What is to be done.', 'name'),
    dueDate: field.date('Day by which it is to be done.'),
    userId: Type.Optional(field.nullableInput('User of the legacy system who is to do it.', 'label')),
    priority: Type.Optional(field.nullableInput('Priority.', 'label')),
    type: Type.Optional(field.nullableInput('Kind of task.', 'label')),
  },
  { ...field.closed, title: 'TaskInput' },
)

const TaskChanges = Type.Object(
  {
    accountId: Type.Optional(TaskInput.properties.accountId),
    title: Type.Optional(TaskInput.properties.title),
    dueDate: Type.Optional(TaskInput.properties.dueDate),
    userId: Type.Optional(
      field.nullableInput('User of the legacy system who is to do it; null when nobody is to.', 'label'),
    ),
    priority: TaskInput.properties.priority,
    type: TaskInput.properties.type,
    notes: Type.Optional(field.nullableInput('Free text.', 'notes')),
    doneAt: Type.Optional(
      field.nullableTimestamp(
        'An instant marks the task as done, null opens it again. At most an hour ahead, since clocks differ.',
      ),
    ),
  },
  { ...field.closed, title: 'TaskChanges' },
)

const created = {
  id: field.withDefault('newId', field.identifier('Identifier of the task.')),
  accountId: field.reference('accounts', field.text('Business identifier of the account.')),
  title: field.text('What is to be done.'),
  dueDate: field.date('Day by which it is to be done.'),
  userId: field.withDefault(
    { value: '' },
    field.text('User of the legacy system who is to do it; empty when nobody is known.', { content: 'label' }),
  ),
}
const route = field.withDefault({ value: 'native' }, Route)

/** What a creation returns, which v1 has frozen. */
const Task = Type.Object({ ...created, route }, { ...field.closed, title: 'Task' })

const TaskRecord = Type.Object(
  {
    ...created,
    priority: field.nullableText('Priority.', 'label'),
    type: field.nullableText('Kind of task.', 'label'),
    notes: field.nullableText('Free text.', 'notes'),
    doneAt: field.nullableTimestamp('When the task was done; null while it is open.'),
    route,
    createdAt: field.withDefault('now', field.timestamp('When the task was created.')),
    updatedAt: field.withDefault('now', field.timestamp('When the task last changed.')),
  },
  { ...field.closed, title: 'TaskRecord' },
)

const sorts = ['dueDate', 'doneAt', 'createdAt', 'updatedAt'] as const

export const tasks = defineResource({
  name: 'tasks',
  singular: 'task',
  description: 'Things to do for an account.',
  record: TaskRecord,
  listing: {
    filters: ['userId'],
    leftOutUnless: {},
    onlyWithout: { open: 'doneAt' },
    search: [],
    sorts,
    sortsWithin: { userId: ['dueDate'] },
  },
  operations: {
    GetTasks: {
      method: 'GET',
      path: '/tasks',
      scope: 'tasks:read',
      summary: 'List tasks',
      query: Type.Object({
        ...paging,
        accountId: field.reference('accounts', filter('Only tasks for this account (business identifier or `id`).')),
        userId: filter('Only tasks of this user of the legacy system; empty for those of nobody.'),
        open: flag('`true`: only tasks that are not done. `false`: only those that are.'),
        dueFrom: field.compares(
          'dueDate',
          '>=',
          Type.Optional(field.date('Only tasks that are due on this day or later.')),
        ),
        dueTo: field.compares(
          'dueDate',
          '<=',
          Type.Optional(field.date('Only tasks that are due on this day or earlier.')),
        ),
        ...asking(sorts),
        cursor,
      }),
      status: 200,
      response: pageOf(TaskRecord, 'TaskPage'),
    },
    CreateTaskRecord: {
      method: 'POST',
      path: '/tasks',
      scope: 'tasks:write',
      summary: 'Create a task for an account',
      body: TaskInput,
      status: 201,
      response: Task,
    },
    GetTaskById: {
      method: 'GET',
      path: '/tasks/{taskId}',
      scope: 'tasks:read',
      summary: 'Get a task',
      status: 200,
      response: TaskRecord,
    },
    UpdateTaskRecord: {
      method: 'PATCH',
      path: '/tasks/{taskId}',
      scope: 'tasks:write',
      summary: 'Update a task, or mark it as done: what is absent stays, null clears',
      body: TaskChanges,
      status: 200,
      response: TaskRecord,
      conditional: true,
    },
  },
})
