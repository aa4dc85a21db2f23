import { importKeysOf, longest, type ResourceName, storedFieldsOf } from '@masthead/contract'
import { fieldOfHeading } from '@masthead/contract/field-names'
import { shown } from '../../foreign-text.ts'
import { normalisedStatus } from '../../records/normalising.ts'
import { Refusal } from '../../refusal.ts'
import { type Cell, textOfCell } from '../files/cell.ts'
import type { SourceRow } from '../files/csv-rows.ts'
import type { Escapes } from '../files/escaped-rows.ts'
import type { SourceFile } from '../files/source-file.ts'
import { markOf } from '../files/spreadsheet-cells.ts'
import { encodingNames } from '../files/text-encoding.ts'
import {
  type ColumnReader,
  type Currency,
  type Evidence,
  type FormatOptions,
  isText,
  type Noticed,
  type Problem,
  sentenceOf,
} from './column-format.ts'
import { type Column, matchColumns } from './columns.ts'
import { evidenceOf } from './evidence-of.ts'
import { hint, type Mapping, partedHeadings, targetsOf } from './mapping.ts'
import { type GivenRow, RowPlan } from './row-plan.ts'

export type TableOptions = FormatOptions & {
  mapping: Mapping
  ignoreUnknown?: boolean | undefined
  /** Whether texts have marks for spreadsheets in front; noticed when undefined. */
  isForSpreadsheet?: boolean | undefined
}

/** What the cells of a column told. */
type ColumnSight = Column & { examples: string[]; values: number }

/** What apostrophes in front of texts are, where some could be marks for spreadsheets. */
type Apostrophes = 'none' | 'marks' | 'text' | 'in doubt'

type NoticedFormat = Noticed & { field: string; heading: string }

/** How a file is read as records of a resource, and what was noticed on the way. */
export type TableReading = {
  file: SourceFile
  resource: ResourceName
  plan: RowPlan
  columns: ColumnSight[]
  /** Headings that match no field, and that nobody has decided about. */
  unknown: ColumnSight[]
  formats: NoticedFormat[]
  statuses: { field: string; value: string; count: number }[]
  hasMarks: boolean
  apostrophes: Apostrophes
  notes: string[]
  /** Why the file cannot be imported yet. */
  problems: Problem[]
  rowCount: number
  /** All rows were looked at, and not only the first ones. */
  isComplete: boolean
  read: (row: SourceRow) => GivenRow
  sight: Sight
}

/** Says that later rows are written in another way than the first ones: all of them must be looked at. */
export class LookAgain extends Error {}

/** Of a plain file so many rows are looked at before it is read. */
const sampled = 1_000
const mostStatuses = 50
const mostDistinct = 10_000
const longestExample = 60
const mostNamed = 100

/** Looks at the first rows, and at all of them unless those are written as in the API. */
export const readTable = async (
  file: SourceFile,
  resource: ResourceName,
  options: TableOptions,
  { isWhole = false, signal }: { isWhole?: boolean; signal?: AbortSignal | undefined } = {},
): Promise<TableReading> => {
  if (!isWhole && !file.mayHaveMarks && !file.header.includes('')) {
    const first = await look(file, resource, options, sampled, signal)
    if (first.isComplete || isPlain(first)) return first
  }
  return look(file, resource, options, Number.POSITIVE_INFINITY, signal)
}

const isPlain = ({ formats, unknown, problems }: TableReading): boolean =>
  formats.length === 0 && unknown.length === 0 && problems.length === 0

const look = async (
  file: SourceFile,
  resource: ResourceName,
  options: TableOptions,
  most: number,
  signal: AbortSignal | undefined,
): Promise<TableReading> => {
  let sight = new Sight(file, resource, options)
  let isComplete = true
  let count = 0
  for await (const rows of file.rows()) {
    signal?.throwIfAborted()
    for (const row of rows) {
      // The columns of JSON come with its rows.
      if (sight.plan.isOutgrown) sight = sight.grown(new Sight(file, resource, options))
      sight.add(row)
      if (++count < most) continue
      isComplete = false
      break
    }
    if (!isComplete) break
  }
  if (sight.plan.isOutgrown) sight = sight.grown(new Sight(file, resource, options))
  return sight.end(isComplete)
}

