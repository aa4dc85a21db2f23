import * as field from '../fields.ts'
import { longest } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'
import { listOf } from './list-of.ts'
import { ScopeList } from './tokens.ts'

const shared = {
  name: field.text('What users see when they are asked.', { minLength: 1, maxLength: longest.name }),
  redirectUris: Type.Array(field.text('Where users are sent back to, exactly.', { minLength: 1, maxLength: 2_048 }), {
    description: 'Where users may be sent back to.',
    minItems: 1,
    maxItems: 20,
  }),
  scopes: ScopeList,
}
const isNative = Type.Boolean({
  description: 'It runs on a device: any port of a loopback address, and private schemes.',
})
const mayRefresh = Type.Boolean({ description: 'It gets refresh tokens.' })

const Application = Type.Object(
  {
    clientId: field.text('Its `client_id`.'),
    ...shared,
    isNative,
    mayRefresh,
    consents: Type.Integer({ description: 'How many consents to it stand in this tenant.' }),
    createdAt: field.timestamp('When the application was registered.'),
    disabledAt: field.nullableTimestamp('When it was disabled; null while it works.'),
  },
  { ...field.closed, title: 'Application' },
)
const ApplicationInput = Type.Object(
  { ...shared, isNative: Type.Optional(isNative), mayRefresh: Type.Optional(mayRefresh) },
  { ...field.closed, title: 'ApplicationInput' },
)
const ApplicationChange = Type.Object(
  { isDisabled: Type.Boolean({ description: 'Refuse the application and its tokens from now on.' }) },
  { ...field.closed, title: 'ApplicationChange' },
)

export const applications = defineResource({
  name: 'applications',
  singular: 'application',
  description: 'Applications that the tenant registered, which act for its members by OAuth 2.0.',
  record: Application,
  operations: {
    GetApplications: {
      method: 'GET',
      path: '/applications',
      scope: 'applications:manage',
      summary: 'List the applications of the tenant, the newest first',
      status: 200,
      response: listOf(Application, 'ApplicationList'),
    },
    RegisterApplication: {
      method: 'POST',
      path: '/applications',
      scope: 'applications:manage',
      summary: 'Register an application; only members of this tenant can consent to it',
      body: ApplicationInput,
      status: 201,
      response: Application,
    },
    UpdateApplication: {
      method: 'PATCH',
      path: '/applications/{clientId}',
      scope: 'applications:manage',
      summary: 'Disable or enable an application; takes effect at the next request',
      body: ApplicationChange,
      status: 200,
      response: Application,
    },
  },
})
