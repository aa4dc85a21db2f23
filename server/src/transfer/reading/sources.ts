import { basename } from 'node:path'
import { type ResourceName, resourceNames } from '@masthead/contract'
import { Refusal } from '../../refusal.ts'
import type { Bounds } from '../files/bounds.ts'
import type { Escapes } from '../files/escaped-rows.ts'
import { importedMembers, resourceOfName } from '../files/file-names.ts'
import { openSourceFiles, type SourceFile } from '../files/source-file.ts'
import type { Encoding } from '../files/text-encoding.ts'
import type { FormatOptions } from './column-format.ts'
import { resourceOfColumns } from './columns.ts'
import { emptyMapping, hint, type Mappings } from './mapping.ts'
import { readTable, type TableOptions, type TableReading } from './table-reading.ts'
import { timeZoneNamed } from './time-zone.ts'

/** What is said about files, beside what can be noticed in them. */
export type ReadingOptions = {
  resource?: ResourceName | undefined
  encoding?: Encoding | undefined
  escapes?: Escapes | undefined
  sheet?: string | undefined
  member?: string | undefined
  /** The names of the columns, for files whose first line is a row. */
  columns?: readonly string[] | undefined
  dates?: FormatOptions['dates']
  decimal?: FormatOptions['decimal']
  timeZone?: string | undefined
  epoch?: FormatOptions['epoch']
  isForSpreadsheet?: boolean | undefined
  ignoreUnknown?: boolean | undefined
}

/** A table with what it holds. */
export type Source = { resource: ResourceName; file: SourceFile; options: TableOptions; reading: TableReading }

/** The tables of a file. An archive may hold others than those that are imported. */
export const openTables = async (path: string, options: ReadingOptions, bounds?: Bounds) => {
  const { encoding, escapes, sheet, member, columns: header } = options
  const tables = await openSourceFiles(path, { encoding, escapes, sheet, member, header, bounds })
  const taken = importedMembers(tables.map(({ member }) => member))
  const isTaken = ({ member }: SourceFile) => taken.includes(member)
  return { imported: tables.filter(isTaken), leftOut: tables.filter((table) => !isTaken(table)) }
}

export const tableOptionsOf = (options: ReadingOptions, mapping = emptyMapping): TableOptions => {
  const { dates, decimal, epoch, isForSpreadsheet, ignoreUnknown } = options
  const timeZone = options.timeZone === undefined ? undefined : timeZoneNamed(options.timeZone)
  return { dates, decimal, epoch, timeZone, isForSpreadsheet, ignoreUnknown, mapping }
}

type NoticedResource = { resource: ResourceName | undefined; noticed: 'given' | 'name' | 'columns' | '' }

/** What a table holds: as it is said, by its name, by the only resource of a map, or by its columns. */
export const noticeResource = async (
  file: SourceFile,
  { resource: given }: ReadingOptions,
  mappings: Mappings = {},
  name = nameOf(file),
): Promise<NoticedResource> => {
  if (given) return { resource: given, noticed: 'given' }
  const named = resourceOfName(name)
  if (named) return { resource: named, noticed: 'name' }
  const [mapped, other] = resourceNames.filter((resource) => mappings[resource] !== undefined)
  if (mapped && !other) return { resource: mapped, noticed: 'given' }
  const resource = resourceOfColumns(await headerOf(file))
  return { resource, noticed: resource ? 'columns' : '' }
}

const nameOf = ({ member, path }: SourceFile): string => basename(member || path)

/** The columns of JSON come with its rows. */
export const headerOf = async (file: SourceFile): Promise<readonly string[]> => {
  if (file.header.length > 0) return file.header
  for await (const rows of file.rows()) if (rows.length > 0) break
  return file.header
}

export const sourceOf = async (
  file: SourceFile,
  options: ReadingOptions,
  mappings: Mappings,
  signal?: AbortSignal,
): Promise<Source> => {
  const { resource } = await noticeResource(file, options, mappings)
  if (!resource) throw unnamed(file)
  const tableOptions = tableOptionsOf(options, mappings[resource])
  return { resource, file, options: tableOptions, reading: await readTable(file, resource, tableOptions, { signal }) }
}

const unnamed = (file: SourceFile): Refusal => {
  const [word = ''] = /^[a-z]*/i.exec(nameOf(file)) ?? []
  return new Refusal(
    `${file.path}: its columns do not tell what it holds: say it with --resource, or name it like contacts.csv. ${hint(word, resourceNames)}`,
  )
}

/** What was understood of a file, as lines to be shown before anything is done. */
export const understood = ({ file, resource, reading }: Source): string[] => {
  const lines: string[] = reading.notes.slice()
  const matched = reading.columns.filter(({ match, field }) => match === 'name' && field !== null)
  if (matched.length > 0)
    lines.push(`Columns: ${matched.map(({ heading, field }) => `${heading} → ${field}`).join(', ')}`)
  const left = reading.columns.filter(({ match, heading }) => match === 'left out' && heading !== '')
  if (left.length > 0) lines.push(`Left out: ${left.map(({ heading }) => heading).join(', ')}`)
  for (const { field, format, fits, values } of reading.formats)
    if (format !== '')
      lines.push(`${field}: ${format}, ${fits.toLocaleString('en')} of ${values.toLocaleString('en')} values`)
  return lines.length === 0 ? [] : [`${file.path} holds ${resource}.`, ...lines]
}
