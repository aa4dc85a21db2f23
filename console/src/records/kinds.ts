import type { Path } from '../paths.ts'
import type { ListedName } from './fields.ts'

/** A record as the API shows it, whichever it is. */
export type AnyRecord = Readonly<Record<string, unknown>> & { id: string }

/** What the console itself decides on records of a kind; all else is in the contract. */
type RecordKind = {
  plural: string
  singular: string
  list: Path
  one: Path
  /** What the record is called, by the first of these fields that is filled. */
  titles: readonly string[]
  /** What the table shows beside it unless others are chosen. */
  columns: readonly string[]
}

export const kinds: Record<ListedName, RecordKind> = {
  accounts: {
    ...{ plural: 'Accounts', singular: 'account', list: '/accounts', one: '/accounts/$id' },
    titles: ['company', 'accountId'],
    columns: ['accountId', 'status', 'city', 'country', 'billingEmail', 'updatedAt'],
  },
  contacts: {
    ...{ plural: 'Contacts', singular: 'contact', list: '/contacts', one: '/contacts/$id' },
    titles: ['name', 'lastName', 'firstName', 'email', 'phone'],
    columns: ['accountId', 'title', 'email', 'phone'],
  },
  publications: {
    ...{ plural: 'Publications', singular: 'publication', list: '/publications', one: '/publications/$id' },
    titles: ['name', 'code'],
    columns: ['code', 'isActive', 'frequency', 'updatedAt'],
  },
  subscriptions: {
    ...{ plural: 'Subscriptions', singular: 'subscription', list: '/subscriptions', one: '/subscriptions/$id' },
    titles: ['subscriptionId', 'subscriptionNumber'],
    columns: ['accountId', 'publicationId', 'status', 'startDate', 'expireDate', 'copies', 'totalDue'],
  },
  invoices: {
    ...{ plural: 'Invoices', singular: 'invoice', list: '/invoices', one: '/invoices/$id' },
    titles: ['invoiceDescription', 'invoiceType'],
    columns: ['accountId', 'status', 'issueDate', 'dueDate', 'total', 'totalDue'],
  },
}

/** The end of an identifier tells records apart that were made one after another. */
export const titleOf = (name: ListedName, record: AnyRecord): string => {
  const { titles, singular } = kinds[name]
  const title = titles.map((field) => record[field]).find((value) => typeof value === 'string' && value.trim() !== '')
  return typeof title === 'string'
    ? title
    : `${singular.charAt(0).toUpperCase()}${singular.slice(1)} …${record.id.slice(-6)}`
}
