import type { ManagementResources, Output } from '@masthead/contract'
import type { SourceFile } from '../files/source-file.ts'
import type { Mappings } from '../import/mapping.ts'
import { readValue, reasonAgainst } from './cell-values.ts'
import { candidatesOf } from './columns.ts'
import { headerOf, noticeResource, type ReadingOptions, tableOptionsOf } from './sources.ts'
import { readTable, type TableReading } from './table-reading.ts'
import { WrongCell } from './wrong-cell.ts'

type Run = Output<ManagementResources['importRuns']['operations']['GetImportRun']>
export type Inspection = NonNullable<Run['inspection']>

const mostPreviewed = 20

/** What was noticed in a file, for somebody who decides how it is read. All rows are looked at. */
export const inspectTable = async (
  file: SourceFile,
  { name, options, mappings }: { name: string; options: ReadingOptions; mappings: Mappings },
  signal?: AbortSignal,
): Promise<Omit<Inspection, 'isRemembered'>> => {
  const header = await headerOf(file)
  const { resource, noticed } = await noticeResource(file, options, mappings, file.member || name)
  const candidates = candidatesOf(header).map(({ resource, matched }) => ({ resource, matched }))
  const { format, encoding, separator, hasEscapes, sheets, sheet, members, member } = file
  const about = { format, encoding, separator, hasEscapes, sheets, sheet, members, member, candidates }
  if (!resource) return { ...about, ...unknown(header), resource: null, resourceNoticed: '' }
  const reading = await readTable(file, resource, tableOptionsOf(options, mappings[resource]), {
    isWhole: true,
    signal,
  })
  return {
    ...about,
    ...{
      resource,
      resourceNoticed: noticed,
      rows: reading.rowCount,
      columns: reading.columns,
      statuses: reading.statuses,
    },
    unknown: reading.unknown.map(({ heading }) => heading),
    formats: reading.formats.map(({ doubt: _, ...format }) => format),
    notes: reading.notes.map((note) => note.replace(/ \(--[^)]*\)/, '')),
    problems: reading.problems.map(({ text }) => `${sentence(text)}.`),
    preview: await previewOf(reading),
  }
}

const unknown = (header: readonly string[]) => ({
  rows: 0,
  columns: header.map((heading) => ({ heading, examples: [], field: null, match: 'unknown' as const, values: 0 })),
  unknown: [...header],
  formats: [],
  statuses: [],
  notes: [],
  problems: ['The columns do not tell what the file holds: choose it.'],
  preview: { fields: [], rows: [] },
})

/** A field keeps its name. */
const sentence = (text: string): string =>
  text.replace(/^[a-z]+ /, (word) => word.charAt(0).toUpperCase() + word.slice(1))

/** Booleans as the API has them. */
const words: Record<string, string> = { t: 'true', f: 'false' }

const previewOf = async ({ file, plan, read }: TableReading): Promise<Inspection['preview']> => {
  const fields = plan.given
  const places = fields.map((field) => plan.fields.indexOf(field))
  const rows: Inspection['preview']['rows'] = []
  for await (const batch of file.rows()) {
    for (const row of batch.slice(0, mostPreviewed - rows.length)) {
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
      rows.push({ line, values: shown.map(storable), problem: problems.length === 0 ? null : problems.join('; ') })
    }
    if (rows.length >= mostPreviewed) break
  }
  return { fields: fields.map(({ name }) => name), rows }
}

/** The database holds no NUL and no half characters. */
const storable = (text: string | null): string | null =>
  text === null ? null : text.toWellFormed().replaceAll('\0', '\uFFFD').slice(0, 300)
