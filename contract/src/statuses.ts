/** Statuses are open sets, which imports may extend; these are the ones that everybody knows. */
export const knownStatuses = {
  accounts: ['prospect', 'active', 'on_hold', 'inactive'],
  invoices: ['draft', 'open', 'past_due', 'paid', 'void', 'uncollectible'],
  subscriptions: ['pending', 'active', 'grace', 'suspended', 'expired', 'cancelled'],
} as const

export const describeStatus = (resource: keyof typeof knownStatuses): string =>
  `Open set; known: ${knownStatuses[resource].join(', ')}.`
