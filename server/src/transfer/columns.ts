import { longest, type Resource, type ResourceName, resources } from '@masthead/contract'
import { columnOf } from '../records/tables.ts'

/** What the files of an import or export hold of a resource: everything that is stored and not derived. */
export type Column = {
  /** As in the API; the heading of a file's column. */
  field: string
  column: string
  kind: Kind
  isNullable: boolean
  /** Where a row gives none, the service does; so an empty cell is no fault although it cannot be null. */
  isMadeByService: boolean
  /** In characters, for a text. */
  shortest: number
  longest: number
  /** Names the record itself beside its `id`. */
  isIdentifier: boolean
  /** The resource whose record it names. */
  refersTo: ReferredResource | null
}

export type Kind = 'text' | 'uuid' | 'date' | 'timestamp' | 'money' | 'integer' | 'number' | 'boolean'
export type ReferredResource = 'accounts' | 'publications' | 'subscriptions'

/** Those that others refer to come first. */
export const transferOrder = [
  'publications',
  'accounts',
  'contacts',
  'subscriptions',
  'invoices',
  'tasks',
] as const satisfies ResourceName[]

/** The database makes it from `totalDue`. */
const derived = new Set(['balanceCents'])

type Schema = { type?: string | string[]; format?: string; pattern?: string }

const text: Schema = { type: ['string', 'null'] }
/** Stored, but shown by no answer. */
const unshown: Partial<Record<ResourceName, Record<string, Schema>>> = {
  accounts: { userId: text, category: text, quality: text, primaryPublicationId: { ...text, format: 'uuid' } },
  contacts: { externalId: text },
  invoices: { externalId: text },
  tasks: { priority: text, type: text, createdAt: { type: 'string', format: 'date-time' } },
}

const madeByService = new Set(['id', 'createdAt', 'updatedAt', 'userId', 'route'])

/** The columns by which other records refer to one, and by which a file may name it besides. */
export const identifiersOf: Record<ReferredResource, { canonical: string; other: string }> = {
  accounts: { canonical: 'account_id', other: 'id' },
  publications: { canonical: 'id', other: 'code' },
  subscriptions: { canonical: 'id', other: 'subscription_id' },
}

const references: Record<string, ReferredResource> = {
  accountId: 'accounts',
  publicationId: 'publications',
  primaryPublicationId: 'publications',
  renewedFromSubsId: 'subscriptions',
}

const lengths: Record<string, number> = {
  accountId: longest.businessIdentifier,
  subscriptionId: longest.businessIdentifier,
  code: longest.businessIdentifier,
  email: longest.email,
  billingEmail: longest.email,
  phone: longest.phone,
  phone2: longest.phone,
  extension: longest.extension,
  zip: longest.zip,
  suite: longest.place,
  city: longest.place,
  state: longest.place,
  country: longest.place,
  address: longest.address,
  webAddress: longest.website,
  status: longest.label,
  userId: longest.label,
  category: longest.label,
  quality: longest.label,
  priority: longest.label,
  type: longest.label,
  notes: longest.notes,
  invoiceDescription: longest.notes,
}

const describe = (resource: Resource, field: string, schema: Schema): Column => {
  const isIdentifier = field === resource.businessIdentifier
  return {
    field,
    column: columnOf(field),
    kind: kindOf(schema),
    isNullable: [schema.type].flat().includes('null') && field !== 'createdAt' && field !== 'updatedAt',
    isMadeByService: madeByService.has(field),
    shortest: isIdentifier || field === 'externalId' ? 1 : 0,
    longest: lengths[field] ?? longest.name,
    isIdentifier,
    refersTo: isIdentifier ? null : (references[field] ?? null),
  }
}

const kindOf = ({ type, format, pattern }: Schema): Kind => {
  const types = [type].flat()
  if (types.includes('boolean')) return 'boolean'
  if (types.includes('number')) return 'number'
  if (format === 'uuid') return 'uuid'
  if (format === 'date') return 'date'
  if (format === 'date-time') return 'timestamp'
  if (pattern) return pattern.includes('.') ? 'money' : 'integer'
  return 'text'
}

const columnsOf = (name: ResourceName): readonly Column[] => {
  const resource: Resource = resources[name]
  const shown = Object.entries(resource.record.properties).filter(([field]) => !derived.has(field))
  return [...shown, ...Object.entries(unshown[name] ?? {})].map(
    ([field, schema]) => describe(resource, field, schema as Schema), // a schema of the contract's vocabulary has these members
  )
}

export const transferColumns: Readonly<Record<ResourceName, readonly Column[]>> = {
  publications: columnsOf('publications'),
  accounts: columnsOf('accounts'),
  contacts: columnsOf('contacts'),
  subscriptions: columnsOf('subscriptions'),
  invoices: columnsOf('invoices'),
  tasks: columnsOf('tasks'),
}
