import type { Input, Output, Resources } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import { requireReference } from '../../records/identifiers.ts'

type CreateTask = Resources['tasks']['operations']['CreateTaskRecord']
type Task = Output<CreateTask>
type NewTask = Input<CreateTask>['body'] & Pick<Task, 'id' | 'userId' | 'route'>

export const insertTask = (tenant: TenantDatabase, task: NewTask): Promise<Task> =>
  tenant.transaction(async (query) => {
    const accountId = await requireReference(query, 'accounts', task.accountId, 'accountId')
    const { id, title, dueDate, userId, priority = null, type = null, route } = task
    await query({
      text: `insert into tasks (id, account_id, title, due_date, user_id, priority, type, route, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, now())`,
      values: [id, accountId, title, dueDate, userId, priority, type, route],
    })
    return { id, accountId, title, dueDate, userId, route }
  })
