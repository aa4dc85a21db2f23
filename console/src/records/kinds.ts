import { fieldsOf, type ListedName, listedNames, type Resource, resources } from '@masthead/contract'
import type { ComponentType } from 'react'
import {
  AccountIcon,
  ContactIcon,
  InvoiceIcon,
  PublicationIcon,
  RecordIcon,
  SubscriptionIcon,
  TaskIcon,
} from '../design/icons.tsx'
import type { Path } from '../paths.ts'
import { labelOf } from './fields.ts'

/** A record as the API shows it, whichever it is. */
export type AnyRecord = Readonly<Record<string, unknown>> & { id: string }

/** Records of some kinds can be deleted and restored. */
export const isDeleted = ({ deletedAt }: AnyRecord): boolean => typeof deletedAt === 'string'

const groups = ['Customers', 'Circulation'] as const

type Choices = {
  Icon: ComponentType
  /** Where the navigation shows it. */
  group: (typeof groups)[number]
  /** What the record is called, by the first of these fields that is filled. */
  titles: readonly string[]
  /** The heading of that. */
  titleLabel: string
  /** What the table shows beside it unless others are chosen. */
  columns: readonly string[]
  /** The order of the list unless another is chosen, as the API takes it; null for that of arrival. */
  sort: string | null
  /** The filters that are always seen, beside those of which totals are kept. */
  filters: readonly string[]
  /** Its page also shows those records that belong to it and that lists leave out. */
  showsLeftOut: boolean
}

type RecordKind = Choices & { plural: string; singular: string; list: Path; one: Path }

/** What the console itself decides on records of a kind; all else follows from the contract. */
const choices: { readonly [Name in ListedName]?: Partial<Choices> } = {
  accounts: {
    Icon: AccountIcon,
    group: 'Customers',
    titles: ['company', 'accountId'],
    columns: ['accountId', 'status', 'city', 'country', 'billingEmail', 'updatedAt'],
    showsLeftOut: true,
  },
  contacts: {
    Icon: ContactIcon,
    group: 'Customers',
    titles: ['name', 'lastName', 'firstName', 'email', 'phone'],
    columns: ['accountId', 'title', 'email', 'phone'],
  },
  tasks: {
    Icon: TaskIcon,
    group: 'Customers',
    titles: ['title'],
    columns: ['accountId', 'dueDate', 'userId', 'priority', 'type', 'doneAt'],
    filters: ['due'],
  },
  publications: {
    Icon: PublicationIcon,
    titles: ['name', 'code'],
    columns: ['code', 'isActive', 'frequency', 'updatedAt'],
  },
  subscriptions: {
    Icon: SubscriptionIcon,
    titles: ['subscriptionId', 'subscriptionNumber'],
    columns: ['accountId', 'publicationId', 'status', 'startDate', 'expireDate', 'copies', 'totalDue'],
    filters: ['expireDate'],
  },
  invoices: {
    Icon: InvoiceIcon,
    titles: ['invoiceDescription', 'invoiceType'],
    titleLabel: 'Invoice',
    columns: ['accountId', 'publicationId', 'issueDate', 'dueDate', 'total', 'totalDue', 'status'],
    // People ask for the last ones.
    sort: '-issueDate',
    filters: ['dueDate'],
  },
}

const mostColumns = 6

const kindOf = (name: ListedName): RecordKind => {
  const { singular, businessIdentifier }: Resource = resources[name]
  const { titles = businessIdentifier ? [businessIdentifier] : [], ...chosen } = choices[name] ?? {}
  const shown = fieldsOf(name).filter(
    (field) => field.isShown && field.default === null && !titles.includes(field.name),
  )
  return {
    singular,
    plural: capitalised(name),
    list: `/${name}`,
    one: `/${name}/$id`,
    Icon: RecordIcon,
    group: 'Circulation',
    titles,
    titleLabel: titles[0] === undefined ? capitalised(singular) : labelOf(titles[0]),
    columns: shown.slice(0, mostColumns).map((field) => field.name),
    sort: null,
    filters: [],
    showsLeftOut: false,
    ...chosen,
  }
}

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Of every name. */
export const kinds = Object.fromEntries(listedNames.map((name) => [name, kindOf(name)])) as Record<
  ListedName,
  RecordKind
>

/** The lists as the navigation shows them. */
export const groupedNames: readonly { group: string; names: readonly ListedName[] }[] = groups.map((group) => ({
  group,
  names: listedNames.filter((name) => kinds[name].group === group),
}))

/** The end of an identifier tells records apart that were made one after another. */
export const titleOf = (name: ListedName, record: AnyRecord): string => {
  const { titles, singular } = kinds[name]
  const title = titles.map((field) => record[field]).find((value) => typeof value === 'string' && value.trim() !== '')
  return typeof title === 'string' ? title : `${capitalised(singular)} …${record.id.slice(-6)}`
}
