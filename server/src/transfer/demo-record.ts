import type { Output, Resources } from '@masthead/contract'

export type AccountStatus = 'prospect' | 'active' | 'on_hold' | 'inactive'
export type SubscriptionStatus = 'pending' | 'active' | 'grace' | 'suspended' | 'expired' | 'cancelled'
export type InvoiceStatus = 'draft' | 'open' | 'past_due' | 'paid' | 'void' | 'uncollectible'

/** Records as the API shows them, with the statuses that it knows. */
export type DemoPublication = Output<Resources['publications']['operations']['GetPublicationById']>
export type DemoAccount = Output<Resources['accounts']['operations']['GetAccountById']> & { status: AccountStatus }
export type DemoContact = Output<Resources['contacts']['operations']['GetContactById']>
export type DemoSubscription = Output<Resources['subscriptions']['operations']['GetSubscriptionById']> & {
  status: SubscriptionStatus
}
export type DemoInvoice = Output<Resources['invoices']['operations']['GetInvoiceById']> & { status: InvoiceStatus }

export type DemoRecord =
  | { resource: 'publications'; record: DemoPublication }
  | { resource: 'accounts'; record: DemoAccount }
  | { resource: 'contacts'; record: DemoContact }
  | { resource: 'subscriptions'; record: DemoSubscription }
  | { resource: 'invoices'; record: DemoInvoice }
