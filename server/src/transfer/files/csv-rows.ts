import { Refusal } from '../../refusal.ts'
import type { Cell } from './cell.ts'

/** A row as it stands in the file. An empty cell of CSV and an unquoted `\N` are null, and `""` is ''. */
export type SourceRow = {
  /** The line of its first character; the first line of a file is 1. */
  line: number
  cells: Cell[]
  /** What makes its cells unreliable. */
  problem?: string
  /** The text of a JSON object. */
  json?: string
}

/** Detected from the header. */
export type Dialect = {
  delimiter: string
  lineEnd: '\n' | '\r'
  /** Before the line feed there is a carriage return. */
  hasCarriageReturns: boolean
}

/** In characters. An unclosed quote would otherwise take in the whole file. */
export const longestRow = 16 * 1024 * 1024

/** Limits the cells of a row, or the values of a JSON object. */
export const mostCells = 10_000

const quote = 0x22
const carriageReturn = 0x0d
const lineFeed = 0x0a
const delimiters = [',', ';', '\t']

/** The rows of a CSV file (RFC 4180), the header included, from its text in pieces of any size. */
export class CsvRows {
  readonly #name: string
  #dialect: Dialect | undefined
  /** From the beginning of the first row that is not complete. */
  #text = ''
  #line = 1
  #count = 0
  /** A row that spans many pieces is parsed again only when its text has doubled. */
  #enough = 0
  /** What a line in front of the header says, and whether there may be one that is not complete. */
  #given: string | undefined
  #separatorLine = ''
  #awaitsLine = false

  constructor(name: string) {
    this.#name = name
  }

  /** Counts blank lines too, because they cost time. */
  get count(): number {
    return this.#count
  }

  /** Known once the header is. */
  get dialect(): Dialect | undefined {
    return this.#dialect
  }

  /** The line in front of the header, such as `sep=;`, or nothing. */
  get separatorLine(): string {
    return this.#separatorLine
  }

  push(text: string): SourceRow[] {
    this.#text += text
    return this.#text.length < this.#enough ? [] : this.#take(false)
  }

  /** The rows that are left when no more text comes. */
  end(): SourceRow[] {
    return this.#take(true)
  }

