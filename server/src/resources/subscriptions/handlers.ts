import type { Resources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { readRecord } from '../../records/identifiers.ts'
import { listRecords } from '../../records/lists/list.ts'

export const handlers: Handlers<Resources['subscriptions']> = {
  GetSubscriptions: ({ tenant, query }) => listRecords(tenant, 'subscriptions', query),

  GetSubscriptionById: ({ tenant, params: { subscriptionId } }) => readRecord(tenant, 'subscriptions', subscriptionId),
}
