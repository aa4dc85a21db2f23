import {
  comparisonsOf,
  fieldsOf,
  isListed,
  type ListedName,
  type Listing,
  listParametersOf,
  pageSizes,
  pagingParameters,
  type ResourceName,
  referrersOf,
  resources,
  untalliedParametersOf,
} from '@masthead/contract'
import type { Parameters } from '../address.tsx'
import { labelOf, plain } from './fields.ts'
import { kinds } from './kinds.ts'
import { daysOf, isPeriod } from './periods.ts'
import { addDays } from './today.ts'

/**
 * How a filter is asked for: words to search, a status, a record by its identifier, whether to include what is left
 * out, yes, no and either, or days around a date.
 */
export type Filter = {
  name: string
  label: string
  description: string
  kind: FilterKind
  /** All parameters of an address that belong to it. */
  parameters: readonly string[]
}
type FilterKind = 'search' | 'status' | 'include' | 'either' | 'text' | { reference: ResourceName } | { range: Range }

/** Two parameters of the API around the values of a field. An address holds those, or the name of a period. */
export type Range = {
  from: string
  to: string
  /** It is about instants; days are then those of the reader. */
  isInstant: boolean
  /** The parameter for what is open and whose day has passed, where the field is that day. */
  overdue: string | null
}

/** What is chosen in other ways than by a control of its own. */
const notAsked = [...pagingParameters, 'ids', 'sort']

/** All that the list operation takes, but for paging and sorting. */
export const filtersOf = (name: ListedName): readonly Filter[] => {
  const made = filters.get(name) ?? makeFilters(name)
  filters.set(name, made)
  return made
}
const filters = new Map<ListedName, readonly Filter[]>()

const makeFilters = (name: ListedName): Filter[] => {
  const properties: [string, { type?: string; description?: string }][] = listParametersOf(name)
  const ranges = rangesOf(name)
  const inRanges = ranges.flatMap(({ parameters }) => parameters)
  const others = properties
    .filter(([parameter]) => !notAsked.includes(parameter) && !inRanges.includes(parameter))
    .map(([parameter, { type, description = '' }]) => ({
      name: parameter,
      label: labelOf(parameter),
      description: plain(description),
      kind: kindOf(name, parameter, type === 'boolean'),
      parameters: [parameter],
    }))
  return [...others, ...ranges]
}

const rangesOf = (name: ListedName): Filter[] => {
  const comparisons = comparisonsOf(name)
  const { overdue }: Listing = resources[name].listing
  return comparisons.flatMap(({ parameter: from, field, by }) => {
    const to = comparisons.find((other) => other.field === field && other.by.startsWith('<'))?.parameter
    if (by !== '>=' || to === undefined) return []
    const base = from.replace(/From$/, '')
    const isOverdueBy = overdue?.day === field.name ? overdue.parameter : null
    return {
      name: base,
      label: labelOf(field.name),
      description: plain(field.description),
      kind: { range: { from, to, isInstant: field.kind === 'timestamp', overdue: isOverdueBy } },
      parameters: [base, from, to, ...(isOverdueBy ? [isOverdueBy] : [])],
    }
  })
}

const kindOf = (resource: ListedName, parameter: string, isFlag: boolean): FilterKind => {
  if (isFlag) return Object.hasOwn(resources[resource].listing.leftOutUnless, parameter) ? 'include' : 'either'
  if (parameter === 'search') return 'search'
  const field = fieldsOf(resource).find(({ name }) => name === parameter)
  if (field?.reference) return { reference: field.reference }
  return field && field.known.length > 0 ? 'status' : 'text'
}

/** The lists that can be narrowed down to the records that refer to one of this kind. */
export const relatedTo = (resource: ListedName): { name: ListedName; field: string }[] =>
  referrersOf(resource).flatMap(({ resource: name, field }) =>
    isListed(name) && filtersOf(name).some((filter) => filter.name === field.name) ? [{ name, field: field.name }] : [],
  )

