import * as field from '../fields.ts'
import { longest } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Route } from '../route.ts'
import { Type } from '../schema.ts'

const TaskInput = Type.Object(
  {
    accountId: field.text('The account, by its business identifier or its `id`.', { minLength: 1 }),
    title: field.text('What is to be done.', { minLength: 1, maxLength: longest.name }),
    dueDate: field.date('Day by which it is to be done.'),
    userId: Type.Optional(field.nullableText('User of the legacy system who is to do it.', longest.label)),
    priority: Type.Optional(field.nullableText('Priority.', longest.label)),
    type: Type.Optional(field.nullableText('Kind of task.', longest.label)),
  },
  { ...field.closed, title: 'TaskInput' },
)

const Task = Type.Object(
  {
    id: field.identifier('Identifier of the task.'),
    accountId: field.text('Business identifier of the account.'),
    title: field.text('What is to be done.'),
    dueDate: field.date('Day by which it is to be done.'),
    userId: field.text('User of the legacy system who is to do it; empty when nobody is known.'),
    route: Route,
  },
  { ...field.closed, title: 'Task' },
)

export const tasks = defineResource({
  name: 'tasks',
  singular: 'task',
  description: 'Things to do for an account.',
  record: Task,
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
