import * as field from '../fields.ts'
import { longest } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'
import { type Scope, scopes } from '../scopes.ts'
import { listOf } from './list-of.ts'

export const ScopeList = Type.Array(
  Type.Unsafe<Scope>({ type: 'string', enum: Object.keys(scopes), description: 'A scope of the customer API.' }),
  {
    description: 'What it may do; a personal token never more than the role of its user.',
    minItems: 1,
    uniqueItems: true,
  },
)

/** What personal access tokens and service tokens have in common. */
export const tokenFields = {
  id: field.identifier('Identifier of the token.'),
  name: field.text('What the token is for.'),
  scopes: ScopeList,
  createdAt: field.timestamp('When the token was made.'),
  expiresAt: field.timestamp('When the token ends by itself.'),
  revokedAt: field.nullableTimestamp('When the token was revoked; null while it is not.'),
  lastUsedAt: field.nullableTimestamp('When the token was last used, to the minute; null before its first use.'),
}

export const secret = field.text('The token itself. It is shown only now.')

export const expiresInDays = (maximum: number, usual: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum, description: `How many days the token lives; ${usual} when absent.` }),
  )

const Token = Type.Object(tokenFields, { ...field.closed, title: 'Token' })
const ShownToken = Type.Object({ ...tokenFields, token: secret }, { ...field.closed, title: 'ShownToken' })
const TokenInput = Type.Object(
  {
    name: field.text('What the token is for.', { minLength: 1, maxLength: longest.name }),
    scopes: ScopeList,
    expiresInDays: expiresInDays(366, 90),
  },
  { ...field.closed, title: 'TokenInput' },
)

export const tokens = defineResource({
  name: 'tokens',
  singular: 'token',
  description: 'Personal access tokens of the user who is signed in, for this tenant.',
  record: Token,
  operations: {
    GetTokens: {
      method: 'GET',
      path: '/tokens',
      scope: 'tokens:manage',
      summary: 'List your personal access tokens, the newest first',
      status: 200,
      response: listOf(Token, 'TokenList'),
    },
    CreateToken: {
      method: 'POST',
      path: '/tokens',
      scope: 'tokens:manage',
      summary: 'Make a personal access token, of 100 at most that work; it is shown once',
      body: TokenInput,
      status: 201,
      response: ShownToken,
      showsSecret: true,
      problems: ['conflict'],
    },
    RevokeToken: {
      method: 'DELETE',
      path: '/tokens/{tokenId}',
      scope: 'tokens:manage',
      summary: 'Revoke a personal access token at once',
      status: 200,
      response: Token,
    },
  },
})