type Marks = { marked: number; unmarked: number; first: string }

/** So many rows are kept to show what they become. */
const firstRows = 20

/** What the rows of a table told. */
export class Sight {
  readonly plan: RowPlan
  /** The first rows. */
  first: SourceRow[] = []
  #file: SourceFile
  readonly #resource: ResourceName
  readonly #options: TableOptions
  #columns: ColumnSight[]
  #evidence: (Evidence | null)[]
  #statuses: (Map<string, number> | null)[]
  #marks: Marks[]
  #rows = 0

  constructor(file: SourceFile, resource: ResourceName, options: TableOptions) {
    this.#file = file
    this.#resource = resource
    this.#options = options
    const columns = matchColumns(resource, [...file.header], options.mapping)
    this.plan = new RowPlan(resource, file, columns, options.mapping)
    this.#columns = columns.map((column) => ({ ...column, examples: [], values: 0 }))
    const given = new Set(this.plan.given)
    this.#evidence = this.plan.fields.map((field) =>
      given.has(field) ? evidenceOf(field, this.plan.headingOf(field.name)) : null,
    )
    this.#statuses = this.plan.fields.map((field) => (given.has(field) && field.known.length > 0 ? new Map() : null))
    this.#marks = this.plan.fields.map(() => ({ marked: 0, unmarked: 0, first: '' }))
  }

  /** Lets go of the file, so that this can be kept. */
  close(): void {
    this.#file = { ...this.#file, bytes: () => 0, rows: async function* () {} }
  }

  get file(): SourceFile {
    return this.#file
  }

  /** The same rows with other options, after all of them were looked at; null when a column must be looked at again. */
  again(resource: ResourceName, options: TableOptions): TableReading | null {
    if (resource !== this.#resource || this.plan.isOutgrown) return null
    const next = new Sight(this.#file, resource, options)
    for (const [place, field] of next.plan.fields.entries()) {
      const { name } = field
      const isSame = next.plan.sourceOf(name) === this.plan.sourceOf(name)
      const isTranslatedSo = next.plan.translationOf(name) === this.plan.translationOf(name)
      const isGiven = next.plan.given.includes(field)
      const countsMarks = this.#file.mayHaveMarks && isText(field)
      const isNeeded = isGiven && (next.#evidence[place] || next.#statuses[place] || countsMarks)
      if (isNeeded && (!isSame || (next.#evidence[place] && !isTranslatedSo))) return null
    }
    return this.grown(next).end(true)
  }

  /** The same for more columns, with what has been seen. */
  grown(next: Sight): Sight {
    for (const [index, column] of this.#columns.entries()) {
      const later = next.#columns[index]
      if (later) Object.assign(later, { examples: column.examples, values: column.values })
    }
    next.#evidence = next.#evidence.map((evidence, place) => evidence && (this.#evidence[place] ?? evidence))
    next.#statuses = next.#statuses.map((statuses, place) => statuses && (this.#statuses[place] ?? statuses))
    next.#marks = this.#marks
    next.#rows = this.#rows
    next.first = this.first
    return next
  }

  add(row: SourceRow): void {
    if (this.#rows++ < firstRows) this.first.push(row)
    if (this.plan.problemOf(row) !== undefined) return
    for (let index = 0; index < row.cells.length; index++) {
      const cell = row.cells[index]
      const column = this.#columns[index]
      if (!column || cell === null || cell === undefined || cell === '') continue
      column.values++
      if (column.examples.length < 3) column.examples.push(exampleOf(cell))
    }
    const cells = this.plan.cellsOf(row)
    for (let place = 0; place < cells.length; place++) {
      const cell = cells[place]
      if (cell === null || cell === undefined) continue
      const evidence = this.#evidence[place]
      if (evidence) evidence.add(this.plan.translated(place, cell))
      const statuses = this.#statuses[place]
      if (statuses) this.#countStatus(statuses, textOfCell(cell) ?? '')
      if (this.#file.mayHaveMarks && typeof cell === 'string') this.#look(place, cell)
    }
  }

  #countStatus(statuses: Map<string, number>, value: string): void {
    // Longer ones are refused.
    if (value.length > longest.label) return
    const count = statuses.get(value)
    if (count !== undefined || statuses.size < mostDistinct) statuses.set(value, (count ?? 0) + 1)
  }

  #look(place: number, text: string): void {
    const field = this.plan.fields[place]
    const mark = field && isText(field) ? markOf(text) : null
    const marks = this.#marks[place]
    if (mark === null || !marks) return
    if (mark === 'marked' && marks.marked === 0) marks.first = text
    marks[mark]++
  }

  end(isComplete: boolean): TableReading {
    const { plan } = this
    const readers: (ColumnReader | null)[] = []
    const formats: NoticedFormat[] = []
    const currencies = new Map<string, Currency & { field: string }>()
    for (const [place, field] of plan.fields.entries()) {
      const { read = null, noticed = null, currency } = this.#evidence[place]?.decide(this.#options) ?? {}
      readers.push(read)
      if (noticed) formats.push({ ...noticed, field: field.name, heading: plan.headingOf(field.name) })
      if (currency && !currencies.has(currency.code)) currencies.set(currency.code, { ...currency, field: field.name })
    }
    // A column without a heading and without values is none.
    const unknown = this.#options.ignoreUnknown
      ? []
      : this.#columns.filter(({ match, heading, values }) => match === 'unknown' && (heading !== '' || values > 0))
    const marks = this.#decideMarks()
    const problems = [...this.#problemsOfColumns(unknown), ...marks.problems]
    for (const { field, doubt } of formats)
      if (doubt !== null) problems.push({ ...doubt, text: `${field}: ${doubt.text}` })
    if (currencies.size > 1) {
      const named = [...currencies.values()].map(({ field, shown }) => `${field} in ${shown}`)
      problems.push({
        text: `it has ${named.join(' and ')}, and a record has one currency: convert the amounts`,
        remedy: '',
      })
    }
    const { hasMarks, apostrophes } = marks
    const columns = this.#columns.map((column) =>
      column.match === 'unknown' && !unknown.includes(column) ? { ...column, match: 'left out' as const } : column,
    )
    return {
      file: this.#file,
      resource: this.#resource,
      plan,
      columns,
      unknown,
      formats,
      hasMarks,
      apostrophes,
      problems,
      isComplete,
      statuses: this.#unknownStatuses(),
      notes: this.#notes(hasMarks),
      rowCount: this.#rows,
      sight: this,
      read: (row) => {
        if (plan.isOutgrown) throw new LookAgain()
        return plan.read(row, readers, hasMarks)
      },
    }
  }

  #problemsOfColumns(unknown: readonly ColumnSight[]): Problem[] {
    const resource = this.#resource
    const problems: Problem[] = []
    const note = (text: string, remedy: string, short?: string) =>
      problems.push({ text, remedy, ...(short !== undefined && { short }) })
    const fields = this.#columns.flatMap(({ field }) => field ?? [])
    const [mapping, known] = [this.#options.mapping, storedFieldsOf(resource).map(({ name }) => name)]
    const all = [...fields, ...targetsOf(mapping)]
    for (const twice of new Set(all.filter((field, index) => all.indexOf(field) !== index))) {
      const headings = this.#columns.filter(({ field }) => field === twice).map(({ heading }) => shown(heading))
      const isSet = headings.length === 1
      note(
        isSet
          ? `it has a column for ${twice}, which the map sets too`
          : `it gives ${twice} twice, as ${headings.join(' and ')}`,
        'Leave one of them out: null in a map does that for a column, and `masthead import suggest` writes one',
      )
    }
    for (const heading of partedHeadings(mapping))
      if (!this.#file.header.includes(heading))
        note(`the map names the column ${shown(heading)}, which it does not have`, 'Correct the map, or the heading')
    const rivals = unknown.filter(({ heading }) => fieldOfHeading(resource, heading) !== null)
    for (const { heading } of rivals) {
      const field = fieldOfHeading(resource, heading)
      const other = this.#columns.find((column) => column.field === field)?.heading
      note(
        other === undefined
          ? `its column ${shown(heading)} names ${field}, which the map gives too`
          : `its columns ${shown(other)} and ${shown(heading)} both name ${field}`,
        'Say in a map which field the second one holds, or null to leave it out: `masthead import suggest` writes one',
      )
    }
    const strange = unknown.filter((column) => !rivals.includes(column))
    if (strange.length > 0) {
      const named = strange.slice(0, mostNamed).map((column) => nameOf(column, known, this.#columns))
      const more = strange.length > mostNamed ? ` and ${strange.length - mostNamed} more` : ''
      const shownColumns = named.join(', ') + more
      note(
        `it has ${strange.length === 1 ? 'a column' : `${strange.length} columns`} ${shownColumns}, which ${resource} do not have`,
        'Name their fields in a map (`masthead import suggest` writes one), or leave them out with --ignore-unknown',
        shortNameOf(strange, resource),
      )
    }
    const keys = importKeysOf(resource)
    if (this.#columns.length > 0)
      if (!keys.some(({ name }) => all.includes(name))) {
        const needed = keys.map(({ name }) => `"${name}"`).join(' or ')
        note(
          `it has no column ${needed}, so its rows could not be recognised at the next import`,
          'Add one with the number of each row, or name the column that has it in a map (`masthead import suggest` writes one)',
        )
      }
    if (this.#file.isEncodingDoubtful)
      note(
        'some of its bytes are UTF-8, and others are not',
        'Say what it is, and rows that are not are refused: --encoding utf-8 or --encoding windows-1252',
      )
    if (this.#file.otherEscapes.length > 0) problems.push(doubtOfEscapes(this.#file))
    const { sheets, sheet } = this.#file
    const others = sheets.filter((name) => name !== sheet).map((name) => shown(name))
    if (problems.length > 0 && others.length > 0)
      note(`the sheet ${shown(sheet)} is read, and there are others`, `Choose one with --sheet: ${others.join(', ')}`)
    if (unknown.length === this.#columns.length && unknown.length > 0 && !this.#file.hasObjects)
      note(
        'none of its columns is known',
        'If its first line is a row, name the columns: --columns accountId,company,…',
      )
    return problems
  }

  /** An export without marks has no byte order mark and all columns, and may hold such texts, too. */
  #decideMarks(): { hasMarks: boolean; apostrophes: Apostrophes; problems: Problem[] } {
    const given = this.#options.isForSpreadsheet
    const { fields, given: givenFields } = this.plan
    const marks = this.#marks.filter((_, place) => givenFields.some((field) => field === fields[place]))
    const [marked, unmarked] = [sum(marks, 'marked'), sum(marks, 'unmarked')]
    const first = marks.find(({ first }) => first !== '')?.first ?? ''
    if (marked === 0) return { hasMarks: given ?? false, apostrophes: 'none', problems: [] }
    if (given !== undefined || unmarked > 0)
      return { hasMarks: given ?? false, apostrophes: given ? 'marks' : 'text', problems: [] }
    const names = fields.map(({ name }) => name)
    const isExport = !this.#file.hasByteOrderMark && names.join() === this.#file.header.join()
    if (!isExport) return { hasMarks: true, apostrophes: 'marks', problems: [] }
    const text = `the apostrophe of ${shown(first)} may be a mark for spreadsheets`
    const remedy =
      'Say --spreadsheet when the file was exported with that, or --no-spreadsheet to take texts as they are'
    return { hasMarks: false, apostrophes: 'in doubt', problems: [{ text, remedy }] }
  }

  #notes(hasMarks: boolean): string[] {
    const { encoding, isEncodingSure, escapes, sheet, sheets } = this.#file
    const notes: string[] = []
    if (encoding !== '' && encoding !== 'utf-8') notes.push(`The text is read as ${encodingNames[encoding]}.`)
    if (!isEncodingSure) notes.push('Some bytes are not UTF-8, and rows with them are refused.')
    if (escapes !== 'quotes') notes.push('Backslash escapes are read, and \\N is null.')
    if (sheets.length > 1) notes.push(`The sheet "${sheet}" is read, one of ${sheets.length}.`)
    if (hasMarks) notes.push('The apostrophe in front of texts is a mark for spreadsheets, and is left out.')
    return notes
  }

  #unknownStatuses(): TableReading['statuses'] {
    return this.plan.fields
      .flatMap(({ name: field, known }, place) => {
        const counts = new Map<string, number>()
        for (const [given, count] of this.#statuses[place] ?? []) {
          const value = textOfCell(this.plan.translated(place, given)) ?? ''
          if (value !== '' && !known.includes(normalisedStatus(value)))
            counts.set(value, (counts.get(value) ?? 0) + count)
        }
        return [...counts].map(([value, count]) => ({ field, value, count }))
      })
      .sort((one, other) => other.count - one.count)
      .slice(0, mostStatuses)
  }
}

const sum = (marks: readonly Marks[], count: 'marked' | 'unmarked'): number =>
  marks.reduce((total, one) => total + one[count], 0)

/** What each choice makes of quotes and backslashes. */
const escapesMeant: Record<Escapes, string> = {
  quotes: 'quotes enclose cells, and backslashes are text',
  backslashes: 'backslashes are escapes, and quotes are text',
  both: 'quotes enclose cells, and backslashes are escapes',
}

const doubtOfEscapes = ({ escapes, otherEscapes, separator }: SourceFile): Problem => {
  const choices = [escapes, ...otherEscapes].map((choice) => `--escapes ${choice} (${escapesMeant[choice]})`)
  const what = separator === '\t' ? 'cells that begin with a quote' : 'other backslashes'
  return {
    text: `it has ${what} beside \\N, so it cannot be told whether quotes and backslashes belong to the text`,
    remedy: `Say what it is: ${choices.join(', ')}`,
  }
}

/** A copy: a part of a text would keep the whole of it in memory. */
const exampleOf = (cell: Cell): string => {
  const text = textOfCell(cell) ?? ''
  const beginning = Buffer.from(text.slice(0, longestExample).toWellFormed()).toString().replaceAll('\0', '\uFFFD')
  return text.length > longestExample ? `${beginning}…` : beginning
}

const nameOf = (column: ColumnSight, known: readonly string[], columns: readonly ColumnSight[]): string => {
  const { heading, examples } = column
  const name = heading === '' ? `number ${columns.indexOf(column) + 1} without a name` : shown(heading)
  const meant = heading === '' ? '' : hint(heading, known)
  const near = meant.startsWith('Did you mean') ? `. ${meant}` : ''
  const values = examples.length === 0 ? 'empty' : examples.map((example) => shown(example)).join(', ')
  return `${name} (${values}${near})`
}

const mostShort = 5

const shortNameOf = (unknown: readonly ColumnSight[], resource: ResourceName): string => {
  const names = unknown
    .slice(0, mostShort)
    .map(({ heading }) => (heading === '' ? 'one without a name' : shown(heading)))
  const more = unknown.length > mostShort ? ` and ${unknown.length - mostShort} more` : ''
  return `${resource} do not have ${unknown.length === 1 ? 'the column' : 'the columns'} ${names.join(', ')}${more}: choose fields, or leave them out`
}

/** Refuses a file that cannot be imported yet, with all that is to be decided. */
export const refuseProblems = ({ file, problems }: TableReading): void => {
  const [first, ...others] = problems.map(({ text, remedy }) => (remedy === '' ? text : `${text}. ${remedy}`))
  if (first === undefined) return
  throw new Refusal([`${file.path}: ${first}`, ...others.map(sentenceOf)].join('. '))
}
