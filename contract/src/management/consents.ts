import * as field from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'
import { listOf } from './list-of.ts'
import { ScopeList } from './tokens.ts'

const Consent = Type.Object(
  {
    id: field.text('Identifier of the consent.'),
    application: field.text('Name of the application.'),
    clientId: field.text('Its `client_id`.'),
    scopes: ScopeList,
    createdAt: field.timestamp('When you consented.'),
  },
  { ...field.closed, title: 'Consent' },
)

export const consents = defineResource({
  name: 'consents',
  singular: 'consent',
  description: 'What the user who is signed in allowed applications to do in this tenant.',
  record: Consent,
  operations: {
    GetConsents: {
      method: 'GET',
      path: '/consents',
      scope: 'consents:manage',
      summary: 'List your consents that stand, the newest first',
      status: 200,
      response: listOf(Consent, 'ConsentList'),
    },
    WithdrawConsent: {
      method: 'DELETE',
      path: '/consents/{consentId}',
      scope: 'consents:manage',
      summary: 'Withdraw a consent; the tokens of the application end at the next request',
      status: 200,
      response: Consent,
    },
  },
})
