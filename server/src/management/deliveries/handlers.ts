import type { ManagementResources } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import type { Handlers } from '../../operation-call.ts'
import { find, resend, sendTestEvent } from '../../webhooks/endpoints/administration.ts'
import { type DeliveryDetail, findDelivery, listDeliveries, withoutDetail } from '../../webhooks/history/queries.ts'
import { conflictIfRefused, json, notFound } from '../responses.ts'

const pageSize = 50

export const handlers: Handlers<ManagementResources['deliveries']> = {
  GetWebhookDeliveries: async ({ tenant, params: { endpointId }, query }) => {
    const { id } = await endpointOf(tenant, endpointId)
    const found = await listDeliveries(tenant.read, id, { ...query, most: pageSize + 1 })
    const items = found.slice(0, pageSize)
    return json({ items, next: found.length > pageSize ? (items.at(-1)?.number ?? null) : null })
  },

  SendTestEvent: async ({ tenant, writer: { author }, params: { endpointId } }) => {
    const endpoint = await endpointOf(tenant, endpointId)
    const sent = await conflictIfRefused(sendTestEvent({ tenant, author }, endpoint))
    return json(withoutDetail(sent), `/webhook-endpoints/${endpoint.id}/deliveries/${sent.id}`)
  },

  GetWebhookDelivery: async ({ tenant, params: { endpointId, deliveryId } }) => {
    return json(await deliveryOf(tenant, endpointId, deliveryId))
  },

  ResendWebhookDelivery: async ({ tenant, writer: { author }, params: { endpointId, deliveryId } }) => {
    const endpoint = await endpointOf(tenant, endpointId)
    const delivery = await deliveryOf(tenant, endpointId, deliveryId)
    return json(withoutDetail(await conflictIfRefused(resend({ tenant, author }, endpoint, delivery))))
  },
}

const endpointOf = async (tenant: TenantDatabase, id: string) => {
  const endpoint = await find(tenant, id)
  if (!endpoint) throw notFound('webhook endpoint')
  return endpoint
}

const deliveryOf = async (tenant: TenantDatabase, endpointId: string, id: string): Promise<DeliveryDetail> => {
  const endpoint = await endpointOf(tenant, endpointId)
  const delivery = await findDelivery(tenant.read, endpoint.id, id)
  if (!delivery) throw notFound('delivery')
  return delivery
}
