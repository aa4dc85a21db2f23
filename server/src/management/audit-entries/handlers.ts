import type { ManagementResources } from '@masthead/contract'
import { entriesBefore } from '../../audit/queries.ts'
import type { Handlers } from '../../operation-call.ts'
import { json } from '../responses.ts'

const pageSize = 50

export const handlers: Handlers<ManagementResources['auditEntries']> = {
  GetAuditEntries: async ({ tenant, query }) => {
    const found = await entriesBefore(tenant.readSlowly, { ...query, most: pageSize + 1 })
    const items = found
      .slice(0, pageSize)
      .map(({ values, ...entry }) => ({ ...entry, ...JSON.parse(values ?? noValues) }))
    return json({ items, next: found.length > pageSize ? (items.at(-1)?.number ?? null) : null })
  },
}

const noValues = '{"before":null,"after":null}'
