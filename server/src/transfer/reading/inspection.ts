import type { ManagementResources, Output } from '@masthead/contract'
import type { SourceFile } from '../files/source-file.ts'
import { readValue, reasonAgainst } from './cell-values.ts'
import { sentenceOf } from './column-format.ts'
import { candidatesOf } from './columns.ts'
import type { Mappings } from './mapping.ts'
import { headerOf, noticeResource, type ReadingOptions, tableOptionsOf } from './sources.ts'
import { readTable, type Sight, type TableReading } from './table-reading.ts'
import { WrongCell } from './wrong-cell.ts'

type Run = Output<ManagementResources['importRuns']['operations']['GetImportRun']>
export type Inspection = NonNullable<Run['inspection']>

/** What one table tells. */
export type TableInspection = Omit<Inspection, 'isRemembered' | 'members' | 'member'>

type Asked = { name: string; options: ReadingOptions; mappings: Mappings }

/** What was noticed, and what was seen, for another look that needs not read all rows again; null when nobody knows what it holds. */
type TableLook = { noticed: TableInspection; sight: Sight | null }

/** What was noticed in a file, for somebody who decides how it is read. All rows are looked at. */
export const inspectTable = async (file: SourceFile, asked: Asked, signal?: AbortSignal): Promise<TableLook> => {
  const { options, mappings, name } = asked
  await headerOf(file)
  const { resource, noticed } = await noticeResource(file, options, mappings, name)
  if (!resource) return { noticed: { ...aboutFile(file), ...unknown(file.header) }, sight: null }
  const reading = await readTable(file, resource, tableOptionsOf(options, mappings[resource]), {
    isWhole: true,
    signal,
  })
  return lookOf(reading, noticed)
}

/** The same without reading the file; null when that takes another look at it. */
export const inspectAgain = async (sight: Sight, { options, mappings, name }: Asked): Promise<TableLook | null> => {
  const { resource, noticed } = await noticeResource(sight.file, options, mappings, name)
  const reading = resource && sight.again(resource, tableOptionsOf(options, mappings[resource]))
  return reading ? lookOf(reading, noticed) : null
}

const aboutFile = (file: SourceFile) => {
  const { format, encoding, separator, sheets, sheet, header } = file
  const candidates = candidatesOf(header).map(({ resource, matched }) => ({ resource, matched }))
  return { format, encoding, separator, escapes: escapesOf(file), sheets, sheet, candidates }
}

const escapesOf = ({ format, escapes, otherEscapes }: SourceFile): TableInspection['escapes'] => {
  if (format !== 'csv') return ''
  return otherEscapes.length > 0 ? 'in doubt' : escapes
}

const lookOf = (reading: TableReading, resourceNoticed: TableInspection['resourceNoticed']): TableLook => {
  const { file, resource, rowCount: rows, columns, statuses, apostrophes, sight } = reading
  const noticed = {
    ...aboutFile(file),
    resource,
    resourceNoticed,
    rows,
    columns,
    statuses,
    apostrophes,
    unknown: reading.unknown.map(({ heading }) => heading),
    formats: reading.formats.map(({ doubt: _, ...format }) => format),
    notes: reading.notes.map((note) => note.replace(/ \(--[^)]*\)/, '')),
    problems: reading.problems.map(({ text, short }) => `${sentenceOf(short ?? text)}.`),
    preview: previewOf(reading),
  }
  sight.close()
  return { noticed, sight }
}

/** A file that cannot be read at all. */
export const unreadable = (problem: string): TableInspection => ({
  format: 'csv',
  encoding: '',
  separator: '',
  escapes: '',
  sheets: [],
  sheet: '',
  candidates: [],
  ...unknown([]),
  problems: [problem],
})

const unknown = (header: readonly string[]) => ({
  resource: null,
  resourceNoticed: '' as const,
  rows: 0,
  columns: header.map((heading) => ({ heading, examples: [], field: null, match: 'unknown' as const, values: 0 })),
  unknown: [...header],
  formats: [],
  statuses: [],
  apostrophes: 'none' as const,
  notes: [],
  problems: ['The columns do not tell what the file holds: choose it.'],
  preview: { fields: [], rows: [] },
})

/** Booleans as the API has them. */
const words: Record<string, string> = { t: 'true', f: 'false' }

const previewOf = ({ plan, read, sight }: TableReading): Inspection['preview'] => {
  const fields = plan.given
  const places = fields.map((field) => plan.fields.indexOf(field))
  const rows = sight.first.map((row) => {
    const { line, values, problem } = read(row)
    const problems: string[] = problem === undefined ? [] : [problem]
    const shown = fields.map((field, index) => {
      const value = values[places[index] ?? -1]
      if (value === undefined || value === null) return null
      if (value instanceof WrongCell) {
        problems.push(`${field.name}: ${value.reason}`)
        return value.text
      }
      const text = field.reference === null ? readValue(field, value) : value
      if (text === null) problems.push(`${field.name}: ${reasonAgainst(field, value)}`)
      return field.kind === 'boolean' ? (words[text ?? ''] ?? value) : (text ?? value)
    })
    return { line, values: shown.map(storable), problem: problems.length === 0 ? null : problems.join('; ') }
  })
  return { fields: fields.map(({ name }) => name), rows }
}

/** The database holds no NUL and no half characters. */
const storable = (text: string | null): string | null =>
  text === null ? null : text.toWellFormed().replaceAll('\0', '\uFFFD').slice(0, 300)
