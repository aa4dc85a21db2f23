import * as field from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'

const timeZone = 'Where "today" is, for what is overdue: a name of the IANA database, such as Europe/Berlin.'

const TenantSettings = Type.Object(
  {
    slug: field.text('Short name of the tenant, as commands take it.'),
    name: field.text('Name of the tenant.'),
    timeZone: field.text(timeZone),
  },
  { ...field.closed, title: 'TenantSettings' },
)
const TenantSettingsInput = Type.Object(
  { timeZone: field.input(timeZone, 'label') },
  { ...field.closed, title: 'TenantSettingsInput' },
)

export const tenant = defineResource({
  name: 'tenant',
  singular: 'tenant',
  description: 'What holds for all members of the tenant.',
  record: TenantSettings,
  operations: {
    GetTenant: {
      method: 'GET',
      path: '/tenant',
      scope: 'self:manage',
      summary: 'Get the settings of the tenant',
      status: 200,
      response: TenantSettings,
    },
    UpdateTenant: {
      method: 'PATCH',
      path: '/tenant',
      scope: 'tenant:manage',
      summary: 'Change the settings of the tenant',
      body: TenantSettingsInput,
      status: 200,
      response: TenantSettings,
    },
  },
})
