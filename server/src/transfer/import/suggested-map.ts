import type { ResourceName } from '@masthead/contract'
import { openTables, type ReadingOptions, sourceOf } from '../reading/sources.ts'
import { writeNewFile } from './new-file.ts'

type SuggestedMap = { path: string; unknown: string[] }

/** Writes a map that names the field of each column as far as it was noticed, and all statuses that nobody knows. */
export const suggestMap = async (file: string, path: string, options: ReadingOptions): Promise<SuggestedMap> => {
  const maps: Partial<Record<ResourceName, object>> = {}
  const unknown: string[] = []
  for (const table of (await openTables(file, options)).imported) {
    const { resource, reading } = await sourceOf(table, options, {})
    const columns = reading.columns.filter(({ heading }) => heading !== '')
    unknown.push(...reading.unknown.map(({ heading }) => heading))
    const fields = [...new Set(reading.statuses.map(({ field }) => field))]
    const translate = fields.map((field) => {
      const values = reading.statuses.filter((status) => status.field === field)
      return [field, Object.fromEntries(values.map(({ value }) => [value, value]))] as const
    })
    maps[resource] = {
      rename: Object.fromEntries(columns.map(({ heading, field }) => [heading, field])),
      ...(translate.length > 0 && { translate: Object.fromEntries(translate) }),
      set: {},
      split: {},
      join: {},
    }
  }
  await writeNewFile(path, `${JSON.stringify(maps, null, 2)}\n`)
  return { path, unknown }
}
