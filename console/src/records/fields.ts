import { type Resource, type ResourceName, resources } from '@masthead/contract'

/** How a value is shown. */
export type Kind =
  | 'text'
  | 'identifier'
  | 'status'
  | 'date'
  | 'instant'
  | 'money'
  | 'number'
  | 'boolean'
  | { refersTo: ListedName }

export type Field = { name: string; label: string; description: string; kind: Kind }

/** The resources that have lists. */
export type ListedName = Exclude<ResourceName, 'tasks'>
export const isListed = (name: string): name is ListedName => Object.hasOwn(resources, name) && name !== 'tasks'

type Schema = { type?: string | string[]; format?: string; pattern?: string; description?: string }

const propertiesOf = (schema: { properties: object }): [string, Schema][] => Object.entries(schema.properties)

export const fieldsOf = (name: ListedName): Field[] =>
  propertiesOf(resources[name].record).map(([field, schema]) => ({
    name: field,
    label: labelOf(field),
    description: plain(schema.description ?? ''),
    kind: kindOf(name, field, schema),
  }))

const formats: Record<string, Kind> = { date: 'date', 'date-time': 'instant', uuid: 'identifier' }

const kindOf = (resource: ListedName, field: string, { type, format, pattern }: Schema): Kind => {
  const referred = referredBy(resource, field)
  if (referred) return { refersTo: referred }
  if (field === 'status') return 'status'
  if (format && formats[format]) return formats[format]
  if (pattern?.includes('\\.')) return 'money'
  const [first] = [type].flat()
  return first === 'number' || pattern ? 'number' : first === 'boolean' ? 'boolean' : 'text'
}

/** `accountId` names an account wherever it stands but in the account itself. */
const referredBy = (resource: ListedName, field: string): ListedName | undefined => {
  if (field === 'renewedFromSubsId') return 'subscriptions'
  const found = Object.values<Resource>(resources).find(({ singular }) => field === `${singular}Id`)
  return found && found.name !== resource && isListed(found.name) ? found.name : undefined
}

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