  #take(isEnd: boolean): SourceRow[] {
    if (!this.#dialect) this.#skipBlankLines()
    if (!this.#dialect) this.#takeSeparatorLine(isEnd)
    this.#dialect ??= this.#awaitsLine ? undefined : detectDialect(this.#text, isEnd, this.#given)
    const rows: SourceRow[] = []
    const end = this.#dialect ? this.#takeRows(this.#text, this.#dialect, isEnd, rows) : 0
    this.#text = this.#text.slice(end)
    if (this.#text.length > longestRow) throw this.#tooLong()
    this.#enough = Math.min(this.#text.length * 2, longestRow + 1)
    return rows
  }

  #skipBlankLines(): void {
    let at = 0
    for (; ; this.#line++, this.#count++) {
      if (this.#text.charCodeAt(at) === lineFeed) at++
      else if (this.#text.startsWith('\r\n', at)) at += 2
      else break
    }
    this.#text = this.#text.slice(at)
  }

  /** Excel writes and reads a first line such as `sep=;`. */
  #takeSeparatorLine(isEnd: boolean): void {
    const beginning = this.#text.slice(0, 10)
    const bare = beginning.replace('"', '').toLowerCase()
    this.#awaitsLine = false
    if (this.#given !== undefined || !(bare.startsWith('sep=') || 'sep='.startsWith(bare))) return
    const [line, delimiter] = /^"?sep=([,;\t])"?(?:\r\n|\n|\r(?!$))/i.exec(beginning) ?? []
    if (line === undefined) {
      this.#awaitsLine = !isEnd && this.#text.length < 10
      return
    }
    this.#given = delimiter
    this.#separatorLine = line.replace(/[\r\n]+$/, '')
    this.#text = this.#text.slice(line.length)
    this.#line++
    this.#count++
  }

  /** Returns where the first incomplete row begins. */
  #takeRows(text: string, dialect: Dialect, isEnd: boolean, rows: SourceRow[]): number {
    let nextQuote = -1
    for (let at = 0; ; ) {
      if (nextQuote < at) nextQuote = indexOrEnd(text, '"', at)
      const lineEnd = indexOrEnd(text, dialect.lineEnd, at)
      if (nextQuote < lineEnd) {
        const row = readQuotedRow(text, at, dialect, isEnd)
        if (row.openQuote !== undefined) {
          if (isEnd) throw this.#openQuote(text, at, row.openQuote, dialect)
          return at
        }
        if (row.end === text.length && !row.endsLine && !isEnd) return at
        if (row.end - at > longestRow) throw this.#tooLong()
        if (row.cells.length > mostCells) throw this.#tooManyCells()
        this.#count++
        rows.push(this.#rowOf(row, text, at, dialect))
        this.#line += countOf(dialect.lineEnd, text, at, row.end + 1)
        at = row.endsLine ? row.end + 1 : row.end
        continue
      }
      if (lineEnd === text.length && !isEnd) return at
      if (lineEnd - at > longestRow) throw this.#tooLong()
      const end = text.charCodeAt(lineEnd - 1) === carriageReturn && lineEnd > at ? lineEnd - 1 : lineEnd
      if (end > at) {
        const cells = splitPlain(text.slice(at, end), dialect.delimiter)
        if (cells.length > mostCells) throw this.#tooManyCells()
        rows.push({ line: this.#line, cells })
      }
      if (lineEnd > at || lineEnd < text.length) this.#count++
      if (lineEnd === text.length) return lineEnd
      this.#line++
      at = lineEnd + 1
    }
  }

  #rowOf({ cells, strayText }: QuotedRow, text: string, start: number, { lineEnd }: Dialect): SourceRow {
    if (!strayText) return { line: this.#line, cells }
    const [opened, closed] = [strayText.openQuote, strayText.closingQuote].map(
      (position) => this.#line + countOf(lineEnd, text, start, position),
    )
    const where =
      opened === closed
        ? `the quote that closes on line ${closed}`
        : `the quote of line ${opened} that closes on line ${closed}`
    return { line: this.#line, cells, problem: `text follows ${where}: a quote inside quotes must be doubled` }
  }

  #openQuote(text: string, start: number, position: number, { lineEnd }: Dialect): Refusal {
    const line = this.#line + countOf(lineEnd, text, start, position)
    return new Refusal(
      `the quote that ${this.#name} opens on line ${line} is never closed: close it, or double it where it is part of a text`,
    )
  }

  #tooLong(): Refusal {
    return new Refusal(
      `the row on line ${this.#line} of ${this.#name} is longer than 16 MiB: close the quote that is left open, or choose a file that holds a table`,
    )
  }

  #tooManyCells(): Refusal {
    const most = mostCells.toLocaleString('en')
    return new Refusal(
      `the row on line ${this.#line} of ${this.#name} has more than ${most} cells: choose a file that holds a table`,
    )
  }
}

/** PostgreSQL and MySQL write null so. */
const nullMark = '\\N'

const indexOrEnd = (text: string, wanted: string, from: number): number => {
  const found = text.indexOf(wanted, from)
  return found < 0 ? text.length : found
}

const splitPlain = (line: string, delimiter: string): (string | null)[] => {
  const cells: (string | null)[] = line.split(delimiter, mostCells + 1)
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index]
    if (cell === '' || cell === nullMark) cells[index] = null
  }
  return cells
}

type QuotedRow = {
  cells: (string | null)[]
  end: number
  /** Whether a line end stands there. */
  endsLine: boolean
  /** The position of a quote whose end is not there. */
  openQuote?: number
  strayText?: { openQuote: number; closingQuote: number }
}

const readQuotedRow = (text: string, start: number, dialect: Dialect, isEnd: boolean): QuotedRow => {
  const delimiter = dialect.delimiter.charCodeAt(0)
  const lineEnd = dialect.lineEnd.charCodeAt(0)
  const row: QuotedRow = { cells: [], end: start, endsLine: false }
  for (let at = start; ; ) {
    const closing = text.charCodeAt(at) === quote ? closingQuote(text, at, isEnd) : at
    if (closing < 0) return { ...row, openQuote: at }
    let end = closing === at ? at : closing + 1
    while (end < text.length && text.charCodeAt(end) !== delimiter && text.charCodeAt(end) !== lineEnd) end++
    row.endsLine = text.charCodeAt(end) === lineEnd
    const isLast = row.endsLine || end === text.length
    const cellEnd = isLast && end > at && text.charCodeAt(end - 1) === carriageReturn ? end - 1 : end
    if (closing > at && cellEnd === closing + 1) row.cells.push(unquoted(text.slice(at + 1, closing)))
    else {
      // Text that violates the rules stays to the letter.
      const cell = text.slice(at, cellEnd)
      row.cells.push(cell === '' || cell === nullMark ? null : cell)
      if (closing > at) row.strayText ??= { openQuote: at, closingQuote: closing }
    }
    row.end = end
    // The caller refuses a row with more cells.
    if (isLast || row.cells.length > mostCells) return row
    at = end + 1
  }
}

/** Returns -1 when there is none, or it could turn out to be the first of a pair. */
const closingQuote = (text: string, opening: number, isEnd: boolean): number => {
  for (let at = opening + 1; ; at += 2) {
    at = text.indexOf('"', at)
    if (at < 0 || (at === text.length - 1 && !isEnd)) return -1
    if (text.charCodeAt(at + 1) !== quote) return at
  }
}

const unquoted = (text: string): string => (text.includes('"') ? text.replaceAll('""', '"') : text)

const countOf = (character: string, text: string, from: number, to: number): number => {
  let count = 0
  for (let at = text.indexOf(character, from); at >= 0 && at < to; at = text.indexOf(character, at + 1)) count++
  return count
}

/**
 * The delimiter that the header holds most often outside quotes, and what ends its line: `\n`, also after `\r`, unless
 * it is the lone `\r` of old Macs. Undefined while the header is not complete.
 */
const detectDialect = (text: string, isEnd: boolean, given: string | undefined): Dialect | undefined => {
  const counts = new Map(delimiters.map((delimiter) => [delimiter, 0]))
  let beginsCell = true
  let at = 0
  while (text[at] === '\n' || text[at] === '\r') at++
  for (; at < text.length; at++) {
    const character = text[at] ?? ''
    const count = counts.get(character)
    if (character === '\n') break
    if (character === '\r') {
      if (at === text.length - 1 && !isEnd) return undefined
      break
    }
    if (count !== undefined) counts.set(character, count + 1)
    if (character === '"' && beginsCell) {
      at = closingQuote(text, at, isEnd)
      if (at < 0) break
    }
    beginsCell = count !== undefined
  }
  if (!isEnd && (at < 0 || at === text.length)) return undefined
  const [[most]] = [...counts].sort(([, one], [, other]) => other - one) as [[string, number]] // there are three
  const delimiter = given ?? most
  const hasCarriageReturns = text[at] === '\r' && text[at + 1] === '\n'
  return { delimiter, lineEnd: text[at] === '\r' && !hasCarriageReturns ? '\r' : '\n', hasCarriageReturns }
}

/** A reader of the file may take `;` or tab for its delimiter, so these are quoted too. An unquoted `\N` would be null. */
const needsQuotes = /^$|[",;\t\r\n]|^[\s\uFEFF]|\s$|^\\N$/

/** A row of a single null is written as `""`, because a blank line is no row. */
export const csvLine = (cells: readonly (string | null)[], delimiter = ',', lineEnd = '\n'): string =>
  (cells.length === 1 && cells[0] === null ? '""' : cells.map(csvCell).join(delimiter)) + lineEnd

const csvCell = (cell: string | null): string => {
  if (cell === null) return ''
  return needsQuotes.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
