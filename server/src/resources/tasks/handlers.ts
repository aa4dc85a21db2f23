import type { Resources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { readRecord, requireReference } from '../../records/identifiers.ts'
import { listRecords } from '../../records/lists/list.ts'
import { updateRecord } from '../../records/writes/update.ts'
import { insertTask } from './queries.ts'
import { changesOf, newTask, type Task } from './rules.ts'

export const handlers: Handlers<Resources['tasks']> = {
  GetTasks: ({ tenant, query }) => listRecords(tenant, 'tasks', query),

  CreateTaskRecord: async ({ tenant, principal, writer, body }) => {
    const task = newTask(body, principal.assignee)
    const { id, title, dueDate, userId } = task
    const { accountId, route } = await insertTask(tenant, writer, task)
    return { body: JSON.stringify({ id, accountId, title, dueDate, userId, route }), location: `/tasks/${id}` }
  },

  GetTaskById: ({ tenant, params: { taskId } }) => readRecord(tenant, 'tasks', taskId),

  UpdateTaskRecord: ({ tenant, writer: { author }, params: { taskId }, body, requireCurrent }) => {
    const changes = changesOf(body)
    return updateRecord<Task>(tenant, 'tasks', {
      named: taskId,
      author,
      // The task names its user itself.
      delivery: {},
      isNative: ({ route }) => route === 'native',
      decide: async (task, query) => {
        requireCurrent(task.body)
        if (body.accountId === undefined) return changes
        return { ...changes, accountId: await requireReference(query, 'accounts', body.accountId, 'accountId') }
      },
    })
  },
}
