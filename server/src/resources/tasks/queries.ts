import type { TenantDatabase } from '../../database/database.ts'
import { requireReference } from '../../records/identifiers.ts'
import { type Fields, insertRecords } from '../../records/write.ts'

export const insertTask = (tenant: TenantDatabase, task: Fields & { accountId: string }): Promise<string> =>
  tenant.transaction(async (query) => {
    const accountId = await requireReference(query, 'accounts', task.accountId, 'accountId')
    const [body = ''] = await insertRecords(query, 'tasks', [{ ...task, accountId }])
    return body
  })
