import type { ManagementResources } from '@masthead/contract'
import { entriesBefore } from '../../audit/queries.ts'
import type { Handlers } from '../../operation-call.ts'
import { json } from '../json-answer.ts'

const atOnce = 50

export const handlers: Handlers<ManagementResources['auditEntries']> = {
  GetAuditEntries: async ({ tenant, query }) => {
    const found = await entriesBefore(tenant.readSlowly, { ...query, most: atOnce + 1 })
    const items = found.slice(0, atOnce).map(({ values, ...entry }) => ({ ...entry, ...JSON.parse(values ?? nothing) }))
    return json({ items, next: found.length > atOnce ? (items.at(-1)?.number ?? null) : null })
  },
}

const nothing = '{"before":null,"after":null}'
