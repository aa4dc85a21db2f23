import { identifiersOf, type ListedName } from '@masthead/contract'
import { relatedTo } from '../records/filters.ts'
import { type AnyRecord, kinds } from '../records/kinds.ts'

/** Facts that belong together. */
export type Group = { heading: string; names: readonly string[] }

/** The records of a list that belong to what the page shows. */
export type Related = {
  name: ListedName
  heading: string
  /** As the address of the list has them. */
  parameters: Readonly<Record<string, string>>
  sort?: string
}

type Layout = {
  /** What a reader looks for first: of what, for whom, how much, until when. */
  lead: readonly string[]
  groups: readonly Group[]
  related: (record: AnyRecord) => readonly Related[]
  /** The field with the account whose tasks the page shows. */
  tasksOf?: string
}

const ofAccount = (record: AnyRecord) => ({ accountId: String(record.accountId) })
const withDeleted = { includeDeleted: 'true' }

/** Those of an account and, where the record is for one, its publication. */
const ofBoth = (record: AnyRecord): Related['parameters'] => ({
  ...ofAccount(record),
  ...(typeof record.publicationId === 'string' && { publicationId: record.publicationId }),
})

const addressFacts = ['address', 'suite', 'zip', 'city', 'state', 'country', 'webAddress'] as const

const layouts: { readonly [Name in ListedName]?: Layout } = {
  accounts: {
    lead: [],
    groups: [
      { heading: 'Address', names: addressFacts },
      {
        heading: 'Invoices and e-mail',
        names: ['billingEmail', 'invoiceEmailEnabled', 'invoicePrintEnabled', 'doNotEmail'],
      },
    ],
    related: (record) => [
      {
        name: 'contacts',
        heading: 'Contacts',
        parameters: { ...ofAccount(record), includeHidden: 'true', includeSubsOnly: 'true', ...withDeleted },
      },
      {
        name: 'subscriptions',
        heading: 'Subscriptions',
        parameters: { ...ofAccount(record), ...withDeleted },
        sort: '-expireDate',
      },
      { name: 'invoices', heading: 'Invoices', parameters: ofAccount(record), sort: '-issueDate' },
    ],
    tasksOf: 'accountId',
  },
  contacts: {
    lead: ['accountId', 'title', 'email', 'phone'],
    groups: [
      { heading: 'Person', names: ['name', 'firstName', 'lastName', 'notes'] },
      { heading: 'How to reach them', names: ['email', 'doNotEmail', 'phone', 'extension', 'phone2'] },
      { heading: 'In lists', names: ['ownerId', 'hideContact', 'subsOnly'] },
    ],
    related: (record) => [
      {
        name: 'subscriptions',
        heading: 'Subscriptions of the account',
        parameters: ofAccount(record),
        sort: '-expireDate',
      },
      { name: 'invoices', heading: 'Invoices of the account', parameters: ofAccount(record), sort: '-issueDate' },
    ],
    tasksOf: 'accountId',
  },
  subscriptions: {
    lead: ['publicationId', 'accountId', 'totalDue', 'expireDate'],
    groups: [
      {
        heading: 'Term',
        names: ['startDate', 'firstRunDate', 'endDate', 'expireDate', 'renewalDate', 'renewedFromSubsId'],
      },
      { heading: 'Delivery', names: ['subscriptionNumber', 'copies', 'autoReschedule', 'notes'] },
      { heading: 'Money', names: ['totalNetCharge', 'totalApplied', 'totalDue', 'autoInvoice'] },
    ],
    related: (record) => [
      {
        name: 'invoices',
        heading: 'Invoices of the account for this title',
        parameters: ofBoth(record),
        sort: '-issueDate',
      },
    ],
    tasksOf: 'accountId',
  },
  invoices: {
    lead: ['accountId', 'publicationId', 'totalDue', 'dueDate'],
    groups: [
      { heading: 'What for', names: ['invoiceDescription', 'invoiceType', 'issueId', 'notes'] },
      { heading: 'Days', names: ['issueDate', 'dueDate', 'datePaid', 'terms', 'isOpen'] },
      {
        heading: 'Amounts',
        names: [
          'gross',
          'net',
          'invDiscount',
          'invTax',
          'total',
          'invCharges',
          'invInvoiced',
          'invApplied',
          'totalDue',
        ],
      },
    ],
    related: (record) => [
      {
        name: 'subscriptions',
        heading:
          typeof record.publicationId === 'string'
            ? 'Subscriptions of the account to this title'
            : 'Subscriptions of the account',
        parameters: ofBoth(record),
        sort: '-expireDate',
      },
      {
        name: 'invoices',
        heading: 'Open invoices of the account',
        parameters: { ...ofAccount(record), isOpen: 'true' },
        sort: 'dueDate',
      },
    ],
    tasksOf: 'accountId',
  },
  publications: {
    lead: [],
    groups: [{ heading: 'Issues', names: ['frequency', 'issFrequency', 'issueDecimals', 'isActive'] }],
    related: (record) => [
      {
        name: 'subscriptions',
        heading: 'Subscriptions that end next',
        parameters: { publicationId: record.id, status: 'active' },
        sort: 'expireDate',
      },
      { name: 'invoices', heading: 'Invoices', parameters: { publicationId: record.id }, sort: '-issueDate' },
    ],
  },
  tasks: {
    lead: ['accountId', 'userId', 'priority', 'dueDate'],
    groups: [{ heading: 'Task', names: ['notes', 'type', 'doneAt'] }],
    related: (record) => [{ name: 'contacts', heading: 'Contacts of the account', parameters: ofAccount(record) }],
  },
}

/** A resource that has no layout of its own shows all of its facts, and what refers to it. */
export const layoutOf = (name: ListedName): Layout =>
  layouts[name] ?? {
    lead: [],
    groups: [],
    related: (record) =>
      relatedTo(name).map((related) => ({
        name: related.name,
        heading: kinds[related.name].plural,
        parameters: { [related.field]: String(record[identifiersOf(name).canonical.name]) },
      })),
  }
