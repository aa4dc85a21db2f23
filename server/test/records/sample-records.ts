import {
  type Content,
  type Kind,
  type Resource,
  type ResourceName,
  resources,
  storedFieldsOf,
} from '@masthead/contract'
import { newId } from '../../src/records/identifiers.ts'
import type { Fields } from '../../src/records/stored-record.ts'

/** Records with every stored field, as an import would bring them; `more` sets what a test is about. */
const stamped = (): Fields => ({
  id: newId(),
  createdAt: '2026-01-02T03:04:05.678Z',
  updatedAt: '2026-02-03T04:05:06.789Z',
})

const samples: Record<Kind, unknown> = {
  text: 'Sample',
  uuid: null,
  date: '2026-01-01',
  timestamp: '2026-01-02T03:04:05.678Z',
  money: '119.00',
  integer: '3',
  number: 1,
  boolean: true,
}

const texts: Partial<Record<Content, string>> = {
  email: 'ada@example.com',
  phone: '+44 20 7946 0000',
  website: 'https://www.example.com',
  zip: '50667',
}

/** A record of any resource, which refers to nothing and which lists show. */
export const sampleRecord = (resource: ResourceName, more: Fields = {}): Fields => {
  const { listing }: Resource = resources[resource]
  const leftOut = Object.values(listing?.leftOutUnless ?? {})
  const values = storedFieldsOf(resource).map(({ name, kind, content, reference, known, choices }) => {
    if (name === 'id') return [name, newId()]
    if (reference || leftOut.includes(name)) return [name, null]
    return [name, known[0] ?? choices[0] ?? texts[content ?? 'name'] ?? samples[kind]]
  })
  return { ...Object.fromEntries(values), ...more }
}

export const sampleAccount = (accountId: string, more: Fields = {}): Fields => ({
  ...stamped(),
  accountId,
  company: `Company ${accountId}`,
  address: '1 Main Street',
  suite: null,
  city: 'Köln',
  state: null,
  zip: '50667',
  country: 'Germany',
  webAddress: 'https://www.example.com',
  status: 'active',
  billingEmail: `billing@${accountId.toLowerCase()}.example.com`,
  invoiceEmailEnabled: true,
  invoicePrintEnabled: false,
  doNotEmail: null,
  ...more,
})

export const sampleContact = (accountId: string, more: Fields = {}): Fields => ({
  ...stamped(),
  accountId,
  ownerId: null,
  name: 'Ada Lovelace',
  firstName: 'Ada',
  lastName: 'Lovelace',
  phone: '+44 20 7946 0000',
  phone2: null,
  extension: null,
  hideContact: null,
  subsOnly: false,
  doNotEmail: null,
  email: 'ada@example.com',
  title: 'Countess',
  notes: null,
  deletedAt: null,
  ...more,
})

export const samplePublication = (code: string, more: Fields = {}): Fields => ({
  ...stamped(),
  code,
  name: `The ${code}`,
  isActive: true,
  frequency: 'monthly',
  issFrequency: '12',
  issueDecimals: 0,
  ...more,
})

export const sampleSubscription = (accountId: string, publicationId: string, more: Fields = {}): Fields => ({
  ...stamped(),
  subscriptionId: null,
  accountId,
  publicationId,
  renewedFromSubsId: null,
  renewalDate: '2027-01-01',
  status: 'active',
  startDate: '2026-01-01',
  endDate: '2026-12-31',
  expireDate: '2026-12-31',
  firstRunDate: '2026-01-01',
  subscriptionNumber: '42',
  copies: '3',
  autoReschedule: true,
  autoInvoice: null,
  notes: null,
  totalNetCharge: '120.00',
  totalApplied: '20.00',
  totalDue: '100.00',
  deletedAt: null,
  ...more,
})

export const sampleInvoice = (accountId: string, publicationId: string | null, more: Fields = {}): Fields => ({
  ...stamped(),
  accountId,
  publicationId,
  issueId: null,
  status: 'open',
  issueDate: '2026-01-01',
  dueDate: '2026-01-31',
  terms: '30 days',
  total: '119.00',
  totalDue: '100.10',
  gross: '110.00',
  net: '100.00',
  invoiceType: 'Renewal',
  invoiceDescription: null,
  invCharges: '110.00',
  invInvoiced: '119.00',
  invApplied: '18.90',
  invDiscount: '10.00',
  invTax: '19.00',
  datePaid: null,
  isOpen: 1,
  notes: null,
  ...more,
})
