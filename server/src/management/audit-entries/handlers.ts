import type { ManagementResources } from '@masthead/contract'
import { entriesBefore } from '../../audit/queries.ts'
import type { Handlers } from '../../operation-call.ts'
import { json } from '../responses.ts'

const pageSize = 50

export const handlers: Handlers<ManagementResources['auditEntries']> = {
  GetAuditEntries: async ({ tenant, query }) => {
    const found = await entriesBefore(tenant.readSlowly, { ...query, most: pageSize + 1 })
    const page = found.slice(0, pageSize)
    const items = page.map(({ values, ...entry }) => ({ ...entry, ...JSON.parse(values ?? noValues) }))
    return json({ items, next: found.length > pageSize ? (page.at(-1)?.number ?? null) : null })
  },
}

const noValues = '{"before":null,"after":null}'
