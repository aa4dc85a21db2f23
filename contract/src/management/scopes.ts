/** What can be done in the console beside the records: in words, and whether it takes an admin. */
export const managementScopes = {
  'self:manage': { words: 'See who you are, and sign out', adminsOnly: false },
  'tokens:manage': { words: 'Make and revoke your personal access tokens', adminsOnly: false },
  'consents:manage': { words: 'See and withdraw what you allowed applications', adminsOnly: false },
  'overview:read': { words: 'See how the business stands', adminsOnly: false },
  'history:read': { words: 'See who changed the records that you may see', adminsOnly: false },
  'tenant:manage': { words: 'Change what holds for all members', adminsOnly: true },
  'members:manage': { words: 'Invite, change and remove members', adminsOnly: true },
  'service-tokens:manage': { words: 'Make, rotate and revoke service tokens', adminsOnly: true },
  'applications:manage': { words: 'Register and disable applications', adminsOnly: true },
  'legacy:manage': { words: 'See and retry deliveries to the legacy system', adminsOnly: true },
  'webhooks:manage': { words: 'Make webhook endpoints, and see and resend their deliveries', adminsOnly: true },
  'imports:manage': { words: 'Import records and take imports back', adminsOnly: true },
  'audit:read': { words: 'See what was done, and by whom', adminsOnly: true },
} as const satisfies Record<string, { words: string; adminsOnly: boolean }>

export type ManagementScope = keyof typeof managementScopes

export const isManagementScope = (name: string): name is ManagementScope => Object.hasOwn(managementScopes, name)
