import type { ManagementResources } from '@masthead/contract'
import { signOutOfConsole } from '../../identity/consents.ts'
import { findAdmins, findMemberships, findUser } from '../../identity/users.ts'
import type { Handlers } from '../../operation-call.ts'
import { json, notFound, userOf } from '../json-answer.ts'

export const handlers: Handlers<ManagementResources['me']> = {
  GetMe: async ({ tenant: { read }, principal }) => {
    const [user, tenants, admins] = await Promise.all([
      findUser(read, userOf(principal)),
      findMemberships(read, userOf(principal)),
      findAdmins(read, principal.tenantId, 10),
    ])
    const tenant = tenants.find(({ id }) => id === principal.tenantId)
    if (!user || !tenant) throw notFound('user')
    const { id: userId, email, name } = user
    return json({ userId, email, name, tenant, tenants, admins })
  },

  SignOut: ({ tenant, principal, writer, body: { everywhere } }) =>
    tenant.transaction(async (query) => {
      const grantId = everywhere ? null : principal.grantId
      return json({ sessions: await signOutOfConsole(query, writer.author, userOf(principal), grantId) })
    }),
}
