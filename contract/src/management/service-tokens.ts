import * as field from '../fields.ts'
import { longest } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'
import { listOf } from './list-of.ts'
import { expiresInDays, ScopeList, secret, tokenFields } from './tokens.ts'

const serviceTokenFields = {
  ...tokenFields,
  service: field.text('The integration that holds the token.'),
  defaultAssignee: field.nullableText('The user of the legacy system who gets tasks that name nobody.'),
}
const ServiceToken = Type.Object(serviceTokenFields, { ...field.closed, title: 'ServiceToken' })
const ShownServiceToken = Type.Object(
  { ...serviceTokenFields, token: secret },
  { ...field.closed, title: 'ShownServiceToken' },
)
const ServiceTokenInput = Type.Object(
  {
    service: field.text('The integration that will hold the token.', { minLength: 1, maxLength: longest.name }),
    scopes: ScopeList,
    expiresInDays: expiresInDays(3_660, 365),
    defaultAssignee: Type.Optional(
      field.nullableInput('The user of the legacy system who gets tasks that name nobody.', 'name'),
    ),
  },
  { ...field.closed, title: 'ServiceTokenInput' },
)
const Rotation = Type.Object(
  {
    overlapHours: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 720, description: 'How long the old token lives on; 24 when absent.' }),
    ),
  },
  { ...field.closed, title: 'Rotation' },
)

export const serviceTokens = defineResource({
  name: 'service-tokens',
  singular: 'service token',
  description: 'Tokens of integrations, which belong to the tenant and to no user.',
  record: ServiceToken,
  operations: {
    GetServiceTokens: {
      method: 'GET',
      path: '/service-tokens',
      scope: 'service-tokens:manage',
      summary: 'List the service tokens, the newest first',
      status: 200,
      response: listOf(ServiceToken, 'ServiceTokenList'),
    },
    CreateServiceToken: {
      method: 'POST',
      path: '/service-tokens',
      scope: 'service-tokens:manage',
      summary: 'Make a service token; it is shown once',
      body: ServiceTokenInput,
      status: 201,
      response: ShownServiceToken,
      showsSecret: true,
    },
    RotateServiceToken: {
      method: 'POST',
      path: '/service-tokens/{tokenId}/rotate',
      scope: 'service-tokens:manage',
      summary: 'Make a successor of a service token; the old one lives on for the overlap',
      body: Rotation,
      status: 200,
      response: ShownServiceToken,
      showsSecret: true,
      problems: ['conflict'],
    },
    RevokeServiceToken: {
      method: 'DELETE',
      path: '/service-tokens/{tokenId}',
      scope: 'service-tokens:manage',
      summary: 'Revoke a service token at once',
      status: 200,
      response: ServiceToken,
    },
  },
})
