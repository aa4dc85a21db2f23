import * as field from '../fields.ts'
import { longest } from '../fields.ts'
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
    legacyUserId: field.nullableText(
      'User of the legacy system that the user is in this tenant, as tasks name them; null when nobody has said so.',
    ),
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

const Credentials = Type.Object(
  {
    tokens: Type.Array(
      Type.Object(
        {
          id: field.identifier('Identifier of the token.'),
          name: field.text('What the token is for.'),
          tenant: field.text('Name of the tenant that it opens.'),
          createdAt: field.timestamp('When it was made.'),
          expiresAt: field.timestamp('Until when it works.'),
          lastUsedAt: field.nullableTimestamp('When it was last used, to the minute; null for never.'),
        },
        field.closed,
      ),
      { description: 'Personal access tokens that work, in all tenants of the user.' },
    ),
    consents: Type.Array(
      Type.Object(
        {
          id: field.text('Identifier of the consent.'),
          application: field.text('Name of the application.'),
          tenant: field.text('Name of the tenant in which it may act.'),
          createdAt: field.timestamp('When the user allowed it.'),
        },
        field.closed,
      ),
      { description: 'Applications that may act for the user, in all tenants of the user.' },
    ),
  },
  { ...field.closed, title: 'Credentials' },
)

const PasswordInput = Type.Object(
  {
    currentPassword: field.text('The password until now.', { maxLength: longest.password }),
    newPassword: field.text('The new password.', { minLength: 8, maxLength: longest.password }),
    keepTokens: Type.Optional(
      Type.Array(field.identifier('Identifier of a token.'), {
        maxItems: 1_000,
        description: 'Personal access tokens that go on working. All others end.',
      }),
    ),
  },
  { ...field.closed, title: 'PasswordInput' },
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
      response: Me,
    },
    SignOut: {
      method: 'POST',
      path: '/me/sign-out',
      scope: 'self:manage',
      summary: 'End the session of this browser, or all sessions; tokens of the console end with it',
      body: SignOut,
      status: 200,
      response: SignedOut,
    },
    GetCredentials: {
      method: 'GET',
      path: '/me/credentials',
      scope: 'self:manage',
      summary: 'List what acts in the name of the user, in all tenants',
      status: 200,
      response: Credentials,
    },
    ChangePassword: {
      method: 'PATCH',
      path: '/me/password',
      scope: 'self:manage',
      summary: 'Change the password; all sessions, consents and personal access tokens end, but for the tokens to keep',
      body: PasswordInput,
      status: 200,
      response: Credentials,
      problems: ['conflict'],
    },
  },
})
