import type { ManagementResources } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import type { Handlers } from '../../operation-call.ts'
import { resend, sendTestEvent } from '../../webhooks/administration.ts'
import type { Endpoint } from '../../webhooks/endpoints/queries.ts'
import { findDelivery, listDeliveries, withoutDetail } from '../../webhooks/history/queries.ts'
import { endpointOf, existing, json, pageOf } from '../responses.ts'

const pageSize = 50

export const handlers: Handlers<ManagementResources['deliveries']> = {
  GetWebhookDeliveries: async ({ tenant, params: { endpointId }, query }) => {
    const { id } = await endpointOf(tenant, endpointId)
    return json(pageOf(await listDeliveries(tenant.read, id, { ...query, most: pageSize + 1 }), pageSize))
  },

  SendTestEvent: async ({ tenant, writer: { author }, params: { endpointId } }) => {
    const endpoint = await endpointOf(tenant, endpointId)
    const sent = await sendTestEvent({ tenant, author }, endpoint)
    return json(withoutDetail(sent), `/webhook-endpoints/${endpoint.id}/deliveries/${sent.id}`)
  },

  GetWebhookDelivery: async ({ tenant, params: { endpointId, deliveryId } }) =>
    json(await deliveryOf(tenant, await endpointOf(tenant, endpointId), deliveryId)),

  ResendWebhookDelivery: async ({ tenant, writer: { author }, params: { endpointId, deliveryId } }) => {
    const endpoint = await endpointOf(tenant, endpointId)
    const delivery = await deliveryOf(tenant, endpoint, deliveryId)
    return json(withoutDetail(await resend({ tenant, author }, endpoint, delivery)))
  },
}

const deliveryOf = async (tenant: TenantDatabase, endpoint: Endpoint, id: string) =>
  existing('delivery', await findDelivery(tenant.read, endpoint.id, id))
