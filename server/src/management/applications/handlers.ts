import type { ManagementResources } from '@masthead/contract'
import {
  type Application,
  countConsents,
  listApplicationsOf,
  registerApplication,
  setApplicationDisabled,
} from '../../identity/applications.ts'
import type { Handlers } from '../../operation-call.ts'
import { invalidProperty } from '../../problem.ts'
import { Refusal } from '../../refusal.ts'
import { json, notFound, signedInElsewhere } from '../json-answer.ts'

export const handlers: Handlers<ManagementResources['applications']> = {
  GetApplications: async ({
    tenant: {
      read: { withoutTenant: read },
      tenantId,
    },
  }) => {
    const [applications, consents] = await Promise.all([
      listApplicationsOf(read, tenantId),
      countConsents(read, tenantId),
    ])
    return json({ items: applications.map((one) => shown(one, consents.get(one.clientId))) })
  },

  RegisterApplication: ({ tenant, writer, issuer, body: { isNative = false, mayRefresh = false, ...given } }) =>
    tenant.transaction(async ({ withoutTenant: query }) => {
      if (issuer === null) throw signedInElsewhere()
      const application = { ...given, isNative, mayRefresh, tenantId: tenant.tenantId }
      return json(shown(await registerApplication(query, writer.author, application).catch(tellWhere)))
    }),

  UpdateApplication: ({ tenant: { tenantId, transaction }, writer, params: { clientId }, body: { isDisabled } }) =>
    transaction(async ({ withoutTenant: query }) => {
      const ours = await listApplicationsOf(query, tenantId)
      if (!ours.some((one) => one.clientId === clientId)) throw notFound('application')
      const changed = await setApplicationDisabled(query, writer.author, clientId, isDisabled)
      return json(shown(changed, (await countConsents(query, tenantId)).get(clientId)))
    }),
}

/** What it refuses that the schema lets pass is a redirect URI, or a name of spaces. */
const tellWhere = (error: unknown): never => {
  if (!(error instanceof Refusal)) throw error
  const property = error.message.includes('redirect URI') ? 'redirectUris' : 'name'
  throw invalidProperty(property, 'not_accepted', `${error.message}.`)
}

const shown = ({ tenantId: _tenant, ...application }: Application, consents = 0) => ({ ...application, consents })