export const offeredPageSizes = [25, pageSizes.default, 100, pageSizes.maximum] as const

export type ListQuery = { page?: number; pageSize: number } & Record<string, string | number | boolean>

/** Periods follow the day, so there is no query before the day is known. */
export const needsToday = (name: ListedName, parameters: Parameters): boolean =>
  filtersOf(name).some((filter) => typeof filter.kind === 'object' && 'range' in filter.kind && parameters[filter.name])

/** What the address asks for, in the terms of the API. A page that is no number is the first. */
export const queryOf = (name: ListedName, parameters: Parameters, today?: string): ListQuery => {
  const sort = sortOf(name, parameters)
  const { cursor } = parameters
  return {
    ...filterQueryOf(name, parameters, today),
    ...(sort && { sort }),
    ...(cursor ? { cursor } : { page: countOf(parameters.page, 1) }),
    pageSize: sizeOf(parameters.pageSize),
  }
}

/** Of the query, what says which records there are. */
export const filterQueryOf = (
  name: ListedName,
  parameters: Parameters,
  today?: string,
): Record<string, string | boolean> => {
  const asked = filtersOf(name).flatMap(({ name, kind }): [string, string | boolean][] => {
    if (typeof kind === 'object' && 'range' in kind) return rangeQueryOf(name, kind.range, parameters, today)
    const text = parameters[name]?.trim()
    if (!text) return []
    return [[name, kind === 'include' || kind === 'either' ? text === 'true' : text]]
  })
  return { ...Object.fromEntries(asked), ...(parameters.ids && { ids: parameters.ids }) }
}

const rangeQueryOf = (
  name: string,
  { from, to, isInstant, overdue }: Range,
  parameters: Parameters,
  today: string | undefined,
): [string, string | boolean][] => {
  const period = parameters[name]
  const days = isPeriod(period) && today !== undefined ? daysOf(period, today) : {}
  const [first, last] = [dayOf(parameters[from]) ?? days.from, dayOf(parameters[to]) ?? days.to]
  const late = overdue && parameters[overdue]
  const asked: [string, string | boolean][] = []
  if (first) asked.push([from, isInstant ? instantOf(first) : first])
  // A window of instants does not include its end.
  if (last) asked.push([to, isInstant ? instantOf(addDays(last, 1)) : last])
  if (overdue && late) asked.push([overdue, late === 'true'])
  return asked
}

const dayOf = (text: string | undefined): string | undefined =>
  text && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined

/** When the day begins where the reader is, who also sees instants so. */
const instantOf = (day: string): string => new Date(`${day}T00:00:00`).toISOString()

/** The order that the address asks for, else the usual one of the list, if any. */
export const sortOf = (name: ListedName, { sort }: Parameters): string | null =>
  sort && sortsOf(name).includes(sort.replace(/^-/, '')) ? sort : kinds[name].sort

export const sortsOf = (name: ListedName): readonly string[] => resources[name].listing.sorts

/** Such a list is walked from page to page by the links of the responses: numbers of pages do not reach all of it. */
export const isWalked = (name: ListedName, query: ListQuery): boolean =>
  ['search', ...untalliedParametersOf(name)].some((parameter) => query[parameter] !== undefined)

export const isFiltered = (name: ListedName, parameters: Parameters): boolean =>
  parametersOf(name).some((parameter) => parameters[parameter])

/** Every parameter of an address that says which records there are. */
export const parametersOf = (name: ListedName): readonly string[] => [
  ...filtersOf(name).flatMap(({ parameters }) => parameters),
  'ids',
]

/** Other filters, another order: other pages. */
export const firstPage: Parameters = { page: undefined, cursor: undefined }

const countOf = (text: string | undefined, usual: number): number =>
  text && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : usual

const sizeOf = (text: string | undefined): number =>
  offeredPageSizes.find((size) => String(size) === text) ?? pageSizes.default
