import type { ImportEscapes } from '@masthead/contract'
import { Refusal } from '../../refusal.ts'
import { longestRow, mostCells, type SourceRow } from './csv-rows.ts'

/** What protects special characters: quotes around cells, backslashes in front of them, or both. */
export type Escapes = ImportEscapes

type EscapedDialect = { delimiter: string; isEnclosed: boolean }

/**
 * The rows of text with backslash escapes, as MySQL's `INTO OUTFILE` and PostgreSQL's COPY write it: `\N` is null, and a
 * backslash in front of a delimiter or line end makes it part of the cell. Quotes mean nothing, unless MySQL was told to
 * enclose cells in them.
 */
export class EscapedRows {
  readonly #name: string
  readonly #dialect: EscapedDialect
  #text = ''
  #line = 1
  #count = 0
  /** A row that spans many pieces is looked through again only when its text has doubled. */
  #enough = 0

  constructor(name: string, dialect: EscapedDialect) {
    this.#name = name
    this.#dialect = dialect
  }

  get count(): number {
    return this.#count
  }

  push(text: string): SourceRow[] {
    this.#text += text
    return this.#text.length < this.#enough ? [] : this.#take(false)
  }

  end(): SourceRow[] {
    return this.#take(true)
  }

  #take(isEnd: boolean): SourceRow[] {
    const rows: SourceRow[] = []
    const endOf = this.#dialect.isEnclosed ? endOfEnclosedRow : endOfRow
    let start = 0
    for (;;) {
      const end = endOf(this.#text, start, this.#dialect.delimiter)
      if (end < 0 && !(isEnd && start < this.#text.length)) break
      this.#takeRow(rows, this.#text.slice(start, end < 0 ? undefined : end))
      if (end < 0) {
        start = this.#text.length
        break
      }
      start = end + 1
    }
    this.#text = this.#text.slice(start)
    if (this.#text.length > longestRow)
      throw new Refusal(
        `the row on line ${this.#line} of ${this.#name} is longer than 16 MiB: choose a file that holds a table`,
      )
    this.#enough = Math.min(this.#text.length * 2, longestRow + 1)
    return rows
  }

  #takeRow(rows: SourceRow[], given: string): void {
    const text = given.endsWith('\r') && !isEscaped(given, given.length - 1) ? given.slice(0, -1) : given
    this.#count++
    if (text !== '') {
      const { cells, problem } = cellsOf(text, this.#dialect)
      if (cells.length > mostCells)
        throw new Refusal(
          `the row on line ${this.#line} of ${this.#name} has more than ${mostCells.toLocaleString('en')} cells: choose a file that holds a table`,
        )
      rows.push({ line: this.#line, cells, ...(problem !== undefined && { problem }) })
    }
    this.#line += 1 + (text.match(/\n/g)?.length ?? 0)
  }
}

/** The line feed that is not escaped. */
const endOfRow = (text: string, start: number): number => {
  for (let at = text.indexOf('\n', start); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (!isEscaped(text, at, start)) return at
  }
  return -1
}

/** Of two backslashes the first one escapes the second. */
const isEscaped = (text: string, at: number, start = 0): boolean => {
  let backslashes = 0
  while (at - backslashes > start && text[at - backslashes - 1] === '\\') backslashes++
  return backslashes % 2 === 1
}

/** The line feed that is neither escaped nor in quotes. */
const endOfEnclosedRow = (text: string, start: number, delimiter: string): number => {
  let beginsCell = true
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '\n') return at
    if (character === '"' && beginsCell) {
      at = closingQuote(text, at)
      if (at < 0) return -1
    } else if (character === '\\') at++
    beginsCell = character === delimiter
  }
  return -1
}

/** Returns -1 when there is none. */
const closingQuote = (text: string, opening: number): number => {
  for (let at = opening + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') {
      if (text[at + 1] !== '"') return at
      at++
    }
  }
  return -1
}

type ReadCells = { cells: (string | null)[]; problem?: string }

const cellsOf = (text: string, { delimiter, isEnclosed }: EscapedDialect): ReadCells => {
  if (!text.includes('\\') && !(isEnclosed && text.includes('"')))
    return { cells: text.split(delimiter, mostCells + 1) }
  const read: ReadCells = { cells: [] }
  for (let start = 0; start <= text.length && read.cells.length <= mostCells; ) {
    const closing = isEnclosed && text[start] === '"' ? closingQuote(text, start) : start
    if (closing < 0) return { ...read, problem: 'a quote is never closed' }
    let end = closing === start ? start : closing + 1
    while (end < text.length && text[end] !== delimiter) end += text[end] === '\\' ? 2 : 1
    if (closing > start && end > closing + 1)
      read.problem = 'text follows a quote that closes: a quote inside must be escaped'
    read.cells.push(
      closing > start
        ? unescaped(text.slice(start + 1, closing).replaceAll('""', '"'))
        : cellOf(text.slice(start, end)),
    )
    start = end + 1
  }
  return read
}

/** With `\N` for null, nothing between two tabs is the empty text. */
const cellOf = (text: string): string | null => (text === '\\N' ? null : unescaped(text))

const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replaceAll(/\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|[\s\S])/g, (_all, escaped: string) => characterOf(escaped))
    : text

const named: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', Z: '\x1a', '0': '\0' }

const characterOf = (escaped: string): string => {
  const letter = named[escaped]
  if (letter !== undefined || escaped.length === 1) return letter ?? escaped
  const code = escaped.startsWith('x') ? Number.parseInt(escaped.slice(1), 16) : Number.parseInt(escaped, 8) & 0xff
  return String.fromCharCode(code)
}

const escapes: Record<string, string> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** As MySQL encloses: texts, and not the mark of null. */
export const escapedLine = (
  cells: readonly (string | null)[],
  { delimiter, isEnclosed }: EscapedDialect,
  lineEnd: string,
): string => {
  const special = new RegExp(`[\\\\\\t\\n\\r${isEnclosed ? '"' : delimiter}]`, 'g')
  const cellText = (cell: string) => cell.replaceAll(special, (one) => escapes[one] ?? `\\${one}`)
  const written = cells.map((cell) => (cell === null ? '\\N' : isEnclosed ? `"${cellText(cell)}"` : cellText(cell)))
  return written.join(delimiter) + lineEnd
}

/** Whether MySQL could have written the backslashes of a text: it protects these characters, and no others. */
export const areOfMysql = (text: string): boolean => /^(?:[^\\]|\\[\\"0,;\t\r\n])*$/.test(text)
