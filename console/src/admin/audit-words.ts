import { type Resource, resources } from '@masthead/contract'
import { capitalised } from '../records/kinds.ts'

/** What audit entries call things, in words. Kinds that are not here are shown as they are. */
export const namesOfKinds: Readonly<Record<string, { one: string; many: string }>> = {
  ...Object.fromEntries(
    Object.values<Resource>(resources).map(({ name, singular }) => [name, { one: singular, many: capitalised(name) }]),
  ),
  imports: { one: 'import', many: 'Imports' },
  tokens: { one: 'token', many: 'Tokens' },
  members: { one: 'member', many: 'Members' },
  invitations: { one: 'invitation', many: 'Invitations' },
  users: { one: 'user', many: 'Users' },
  sign_ins: { one: 'sign-in', many: 'Sign-ins' },
  applications: { one: 'application', many: 'Applications' },
  consents: { one: 'consent', many: 'Consents' },
  webhook_endpoints: { one: 'webhook endpoint', many: 'Webhook endpoints' },
  legacy_systems: { one: 'legacy system', many: 'Legacy system' },
  tenants: { one: 'tenant', many: 'Tenant' },
}

/** Where the usual "created the contact" would read wrong. */
const sentences: Readonly<Record<string, string>> = {
  'sign_ins succeeded': 'signed in as',
  'sign_ins failed': 'failed to sign in as',
  'members role_changed': 'changed the role of',
  'members legacy_user_changed': 'changed the user in the legacy system of',
  'members taken_over': 'took over, with a proven address, the account of',
  'users password_changed': 'changed the password of',
  'users subject_changed': 'changed the subject of',
  'consents given': 'consented to',
  'consents opened': 'opened',
  'consents token_issued': 'got a token for',
  'consents withdrawn': 'ended the consent to',
  'webhook_endpoints tested': 'sent a test event to the webhook endpoint',
  'webhook_endpoints resent': 'sent an event again to the webhook endpoint',
  'webhook_endpoints replayed': 'sent events again from a moment on to the webhook endpoint',
  'webhook_endpoints secret_rotated': 'rotated the secret of the webhook endpoint',
  'legacy_systems retried': 'retried the deliveries to the legacy system',
}

export const sentenceOf = (action: string, resource: string): string =>
  sentences[`${resource} ${action}`] ??
  `${action.replaceAll('_', ' ')} the ${namesOfKinds[resource]?.one ?? resource.replaceAll('_', ' ')}`
