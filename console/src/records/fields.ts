import { type Field as ContractField, fieldsOf as contractFieldsOf, type ResourceName } from '@masthead/contract'

export type Field = ContractField & { label: string }

/** What responses show of a record. */
export const fieldsOf = (name: ResourceName): Field[] =>
  contractFieldsOf(name)
    .filter(({ isShown }) => isShown)
    .map((field) => ({ ...field, label: labelOf(field.name), description: plain(field.description) }))

/** Whether a field of a record holds nothing. */
export const isBlank = (value: unknown): boolean => value === undefined || value === null || value === ''

/** One of an open set of words. */
export const isStatus = ({ known }: Field): boolean => known.length > 0

/** Where the name of a field says less than it should to a reader. */
const labels: Record<string, string> = {
  id: 'Id',
  zip: 'ZIP',
  accountId: 'Account',
  publicationId: 'Publication',
  subscriptionId: 'Subscription',
  renewedFromSubsId: 'Renewed from',
  webAddress: 'Web site',
  website: 'Web site',
  userId: 'Legacy user',
  primaryPublicationId: 'Main publication',
  issFrequency: 'Issue count',
  isActive: 'Appears',
  isOpen: 'Open',
  balanceCents: 'Balance in cents',
  subsOnly: 'Subscriptions only',
  hideContact: 'Hidden',
  phone2: 'Second phone',
  createdAt: 'Created',
  updatedAt: 'Changed',
  deletedAt: 'Deleted',
  doneAt: 'Done',
  includeSubsOnly: 'For subscriptions only',
  includeHidden: 'Hidden',
  includeDeleted: 'Deleted',
  invoiceEmailEnabled: 'Invoices by e-mail',
  invoicePrintEnabled: 'Invoices on paper',
  doNotEmail: 'Do not e-mail',
  billingEmail: 'Billing e-mail',
  email: 'E-mail',
}

/** `billingEmail` reads "Billing email". */
export const labelOf = (name: string): string => {
  const words = name
    .replace(/^inv(?=[A-Z])/, '')
    .replaceAll(/([a-z])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`)
  return labels[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** Descriptions are Markdown. */
export const plain = (text: string): string => text.replaceAll('`', '')
