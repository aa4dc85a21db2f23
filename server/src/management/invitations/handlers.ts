import type { ManagementResources } from '@masthead/contract'
import {
  allowMail,
  countMail,
  createInvitation,
  listInvitations,
  newInvitationSecret,
  withdrawInvitation,
} from '../../identity/invitations.ts'
import { isMember } from '../../identity/members.ts'
import { findTenantById } from '../../identity/tenants.ts'
import { emailKey, findUser, isEmail } from '../../identity/users.ts'
import { invitationMail } from '../../mail/invitation-mail.ts'
import type { Handlers } from '../../operation-call.ts'
import { invalidProperty, Problem } from '../../problem.ts'
import { json, notFound, requireMember, signedInElsewhere, userOf } from '../json-answer.ts'

export const handlers: Handlers<ManagementResources['invitations']> = {
  GetInvitations: async ({ tenant }) =>
    json({ items: await listInvitations(tenant.read.withoutTenant, tenant.tenantId) }),

  CreateInvitation: ({ tenant: { tenantId, transaction }, principal, writer, issuer, mailer, body: { email, role } }) =>
    transaction(async ({ withoutTenant: query }) => {
      if (issuer === null) throw signedInElsewhere()
      if (!isEmail(email)) throw invalidProperty('email', 'format', 'This is not an e-mail address.')
      if (await isMember(query, tenantId, email))
        throw new Problem('conflict', `${email} is already a member: change the role instead.`)
      const invitedBy = userOf(principal)
      const secret = newInvitationSecret()
      const url = `${issuer}/oauth2/invitations/${secret}`
      if (mailer) {
        await allowMail(query, tenantId, email)
        const [tenant, inviter] = [await findTenantById(query, tenantId), await findUser(query, invitedBy)]
        // To the key, so that the address that the mail reaches is the one that it proves.
        const given = { to: emailKey(email), url, tenant: tenant.name, invitedBy: inviter?.email ?? '' }
        await mailer.send(invitationMail(given))
        await countMail(query, tenantId, email)
      }
      // The rest is short: nobody waits for a mail server because of what it locks.
      await requireMember(query, principal, 'admin')
      const given = { tenantId, email, role, invitedBy, secret, isMailed: mailer !== null }
      const invitation = await createInvitation(query, writer.author, given)
      return json({ ...invitation, url: mailer ? null : url })
    }),

  WithdrawInvitation: ({ tenant: { tenantId, transaction }, writer, params: { invitationId } }) =>
    transaction(async ({ withoutTenant: query }) => {
      const withdrawn = await withdrawInvitation(query, writer.author, tenantId, invitationId)
      if (!withdrawn) throw notFound('invitation')
      return json(withdrawn)
    }),
}
