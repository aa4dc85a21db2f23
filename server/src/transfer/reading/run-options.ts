import { createHash } from 'node:crypto'
import { type ManagementResources, type Output, type ResourceName, storedFieldsOf } from '@masthead/contract'
import { normalisedHeading } from '@masthead/contract/field-names'
import { Refusal } from '../../refusal.ts'
import { emptyMapping, type Mapping } from '../import/mapping.ts'
import type { ReadingOptions } from './sources.ts'

/** What somebody decided about a file that was sent, as the API takes it. */
export type RunOptions = Output<ManagementResources['importRuns']['operations']['GetImportRun']>['options']

export const readingOf = (options: RunOptions, resource: ResourceName | ''): ReadingOptions => {
  const { columns: _columns, translations: _translations, ...reading } = options
  return resource === '' ? reading : { ...reading, resource }
}

/** The choices as a map. A choice for a field that the resource does not have was made for another resource. */
export const mappingOf = ({ columns = [], translations = [] }: RunOptions, resource: ResourceName): Mapping => {
  const known = new Set(storedFieldsOf(resource).map(({ name }) => name))
  const rename = new Map<string, string | null>()
  for (const { heading, field } of columns) if (field === null || known.has(field)) rename.set(heading, field)
  const fields = [...rename.values()].filter((field) => field !== null)
  const twice = fields.find((field, index) => fields.indexOf(field) !== index)
  if (twice !== undefined) throw new Refusal(`two columns were chosen for ${twice}: choose one`)
  const translate = new Map<string, Map<string, string | null>>()
  for (const { field, from, to } of translations) {
    if (!known.has(field)) continue
    const values = translate.get(field) ?? new Map<string, string | null>()
    translate.set(field, values.set(from.trim().toLowerCase(), to))
  }
  return { ...emptyMapping, rename, translate }
}

/** By what files with the same header are recognised, in whatever order their columns come. */
export const headerKey = (header: readonly string[]): string =>
  createHash('sha256').update(header.map(normalisedHeading).sort().join('\n')).digest('base64url')
