import type { Resources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { newId } from '../../records/identifiers.ts'
import { insertTask } from './queries.ts'

export const handlers: Handlers<Resources['tasks']> = {
  CreateTaskRecord: async ({ tenant, principal, writer, body }) => {
    const { priority = null, type = null, ...given } = body
    const userId = body.userId ?? principal.assignee
    const createdAt = new Date().toISOString()
    const task = { ...given, priority, type, id: newId(), userId, createdAt }
    return { body: await insertTask(tenant, writer, task) }
  },
}
