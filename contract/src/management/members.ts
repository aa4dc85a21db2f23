import * as field from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'
import { listOf } from './list-of.ts'
import { Role } from './role.ts'

const Member = Type.Object(
  {
    userId: field.identifier('Identifier of the user.'),
    email: field.text('E-mail address, with which the user signs in.'),
    name: field.text('Full name.'),
    role: Role,
    legacyUserId: field.nullableText('Identifier of the user in the legacy system.'),
    createdAt: field.timestamp('When the user became a member.'),
  },
  { ...field.closed, title: 'Member' },
)
const MemberInput = Type.Object(
  {
    role: Type.Optional(Role),
    legacyUserId: Type.Optional(
      field.nullableInput('Identifier of the user in the legacy system; null for none.', 'name'),
    ),
  },
  { ...field.closed, title: 'MemberInput' },
)

export const members = defineResource({
  name: 'members',
  singular: 'member',
  description: 'Who may sign in to the tenant, and what they may do.',
  record: Member,
  operations: {
    GetMembers: {
      method: 'GET',
      path: '/members',
      scope: 'members:manage',
      summary: 'List the members, by e-mail address',
      status: 200,
      response: listOf(Member, 'MemberList'),
    },
    UpdateMember: {
      method: 'PATCH',
      path: '/members/{userId}',
      scope: 'members:manage',
      summary: 'Change what a member may do; takes effect at the next request',
      body: MemberInput,
      status: 200,
      response: Member,
      problems: ['conflict'],
    },
    RemoveMember: {
      method: 'DELETE',
      path: '/members/{userId}',
      scope: 'members:manage',
      summary: 'End a membership, with all tokens and consents of it',
      status: 200,
      response: Member,
      problems: ['conflict'],
    },
  },
})
