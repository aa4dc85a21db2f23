import type { Input, Output, Resources } from '@masthead/contract'
import { invalidProperty } from '../../problem.ts'
import { newId } from '../../records/identifiers.ts'
import type { Fields } from '../../records/stored-record.ts'
import { parseInstant } from '../../values.ts'

type Operations = Resources['tasks']['operations']
export type Task = Output<Operations['GetTaskById']>
type TaskInput = Input<Operations['CreateTaskRecord']>['body']
type TaskChanges = Input<Operations['UpdateTaskRecord']>['body']
export type NewTask = Fields & { id: string; accountId: string; title: string; dueDate: string; userId: string }

export const newTask = (input: TaskInput, assignee: string): NewTask => {
  const { accountId, title, dueDate, priority = null, type = null } = input
  const now = new Date().toISOString()
  const userId = input.userId ?? assignee
  return { id: newId(), accountId, title, dueDate, userId, priority, type, createdAt: now, updatedAt: now }
}

/** A caller's clock may be ahead of ours when a task is marked as done. */
const mostAheadMilliseconds = 60 * 60 * 1_000

/** What an update sets: nobody is an empty text, and an instant takes the one form that responses carry. */
export const changesOf = ({ userId, doneAt, ...others }: TaskChanges): Fields => ({
  ...others,
  ...(userId !== undefined && { userId: userId ?? '' }),
  ...(doneAt !== undefined && { doneAt: doneAt === null ? null : instantOf(doneAt) }),
})

const instantOf = (given: string): string => {
  const doneAt = parseInstant(given)
  if (doneAt !== null && Date.parse(doneAt) <= Date.now() + mostAheadMilliseconds) return doneAt
  throw invalidProperty('doneAt', 'in_the_future', '`doneAt` must not lie more than an hour in the future.')
}
