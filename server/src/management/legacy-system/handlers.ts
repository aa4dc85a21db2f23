import type { ManagementResources } from '@masthead/contract'
import { audit } from '../../audit/queries.ts'
import type { Handlers } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { retry, status } from '../../webhooks/legacy/administration.ts'
import { json } from '../responses.ts'

export const handlers: Handlers<ManagementResources['legacySystem']> = {
  GetLegacySystem: async ({ tenant }) => {
    const { attached: isAttached, url = null, attachedAt = null, ...deliveries } = await status(tenant)
    return json({ isAttached, url, attachedAt, ...deliveries })
  },

  RetryDeliveries: async ({ tenant, writer }) => {
    const { attached } = await status(tenant)
    if (!attached) throw new Problem('conflict', 'This tenant has no legacy system; the operator attaches one.')
    const retried = await retry(tenant)
    const after = JSON.stringify(retried)
    const event = { action: 'retried', resource: 'legacy_systems', recordId: tenant.tenantId, after }
    await tenant.transaction((query) => audit(query, writer.author, [event]))
    return json(retried)
  },
}
