import {
  fieldsOf,
  isListed,
  type ListedName,
  type Resource,
  type ResourceName,
  referrersOf,
  resources,
} from '@masthead/contract'
import type { Parameters } from '../address.tsx'
import { labelOf, plain } from './fields.ts'

/**
 * How a filter is asked for: words to search, a status, a record by its identifier, whether to include what is left
 * out, or yes, no and either.
 */
export type Filter = { name: string; label: string; description: string; kind: FilterKind }
type FilterKind = 'search' | 'status' | 'include' | 'either' | 'text' | { reference: ResourceName }

const paging = ['page', 'pageSize', 'cursor']

/** All that the list operation takes, but for paging. */
export const filtersOf = (name: ListedName): Filter[] => {
  const resource: Resource = resources[name]
  const operation = Object.values(resource.operations).find(
    ({ method, path }) => method === 'GET' && path === `/${name}`,
  )
  const properties: [string, { type?: string; description?: string }][] = Object.entries(
    operation?.query?.properties ?? {},
  )
  return properties
    .filter(([parameter]) => !paging.includes(parameter))
    .map(([parameter, { type, description = '' }]) => ({
      name: parameter,
      label: labelOf(parameter),
      description: plain(description),
      kind: kindOf(name, parameter, type === 'boolean'),
    }))
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

export const usualPageSize = 50
export const pageSizes = [25, 50, 100, 200] as const

export type ListQuery = { page: number; pageSize: number } & Record<string, string | number | boolean>

/** What the address asks for, in the terms of the API. A page that is no number is the first. */
export const queryOf = (name: ListedName, parameters: Parameters): ListQuery => {
  const filters = filtersOf(name).flatMap(({ name, kind }) => {
    const text = parameters[name]?.trim()
    if (!text) return []
    return [[name, kind === 'include' || kind === 'either' ? text === 'true' : text]]
  })
  return { ...Object.fromEntries(filters), page: countOf(parameters.page, 1), pageSize: sizeOf(parameters.pageSize) }
}

const countOf = (text: string | undefined, usual: number): number =>
  text && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : usual

const sizeOf = (text: string | undefined): number => pageSizes.find((size) => String(size) === text) ?? usualPageSize
