import type { ManagementResources } from '@masthead/contract'
import {
  allowMail,
  countMail,
  createInvitation,
  listInvitations,
  newInvitationSecret,
  withdrawInvitation,
} from '../../identity/people/invitations.ts'
import { isMember } from '../../identity/people/members.ts'
import { findTenantById } from '../../identity/people/tenants.ts'
import { emailKey, findUser, isEmail } from '../../identity/people/users.ts'
import { invitationMail } from '../../mail/invitation-mail.ts'
import type { Handlers } from '../../operation-call.ts'
import { invalidProperty, Problem } from '../../problem.ts'
import { existing, json, requireMember, signedInElsewhere, userOf } from '../responses.ts'

export const handlers: Handlers<ManagementResources['invitations']> = {
  GetInvitations: async ({ tenant }) =>
    json({ items: await listInvitations(tenant.read.withoutTenant, tenant.tenantId) }),

  CreateInvitation: ({ tenant: { tenantId, transaction }, principal, writer, body: { email, role }, ...call }) =>
    transaction(async ({ withoutTenant: query }) => {
      const { issuer, sendMail } = call
      if (issuer === null) throw signedInElsewhere()
      if (!isEmail(email)) throw invalidProperty('email', 'format', 'This is not an e-mail address.')
      if (await isMember(query, tenantId, email))
        throw new Problem('conflict', `${email} is already a member: change the role instead.`)
      const invitedBy = userOf(principal)
      const secret = newInvitationSecret()
      const url = `${issuer}/oauth2/invitations/${secret}`
      if (sendMail) {
        await allowMail(query, tenantId, email)
        const [tenant, inviter] = [await findTenantById(query, tenantId), await findUser(query, invitedBy)]
        // The mail goes to the key, so that the address that it reaches is the one that it proves.
        const mail = { to: emailKey(email), url, tenant: tenant.name, invitedBy: inviter?.email ?? '' }
        await sendMail(invitationMail(mail))
        await countMail(query, tenantId, email)
      }
      // Locks are taken after the mail, so that nobody waits for the mail server because of them.
      await requireMember(query, principal, 'admin')
      const given = { tenantId, email, role, invitedBy, secret, isMailed: sendMail !== null }
      const invitation = await createInvitation(query, writer.author, given)
      return json({ ...invitation, url: sendMail ? null : url })
    }),

  WithdrawInvitation: ({ tenant: { tenantId, transaction }, writer, params: { invitationId } }) =>
    transaction(async ({ withoutTenant: query }) => {
      const withdrawn = await withdrawInvitation(query, writer.author, tenantId, invitationId)
      return json(existing('invitation', withdrawn))
    }),
}
