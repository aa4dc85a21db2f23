import { createHash } from 'node:crypto'
import { type ManagementResources, type Output, type ResourceName, storedFieldsOf } from '@masthead/contract'
import { normalisedHeading } from '@masthead/contract/field-names'
import { Refusal } from '../../refusal.ts'
import { emptyMapping, type Mapping } from './mapping.ts'
import type { ReadingOptions } from './sources.ts'

/** What somebody decided about a file that was sent, as the API takes it. */
export type RunOptions = Output<ManagementResources['importRuns']['operations']['GetImportRun']>['options']

/** The part of it that one file needs. */
export type FileOptions = Omit<RunOptions, 'member' | 'members'>

export const readingOf = (options: FileOptions, resource: ResourceName | ''): ReadingOptions => {
  const { columns: _columns, splits: _splits, joins: _joins, translations: _translations, ...reading } = options
  return resource === '' ? reading : { ...reading, resource }
}

/** The choices as a map. A choice for a field that the resource does not have was made for another resource. */
export const mappingOf = (options: FileOptions, resource: ResourceName): Mapping => {
  const known = new Set(storedFieldsOf(resource).map(({ name }) => name))
  const split = new Map(
    (options.splits ?? []).map(({ heading, into, at }) => [
      heading,
      { into: into.map((field) => (field !== null && known.has(field) ? field : null)), at },
    ]),
  )
  const joins = (options.joins ?? []).filter(({ field }) => known.has(field))
  const used = new Set([...split.keys(), ...joins.flatMap(({ of }) => of)])
  const rename = new Map<string, string | null>()
  for (const { heading, field } of options.columns ?? [])
    if ((field === null || known.has(field)) && !used.has(heading)) rename.set(heading, field)
  refuseTwice([...rename.values()], (field) => `two columns were chosen for ${field}: choose one, or join them`)
  refuseTwice(
    [...rename.values(), ...[...split.values()].flatMap(({ into }) => into), ...joins.map(({ field }) => field)],
    (field) => `the field ${field} would be given twice: choose another`,
  )
  const translate = new Map<string, Map<string, string | null>>()
  for (const { field, from, to } of options.translations ?? []) {
    if (!known.has(field)) continue
    const values = translate.get(field) ?? new Map<string, string | null>()
    translate.set(field, values.set(from.trim().toLowerCase(), to))
  }
  const join = new Map(joins.map(({ field, of, with: sign }) => [field, { of, with: sign }]))
  return { ...emptyMapping, rename, split, join, translate }
}

const refuseTwice = (fields: readonly (string | null)[], reason: (field: string) => string): void => {
  const twice = fields.find((field, index) => field !== null && fields.indexOf(field) !== index)
  if (typeof twice === 'string') throw new Refusal(reason(twice))
}

/** By what files with the same header are recognised, in whatever order their columns come. */
export const headerKey = (header: readonly string[]): string =>
  createHash('sha256').update(header.map(normalisedHeading).sort().join('\n')).digest('base64url')
