import type { ManagementResources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { status } from '../../webhooks/legacy/administration.ts'
import { findSystem, retryDeliveries } from '../../webhooks/legacy/queries.ts'
import { json } from '../responses.ts'

export const handlers: Handlers<ManagementResources['legacySystem']> = {
  GetLegacySystem: async ({ tenant }) => {
    const { attached: isAttached, url = null, attachedAt = null, ...deliveries } = await status(tenant)
    return json({ isAttached, url, attachedAt, ...deliveries })
  },

  RetryDeliveries: async ({ tenant, writer }) => {
    if (!(await findSystem(tenant.read)))
      throw new Problem('conflict', 'This tenant has no legacy system; the operator attaches one.')
    return json(await retryDeliveries(tenant, writer.author))
  },
}
