import type { TenantDatabase } from '../../database/database.ts'
import { handOver, routeOf } from '../../legacy/hand-over.ts'
import { requireReference } from '../../records/identifiers.ts'
import { createRecord, type Fields, type Writer } from '../../records/write.ts'

export const insertTask = (
  tenant: TenantDatabase,
  writer: Writer,
  task: Fields & { id: string; accountId: string },
): Promise<string> =>
  tenant.transaction(async (query, last) => {
    const [accountId, route] = await Promise.all([
      requireReference(query, 'accounts', task.accountId, 'accountId'),
      routeOf(query),
    ])
    const body = await createRecord(route === 'native' ? last : query, writer, 'tasks', { ...task, accountId, route })
    // The task names its user itself.
    await handOver(query, route, [{ resource: 'tasks', action: 'created', body }])
    return body
  })
