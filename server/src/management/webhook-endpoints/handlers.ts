import type { ManagementResources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { invalidProperty, Problem } from '../../problem.ts'
import { Refusal } from '../../refusal.ts'
import { readEndpointUrl } from '../../webhooks/addresses.ts'
import { create, remove, replay, rotateSecret, update } from '../../webhooks/administration.ts'
import { listEndpoints } from '../../webhooks/endpoints/queries.ts'
import type { WebhookSettings } from '../../webhooks/settings.ts'
import { endpointOf, json } from '../responses.ts'

export const handlers: Handlers<ManagementResources['webhookEndpoints']> = {
  GetWebhookEndpoints: async ({ tenant }) => json({ items: await listEndpoints(tenant.read) }),

  CreateWebhookEndpoint: async ({ tenant, writer: { author }, webhooks, body }) => {
    const { url, events, description = '' } = body
    const fields = { url: await readUrl(url, webhooks), events, description }
    const made = await create({ tenant, author }, fields, secretOf(webhooks))
    return json(made, `/webhook-endpoints/${made.id}`)
  },

  GetWebhookEndpoint: async ({ tenant, params: { endpointId } }) => json(await endpointOf(tenant, endpointId)),

  UpdateWebhookEndpoint: async ({ tenant, writer: { author }, webhooks, params: { endpointId }, body }) => {
    const endpoint = await endpointOf(tenant, endpointId)
    const { url, ...rest } = body
    const change = { ...rest, ...(url !== undefined && { url: await readUrl(url, webhooks) }) }
    return json(await update({ tenant, author }, endpoint, change))
  },

  DeleteWebhookEndpoint: async ({ tenant, writer: { author }, params: { endpointId } }) => {
    const endpoint = await endpointOf(tenant, endpointId)
    return json(await remove({ tenant, author }, endpoint))
  },

  RotateWebhookSecret: async ({ tenant, writer: { author }, webhooks, params: { endpointId } }) => {
    const endpoint = await endpointOf(tenant, endpointId)
    return json(await rotateSecret({ tenant, author }, endpoint, secretOf(webhooks)))
  },

  ReplayWebhookEvents: async ({ tenant, writer: { author }, params: { endpointId }, body: { since } }) => {
    const endpoint = await endpointOf(tenant, endpointId)
    return json(await replay({ tenant, author }, endpoint, new Date(since)))
  },
}

const readUrl = (url: string, { allowPrivate }: WebhookSettings): Promise<string> =>
  readEndpointUrl(url, allowPrivate, 'admin').catch((error) => {
    if (!(error instanceof Refusal)) throw error
    throw invalidProperty('url', 'not_accepted', error.sentence)
  })

const secretOf = ({ secret }: WebhookSettings): string => {
  if (secret !== null) return secret
  throw new Problem('conflict', 'Secrets cannot be kept here: the operator sets MASTHEAD_SECRET first.')
}
