import { importKeysOf, type ResourceName, resourceNames, storedFieldsOf } from '@masthead/contract'
import { fieldOfHeading } from '@masthead/contract/field-names'
import { rejectionColumns } from '../files/rejected-rows.ts'
import { emptyMapping, type Mapping, partedHeadings, targetsOf } from './mapping.ts'

/** Which field a column of a file holds, and why. */
export type Column = {
  heading: string
  /** Null when it is left out, unknown, or split or joined by a map. */
  field: string | null
  match: 'exact' | 'name' | 'chosen' | 'left out' | 'unknown'
}

/** What a map says comes first, then the names of the API, then those of the four languages, each for one column. */
export const matchColumns = (resource: ResourceName, header: readonly string[], mapping: Mapping): Column[] => {
  const known = new Set(storedFieldsOf(resource).map(({ name }) => name))
  const used = new Set(partedHeadings(mapping))
  const columns = header.map((heading): Column => {
    const chosen = mapping.rename.get(heading)
    if (chosen !== undefined) return { heading, field: chosen, match: chosen === null ? 'left out' : 'chosen' }
    if (used.has(heading)) return { heading, field: null, match: 'chosen' }
    if (rejectionColumns.includes(heading)) return { heading, field: null, match: 'left out' }
    return known.has(heading) ? { heading, field: heading, match: 'exact' } : { heading, field: null, match: 'unknown' }
  })
  const taken = new Set([...columns.flatMap(({ field }) => field ?? []), ...targetsOf(mapping)])
  for (const column of columns) {
    if (column.match !== 'unknown') continue
    const field = fieldOfHeading(resource, column.heading)
    if (field === null || taken.has(field)) continue
    taken.add(field)
    column.field = field
    column.match = 'name'
  }
  return columns
}

type Candidate = { resource: ResourceName; matched: number; unknown: number }

/** How well the columns of a file fit each resource. */
const fitsOf = (header: readonly string[]) =>
  resourceNames.map((resource) => {
    const columns = matchColumns(resource, header, emptyMapping)
    const fields = new Set(columns.flatMap(({ field }) => field ?? []))
    const hasKey = importKeysOf(resource).some(({ name }) => fields.has(name))
    const needed = storedFieldsOf(resource).filter((field) => !field.isNullable && field.default === null)
    const lacks = needed.filter(({ name }) => !fields.has(name)).length
    const unknown = columns.filter(({ match }) => match === 'unknown').length
    return { resource, hasKey, matched: fields.size, unknown, lacks }
  })

/** What a file could hold by its columns, the best first. One whose records could not be recognised is none. */
export const candidatesOf = (header: readonly string[]): Candidate[] =>
  fitsOf(header)
    .filter(({ hasKey, matched }) => hasKey && matched > 0)
    .sort((one, other) => other.matched - other.lacks - (one.matched - one.lacks))
    .map(({ resource, matched, unknown, lacks }) => ({ resource, matched: Math.max(matched - lacks, 0), unknown }))

/**
 * Undefined when two fit equally well, or none. One that fits more columns and lacks only its key counts, too: contacts with the number of
 * their customer must not be taken for customers.
 */
export const resourceOfColumns = (header: readonly string[]): ResourceName | undefined => {
  const [best, next] = candidatesOf(header)
  if (!best || best.matched <= (next?.matched ?? 0)) return undefined
  const known = header.length - best.unknown
  // Two columns fit many.
  const fewest = 3
  const isRivalled = fitsOf(header).some((fit) => !fit.hasKey && fit.matched - fit.lacks >= Math.max(known, fewest))
  return isRivalled ? undefined : best.resource
}
