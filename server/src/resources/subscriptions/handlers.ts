import type { Resources } from '@masthead/contract'
import { found, type Handlers } from '../../operation-call.ts'
import { findBody } from '../../records/identifiers.ts'
import { listRecords } from '../../records/list.ts'

export const handlers: Handlers<Resources['subscriptions']> = {
  GetSubscriptions: ({ tenant, query }) => listRecords(tenant, 'subscriptions', query),

  GetSubscriptionById: async ({ tenant, params: { subscriptionId } }) =>
    found(await findBody(tenant.read, 'subscriptions', subscriptionId), 'subscription', subscriptionId),
}
