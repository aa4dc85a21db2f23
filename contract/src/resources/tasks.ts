import * as field from '../fields.ts'
import { defineResource } from '../operation.ts'
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

const Task = Type.Object(
  {
    id: field.withDefault('newId', field.identifier('Identifier of the task.')),
    accountId: field.reference('accounts', field.text('Business identifier of the account.')),
    title: field.text('What is to be done.'),
    dueDate: field.date('Day by which it is to be done.'),
    userId: field.withDefault(
      { value: '' },
      field.text('User of the legacy system who is to do it; empty when nobody is known.', { content: 'label' }),
    ),
    route: field.withDefault({ value: 'native' }, Route),
  },
  { ...field.closed, title: 'Task' },
)

export const tasks = defineResource({
  name: 'tasks',
  singular: 'task',
  description: 'Things to do for an account.',
  record: Task,
  storedOnly: {
    priority: field.nullableText('Priority.', 'label'),
    type: field.nullableText('Kind of task.', 'label'),
    createdAt: field.withDefault('now', field.timestamp('When the task was created.')),
  },
  operations: {
    CreateTaskRecord: {
      method: 'POST',
      path: '/tasks',
      scope: 'tasks:write',
      summary: 'Create a task for an account',
      body: TaskInput,
      status: 201,
      answer: Task,
    },
  },
})
