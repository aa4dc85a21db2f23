import * as field from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'
import { Role } from './role.ts'

const MyTenant = {
  id: field.identifier('Identifier of the tenant.'),
  slug: field.text('Short name of the tenant, as commands take it.'),
  name: field.text('Name of the tenant.'),
  role: Role,
}

const Me = Type.Object(
  {
    userId: field.identifier('Identifier of the user.'),
    email: field.text('E-mail address, with which the user signs in.'),
    name: field.text('Full name.'),
    tenant: Type.Object(MyTenant, { ...field.closed, description: 'The tenant that this token is for.' }),
    tenants: Type.Array(Type.Object(MyTenant, field.closed), {
      description: 'All tenants that the user is a member of, by name.',
    }),
    admins: Type.Array(
      Type.Object({ name: field.text('Full name.'), email: field.text('E-mail address.') }, field.closed),
      { description: 'Whom to ask for what takes an admin of the tenant, by e-mail address; ten at most.' },
    ),
  },
  { ...field.closed, title: 'Me' },
)

const SignOut = Type.Object(
  { everywhere: Type.Boolean({ description: 'Not only this browser, but all of them.' }) },
  { ...field.closed, title: 'SignOut' },
)

const SignedOut = Type.Object(
  { sessions: Type.Integer({ description: 'How many sessions were ended.' }) },
  { ...field.closed, title: 'SignedOut' },
)

export const me = defineResource({
  name: 'me',
  singular: 'me',
  description: 'The user who is signed in.',
  record: Me,
  operations: {
    GetMe: {
      method: 'GET',
      path: '/me',
      scope: 'self:manage',
      summary: 'Get who is signed in, and where',
      status: 200,
      answer: Me,
    },
    SignOut: {
      method: 'POST',
      path: '/me/sign-out',
      scope: 'self:manage',
      summary: 'End the session of this browser, or all sessions; tokens of the console end with it',
      body: SignOut,
      status: 200,
      answer: SignedOut,
    },
  },
})
