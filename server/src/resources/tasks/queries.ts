import type { Route } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import { requireReference } from '../../records/identifiers.ts'
import { type Writer, write } from '../../records/writes/write.ts'
import { routeOf } from '../../webhooks/legacy/queries.ts'
import type { NewTask } from './rules.ts'

/** Stores the task; returns its account in the form of responses, and where it went. */
export const insertTask = (
  tenant: TenantDatabase,
  { author }: Writer,
  task: NewTask,
): Promise<{ accountId: string; route: Route }> =>
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
      return { changes: { tasks: [created] }, result: () => ({ accountId, route }) }
    },
  })
