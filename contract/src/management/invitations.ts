import * as field from '../fields.ts'
import { longest } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'
import { listOf } from './list-of.ts'
import { Role } from './role.ts'

const invitationFields = {
  id: field.identifier('Identifier of the invitation.'),
  email: field.text('Who is invited.'),
  role: Role,
  invitedBy: field.nullableText('E-mail address of who invited; null when that user is gone.'),
  createdAt: field.timestamp('When the invitation was made.'),
  expiresAt: field.timestamp('Until when it can be accepted.'),
}
const Invitation = Type.Object(invitationFields, { ...field.closed, title: 'Invitation' })
const ShownInvitation = Type.Object(
  {
    ...invitationFields,
    url: field.nullableText(
      'The address at which it is accepted, once. It is shown only now. Null when it was mailed to who is invited.',
    ),
  },
  { ...field.closed, title: 'ShownInvitation' },
)
const InvitationInput = Type.Object(
  {
    email: field.text('Who is invited.', { minLength: 3, maxLength: longest.email }),
    role: Role,
  },
  { ...field.closed, title: 'InvitationInput' },
)

export const invitations = defineResource({
  name: 'invitations',
  singular: 'invitation',
  description:
    'Links by which people become members. They are mailed where the operator has set up a mail server; else pass them on yourself.',
  record: Invitation,
  operations: {
    GetInvitations: {
      method: 'GET',
      path: '/invitations',
      scope: 'members:manage',
      summary: 'List the invitations that can still be accepted, the newest first',
      status: 200,
      response: listOf(Invitation, 'InvitationList'),
    },
    CreateInvitation: {
      method: 'POST',
      path: '/invitations',
      scope: 'members:manage',
      summary: 'Invite somebody; the link is mailed or shown once, and replaces an earlier one to the same address',
      body: InvitationInput,
      status: 201,
      response: ShownInvitation,
      showsSecret: true,
      problems: ['conflict'],
    },
    WithdrawInvitation: {
      method: 'DELETE',
      path: '/invitations/{invitationId}',
      scope: 'members:manage',
      summary: 'Withdraw an invitation',
      status: 200,
      response: Invitation,
    },
  },
})
