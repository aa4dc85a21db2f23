import type { ManagementResources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { readToday } from '../../records/lists/today.ts'
import { json } from '../responses.ts'
import { receivablesByAge, renewalsByMonth, subscriptionsByPublication, subscriptionsByStatus } from './queries.ts'

export const handlers: Handlers<ManagementResources['overview']> = {
  GetOverview: async ({ tenant }) => {
    const { readSlowly } = await tenant.asOfNow()
    const today = await readToday(tenant)
    return json({
      subscriptionsByStatus: await subscriptionsByStatus(readSlowly),
      subscriptionsByPublication: await subscriptionsByPublication(readSlowly),
      renewalsDue: await renewalsByMonth(readSlowly, today),
      receivables: await receivablesByAge(readSlowly, today),
    })
  },
}
