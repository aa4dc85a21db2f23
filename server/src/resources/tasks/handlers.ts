import type { Resources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { newId } from '../../records/identifiers.ts'
import { insertTask } from './queries.ts'

export const handlers: Handlers<Resources['tasks']> = {
  CreateTaskRecord: async ({ tenant, principal, body }) => {
    const task = await insertTask(tenant, {
      ...body,
      id: newId(),
      userId: body.userId ?? principal.assignee,
      route: 'native',
    })
    return { body: JSON.stringify(task) }
  },
}
