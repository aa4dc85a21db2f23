import type { ManagementResources } from '@masthead/contract'
import { createInvitation, listInvitations, withdrawInvitation } from '../../identity/invitations.ts'
import { isMember } from '../../identity/users.ts'
import type { Handlers } from '../../operation-call.ts'
import { invalidProperty, Problem } from '../../problem.ts'
import { json, notFound, signedInElsewhere, userOf } from '../json-answer.ts'

export const handlers: Handlers<ManagementResources['invitations']> = {
  GetInvitations: async ({ tenant }) => json({ items: await listInvitations(tenant.read, tenant.tenantId) }),

  CreateInvitation: ({ tenant: { tenantId, transaction }, principal, writer, issuer, body: { email, role } }) =>
    transaction(async (query) => {
      if (issuer === null) throw signedInElsewhere()
      if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw invalidProperty('email', 'format', 'This is not an e-mail address.')
      if (await isMember(query, tenantId, email))
        throw new Problem('conflict', `${email} is already a member: change the role instead.`)
      const given = { tenantId, email, role, invitedBy: userOf(principal) }
      const { secret, ...invitation } = await createInvitation(query, writer.author, given)
      return json({ ...invitation, url: `${issuer}/oauth2/invitations/${secret}` })
    }),

  WithdrawInvitation: ({ tenant: { tenantId, transaction }, writer, params: { invitationId } }) =>
    transaction(async (query) => {
      const withdrawn = await withdrawInvitation(query, writer.author, tenantId, invitationId)
      if (!withdrawn) throw notFound('invitation')
      return json(withdrawn)
    }),
}
