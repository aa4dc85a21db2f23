import type { ManagementResources } from '@masthead/contract'
import { findTenantById, knownTimeZone, setTimeZone, type Tenant } from '../../identity/people/tenants.ts'
import type { Handlers } from '../../operation-call.ts'
import { invalidProperty } from '../../problem.ts'
import { json } from '../responses.ts'

const settingsOf = ({ slug, name, timeZone }: Tenant) => json({ slug, name, timeZone })

export const handlers: Handlers<ManagementResources['tenant']> = {
  GetTenant: async ({ tenant }) =>
    settingsOf(await tenant.transaction((query) => findTenantById(query.withoutTenant, tenant.tenantId))),

  UpdateTenant: async ({ tenant, writer, body: { timeZone } }) => {
    if (knownTimeZone(timeZone) === null)
      throw invalidProperty('timeZone', 'invalid_value', 'Give a name such as Europe/Berlin, America/New_York or UTC.')
    return settingsOf(
      await tenant.transaction((query) => setTimeZone(query.withoutTenant, writer.author, tenant.tenantId, timeZone)),
    )
  },
}
