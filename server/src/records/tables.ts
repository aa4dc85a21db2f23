import { fieldOf, type Listing, type Resource, type ResourceName, resourceNames, resources } from '@masthead/contract'

/** How a resource of the contract lies in the database. */
export type Table = {
  name: ResourceName
  listing: Listing
  /** The columns that equality filters compare, in the order of the contract. */
  filterColumns: readonly { field: string; column: string }[]
  /** SQL: the facets a row counts in, one for each combination of the filters. */
  facets: (row: string) => string
  /** Every visibility class, in the bits of `leftOutUnless`. */
  classCount: number
}

/** By the names of fields, which the program knows all. */
const columns = new Map<string, string>()

/** Names of columns stand in statements as they are, so nothing but a name may become one. */
export const columnOf = (field: string): string => {
  const known = columns.get(field)
  if (known !== undefined) return known
  if (!/^[a-z][A-Za-z0-9]*$/.test(field)) throw new Error('this cannot be the name of a field')
  const column = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  columns.set(field, column)
  return column
}

const describe = (name: ResourceName): Table => {
  const { listing = { filters: [], leftOutUnless: {}, search: [] } }: Resource = resources[name]
  const filterColumns = listing.filters.map((field) => {
    const { column, keyColumn } = fieldOf(name, field)
    return { field, column: keyColumn ?? column }
  })
  return {
    name,
    listing,
    filterColumns,
    facets: facetsOf(filterColumns),
    classCount: 1 << Object.keys(listing.leftOutUnless).length,
  }
}

const facetsOf =
  (columns: Table['filterColumns']) =>
  (row: string): string => {
    const combinations: string[][] = [[]]
    for (const { field, column } of columns) {
      combinations.push(...combinations.map((set) => [...set, `'${field}=' || ${row}.${column}::text`]))
    }
    const sums = combinations.map((set) => (set.length === 0 ? `''` : set.join(` || '&' || `)))
    // A null value makes its facets null: no filter asks for it.
    return `array_remove(array[${sums.join(', ')}], null)`
  }

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
