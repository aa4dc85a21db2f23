export type DemoRecord =
  | { resource: 'publications'; record: DemoPublication }
  | { resource: 'accounts'; record: DemoAccount }
  | { resource: 'contacts'; record: DemoContact }
  | { resource: 'subscriptions'; record: DemoSubscription }
  | { resource: 'invoices'; record: DemoInvoice }

export type AccountStatus = 'prospect' | 'active' | 'on_hold' | 'inactive'
export type SubscriptionStatus = 'pending' | 'active' | 'grace' | 'suspended' | 'expired' | 'cancelled'
export type InvoiceStatus = 'draft' | 'open' | 'past_due' | 'paid' | 'void' | 'uncollectible'

export type DemoPublication = {
  id: string
  code: string
  name: string | null
  isActive: boolean | null
  frequency: string | null
  issFrequency: string | null
  issueDecimals: number | null
  createdAt: string
  updatedAt: string
}

export type DemoAccount = {
  id: string
  accountId: string
  company: string | null
  address: string | null
  suite: string | null
  city: string | null
  state: string | null
  zip: string | null
  country: string | null
  webAddress: string | null
  status: AccountStatus
  billingEmail: string | null
  invoiceEmailEnabled: boolean | null
  invoicePrintEnabled: boolean | null
  doNotEmail: boolean | null
  createdAt: string
  updatedAt: string
}

export type DemoContact = {
  id: string
  accountId: string
  ownerId: string | null
  name: string | null
  firstName: string | null
  lastName: string | null
  phone: string | null
  phone2: string | null
  extension: string | null
  hideContact: boolean | null
  subsOnly: boolean | null
  doNotEmail: boolean | null
  email: string | null
  title: string | null
  notes: string | null
  deletedAt: string | null
  createdAt: string
  updatedAt: string
}

export type DemoSubscription = {
  id: string
  subscriptionId: string | null
  accountId: string
  publicationId: string
  renewedFromSubsId: string | null
  renewalDate: string | null
  status: SubscriptionStatus
  startDate: string
  endDate: string
  expireDate: string
  firstRunDate: string
  subscriptionNumber: string | null
  copies: string
  autoReschedule: boolean | null
  autoInvoice: boolean | null
  notes: string | null
  totalNetCharge: string | null
  totalApplied: string | null
  totalDue: string | null
  createdAt: string
  updatedAt: string
  deletedAt: string | null
}

export type DemoInvoice = {
  id: string
  accountId: string
  publicationId: string | null
  issueId: string | null
  status: InvoiceStatus
  issueDate: string | null
  dueDate: string | null
  terms: string | null
  total: string
  totalDue: string
  balanceCents: number
  gross: string
  net: string
  invoiceType: string
  invoiceDescription: string | null
  invCharges: string
  invInvoiced: string
  invApplied: string
  invDiscount: string
  invTax: string
  datePaid: string | null
  isOpen: 0 | 1
  notes: string | null
  createdAt: string
  updatedAt: string
}
