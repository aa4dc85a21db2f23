import {
  comparisonsOf,
  fieldOf,
  type Listing,
  type Resource,
  type ResourceName,
  referenceFiltersOf,
  resourceNames,
  resources,
} from '@masthead/contract'

/** How a resource of the contract lies in the database. */
export type Table = {
  name: ResourceName
  listing: Listing
  /** The columns that equality filters compare: first those of which totals are kept, in the order of the contract. */
  filterColumns: readonly { field: string; column: string }[]
  /** SQL: the facets a row counts in, one for each combination of the filters. */
  facets: (row: string) => string
  /** What the bits of a visibility class stand for: the record carries the field. */
  classFields: readonly string[]
  /** Every visibility class. */
  classCount: number
  /** Along which columns its indexes lead. */
  paths: readonly Path[]
}

/**
 * What an index is good for: the records with one value in each of the columns `equal`, in the order of the column `order`, or of arrival.
 * Each holds the tenant and the class, too, and ends in the position.
 */
export type Path = { equal: readonly string[]; order: string | null }

const describe = (name: ResourceName): Table => {
  const { listing = { filters: [], leftOutUnless: {}, search: [], sorts: [] } }: Resource = resources[name]
  const compared = (field: string) => ({ field, column: comparedColumn(name, field) })
  const tallied = listing.filters.map(compared)
  const classFields = Object.values({ ...listing.leftOutUnless, ...listing.onlyWithout })
  return {
    name,
    listing,
    filterColumns: [...tallied, ...referenceFiltersOf(name).map(compared)],
    facets: facetsOf(tallied),
    classFields,
    classCount: 1 << classFields.length,
    paths: pathsOf(name, listing),
  }
}

/** The column that filters and sorting compare. */
export const comparedColumn = (name: ResourceName, field: string): string => {
  const { column, keyColumn } = fieldOf(name, field)
  return keyColumn ?? column
}

const pathsOf = (name: ResourceName, { filters, sorts, sortsWithin = {} }: Listing): Path[] => {
  const column = (field: string) => comparedColumn(name, field)
  const equal = comparisonsOf(name).flatMap(({ field, by }) => (by === '=' ? [field.name] : []))
  return [
    { equal: [], order: null },
    ...combinationsOf([...filters]).flatMap((some) =>
      some.length > 0 ? [{ equal: some.map(column), order: null }] : [],
    ),
    ...[...referenceFiltersOf(name), ...equal].map((field) => ({ equal: [column(field)], order: null })),
    ...sorts.map((field) => ({ equal: [], order: column(field) })),
    ...Object.entries(sortsWithin).flatMap(([field, some]) =>
      some.map((sort) => ({ equal: [column(field)], order: column(sort) })),
    ),
  ]
}

/** Every set of some of them, in their order. */
const combinationsOf = <T>(all: readonly T[]): T[][] => {
  const sets: T[][] = [[]]
  for (const one of all) sets.push(...sets.map((set) => [...set, one]))
  return sets
}

const facetsOf =
  (columns: Table['filterColumns']) =>
  (row: string): string => {
    const sums = combinationsOf(columns.map(({ field, column }) => `'${field}=' || ${row}.${column}::text`)).map(
      (set) => (set.length === 0 ? `''` : set.join(` || '&' || `)),
    )
    // A null value makes its facets null: no filter asks for it.
    return `array_remove(array[${sums.join(', ')}], null)`
  }

/** Whether the rows with these filter values have a facet, in which they are counted. */
export const hasFacet = ({ listing }: Table, values: ReadonlyMap<string, string>): boolean =>
  values.keys().every((field) => listing.filters.includes(field))

/** The facet in which the rows with these filter values are counted; `values` holds only the filters that are used. */
export const facetOf = (table: Table, values: ReadonlyMap<string, string>): string =>
  table.filterColumns
    .filter(({ field }) => values.has(field))
    .map(({ field }) => `${field}=${values.get(field)}`)
    .join('&')

export const tables = Object.fromEntries(resourceNames.map((name) => [name, describe(name)])) as Record<
  ResourceName,
  Table
> // of every name
