import { type ResourceName, storedFieldsOf } from '@masthead/contract'
import type { OptionChange } from './decisions.ts'
import type { FileOptions, Inspection } from './runs.ts'

export type Split = NonNullable<FileOptions['splits']>[number]
export type Join = NonNullable<FileOptions['joins']>[number]

/** What the choice of a column can be beside the name of a field. */
export const [undecided, leftOut, inParts] = ['?', '-', '/']

export const splitOf = ({ splits = [] }: FileOptions, heading: string): Split | undefined =>
  splits.find((split) => split.heading === heading)

export const joinOf = ({ joins = [] }: FileOptions, heading: string): Join | undefined =>
  joins.find(({ of }) => of.includes(heading))

/** Other columns for which the same field was chosen. */
export const rivalsOf = ({ columns = [] }: FileOptions, heading: string): string[] => {
  const field = columns.find((one) => one.heading === heading)?.field ?? null
  if (field === null) return []
  return columns.filter((one) => one.field === field && one.heading !== heading).map((one) => one.heading)
}

/** Without what was chosen for the column. What is left of a join of two is a single column. */
const without = (options: FileOptions, heading: string) => {
  const joins = (options.joins ?? []).map((join) => ({ ...join, of: join.of.filter((one) => one !== heading) }))
  const single = joins.filter(({ of }) => of.length === 1)
  return {
    columns: [
      ...(options.columns ?? []).filter((one) => one.heading !== heading),
      ...single.flatMap(({ field, of }) => of.map((heading) => ({ heading, field }))),
    ],
    splits: (options.splits ?? []).filter((one) => one.heading !== heading),
    joins: joins.filter(({ of }) => of.length > 1),
  }
}

type Choice = { heading: string; value: string; resource: ResourceName; noticed: Inspection['columns'] }

/** A field that another column was noticed to hold is then chosen twice, so that both can be joined. */
export const chosen = (options: FileOptions, { heading, value, resource, noticed }: Choice): OptionChange => {
  const next = without(options, heading)
  if (value === undecided) return kept(next)
  if (value === leftOut) return kept({ ...next, columns: [...next.columns, { heading, field: null }] })
  if (value === inParts)
    return kept({ ...next, splits: [...next.splits, { heading, into: partsFor(resource, noticed), at: ' ' }] })
  const join = next.joins.find(({ field }) => field === value)
  if (join) {
    const joins = next.joins.map((one) => (one === join ? { ...one, of: [...one.of, heading] } : one))
    return kept({ ...next, joins })
  }
  const decided = new Set(next.columns.map((one) => one.heading))
  const other = noticed.find((one) => one.field === value && one.heading !== heading && !decided.has(one.heading))
  const both = other ? [{ heading: other.heading, field: value }] : []
  return kept({ ...next, columns: [...next.columns, ...both, { heading, field: value }] })
}

/** Joins all columns for which the field of this one was chosen, in the order of the file. */
export const joined = (options: FileOptions, heading: string, noticed: Inspection['columns']): OptionChange => {
  const headings = new Set([heading, ...rivalsOf(options, heading)])
  const field = options.columns?.find((one) => one.heading === heading)?.field
  if (!field) return {}
  const of = noticed.map((one) => one.heading).filter((one) => headings.has(one))
  const columns = (options.columns ?? []).filter((one) => !headings.has(one.heading))
  return kept({ columns, splits: options.splits ?? [], joins: [...(options.joins ?? []), { field, of, with: ' ' }] })
}

export const changedSplit = (options: FileOptions, changed: Split): OptionChange => ({
  splits: (options.splits ?? []).map((one) => (one.heading === changed.heading ? changed : one)),
})

export const changedJoin = (options: FileOptions, changed: Join): OptionChange => ({
  joins: (options.joins ?? []).map((one) => (one.field === changed.field ? changed : one)),
})

type Choices = { [K in 'columns' | 'splits' | 'joins']: NonNullable<FileOptions[K]> }

/** What nobody chose is not said. */
const kept = ({ columns, splits, joins }: Choices): OptionChange => ({
  columns: columns.length > 0 ? columns : undefined,
  splits: splits.length > 0 ? splits : undefined,
  joins: joins.length > 0 ? joins : undefined,
})

/** First and last name, where the records have them and no other column does. */
const partsFor = (resource: ResourceName, noticed: Inspection['columns']): (string | null)[] => {
  const known = storedFieldsOf(resource).map(({ name }) => name)
  return ['firstName', 'lastName'].map((name) =>
    known.includes(name) && !noticed.some(({ field }) => field === name) ? name : null,
  )
}
