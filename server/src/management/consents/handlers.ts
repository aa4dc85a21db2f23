import type { ManagementResources } from '@masthead/contract'
import { deleteGrant } from '../../authorization-server/adapter.ts'
import { findConsents, withdrawConsents } from '../../identity/people/consents.ts'
import type { Handlers } from '../../operation-call.ts'
import { json, notFound, userOf } from '../responses.ts'

export const handlers: Handlers<ManagementResources['consents']> = {
  GetConsents: async ({ tenant, principal }) =>
    json({ items: await findConsents(tenant.read.withoutTenant, tenant.tenantId, userOf(principal)) }),

  WithdrawConsent: ({ tenant, principal, writer, params: { consentId } }) =>
    tenant.transaction(async ({ withoutTenant: query }) => {
      const mine = await findConsents(query, tenant.tenantId, userOf(principal))
      const consent = mine.find(({ id }) => id === consentId)
      if (!consent) throw notFound('consent')
      await withdrawConsents(query, writer.author, [consent.id])
      await deleteGrant(query, consent.id)
      return json(consent)
    }),
}
