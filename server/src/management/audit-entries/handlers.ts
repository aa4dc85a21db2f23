import type { ManagementResources } from '@masthead/contract'
import { entriesBefore, noValues } from '../../audit/queries.ts'
import type { Handlers } from '../../operation-call.ts'
import { json, pageOf } from '../responses.ts'

const pageSize = 50

export const handlers: Handlers<ManagementResources['auditEntries']> = {
  GetAuditEntries: async ({ tenant, query }) => {
    const page = pageOf(await entriesBefore(tenant.readSlowly, { ...query, most: pageSize + 1 }), pageSize)
    const items = page.items.map(({ values, ...entry }) => ({ ...entry, ...JSON.parse(values ?? noValues) }))
    return json({ ...page, items })
  },
}
