import type { Output, Resources } from '@masthead/contract'

export type AccountStatus = 'prospect' | 'active' | 'on_hold' | 'inactive'
export type SubscriptionStatus = 'pending' | 'active' | 'grace' | 'suspended' | 'expired' | 'cancelled'
export type InvoiceStatus = 'draft' | 'open' | 'past_due' | 'paid' | 'void' | 'uncollectible'

/** A record as the API shows it, in which these fields are always known. */
type Known<R, Field extends keyof R> = R & { [F in Field]: NonNullable<R[F]> }
type Operations = { [R in keyof Resources]: Resources[R]['operations'] }

export type DemoPublication = Output<Operations['publications']['GetPublicationById']>
export type DemoAccount = Output<Operations['accounts']['GetAccountById']> & { status: AccountStatus }
export type DemoContact = Known<Output<Operations['contacts']['GetContactById']>, 'createdAt' | 'updatedAt'>
export type DemoSubscription = Known<
  Output<Operations['subscriptions']['GetSubscriptionById']>,
  'startDate' | 'endDate' | 'expireDate' | 'firstRunDate' | 'copies'
> & { status: SubscriptionStatus }
export type DemoInvoice = Known<
  Output<Operations['invoices']['GetInvoiceById']>,
  | 'total'
  | 'totalDue'
  | 'gross'
  | 'net'
  | 'invoiceType'
  | 'invCharges'
  | 'invInvoiced'
  | 'invApplied'
  | 'invDiscount'
  | 'invTax'
> & { status: InvoiceStatus; isOpen: 0 | 1 }

export type DemoTask = Output<Operations['tasks']['GetTaskById']>

export type DemoRecord =
  | { resource: 'publications'; record: DemoPublication }
  | { resource: 'accounts'; record: DemoAccount }
  | { resource: 'contacts'; record: DemoContact }
  | { resource: 'subscriptions'; record: DemoSubscription }
  | { resource: 'invoices'; record: DemoInvoice }
  | { resource: 'tasks'; record: DemoTask }
