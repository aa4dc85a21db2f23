import type { TenantDatabase } from '../../database/database.ts'
import { requireReference } from '../../records/identifiers.ts'
import type { StoredRecord } from '../../records/stored-record.ts'
import { type Writer, write } from '../../records/write.ts'
import { routeOf } from '../../webhooks/legacy/queries.ts'

export const insertTask = (
  tenant: TenantDatabase,
  { author }: Writer,
  task: StoredRecord & { accountId: string },
): Promise<string> =>
  write(tenant, 'tasks', {
    locks: [],
    decide: async (query) => {
      const [accountId, route] = await Promise.all([
        requireReference(query, 'accounts', task.accountId, 'accountId'),
        routeOf(query),
      ])
      // The task names its user itself.
      const delivery = { isNative: route === 'native' }
      const created = { before: null, after: { ...task, accountId, route }, author, delivery }
      return { changes: { tasks: [created] }, result: (bodies) => bodies.get(task.id) ?? '' }
    },
  })
