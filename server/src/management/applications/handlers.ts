import type { ManagementResources } from '@masthead/contract'
import {
  type Application,
  countConsents,
  listApplicationsOf,
  registerApplication,
  setApplicationDisabled,
} from '../../identity/people/applications.ts'
import type { Handlers } from '../../operation-call.ts'
import { invalidProperty } from '../../problem.ts'
import { Refusal } from '../../refusal.ts'
import { json, notFound, signedInElsewhere } from '../responses.ts'

export const handlers: Handlers<ManagementResources['applications']> = {
  GetApplications: async ({ tenant: { tenantId, read } }) => {
    const [applications, consents] = await Promise.all([
      listApplicationsOf(read.withoutTenant, tenantId),
      countConsents(read.withoutTenant, tenantId),
    ])
    return json({ items: applications.map((one) => bodyOf(one, consents.get(one.clientId))) })
  },

  RegisterApplication: ({ tenant, writer, issuer, body: { isNative = false, mayRefresh = false, ...given } }) =>
    tenant.transaction(async ({ withoutTenant: query }) => {
      if (issuer === null) throw signedInElsewhere()
      const application = { ...given, isNative, mayRefresh, tenantId: tenant.tenantId }
      return json(bodyOf(await registerApplication(query, writer.author, application).catch(rethrow)))
    }),

  UpdateApplication: ({ tenant: { tenantId, transaction }, writer, params: { clientId }, body: { isDisabled } }) =>
    transaction(async ({ withoutTenant: query }) => {
      const ours = await listApplicationsOf(query, tenantId)
      if (!ours.some((one) => one.clientId === clientId)) throw notFound('application')
      const changed = await setApplicationDisabled(query, writer.author, clientId, isDisabled)
      return json(bodyOf(changed, (await countConsents(query, tenantId)).get(clientId)))
    }),
}

/** The schema lets pass a bad redirect URI and a name of spaces. */
const rethrow = (error: unknown): never => {
  if (!(error instanceof Refusal)) throw error
  const property = error.message.includes('redirect URI') ? 'redirectUris' : 'name'
  throw invalidProperty(property, 'not_accepted', error.sentence)
}

const bodyOf = ({ tenantId: _tenant, ...application }: Application, consents = 0) => ({ ...application, consents })
