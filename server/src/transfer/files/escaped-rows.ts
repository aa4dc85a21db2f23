import { Refusal } from '../../refusal.ts'
import { longestRow, mostCells, type SourceRow } from './csv-rows.ts'

/**
 * The rows of tab-separated text with backslash escapes, as MySQL's `INTO OUTFILE` and PostgreSQL's COPY write it: `\N` is
 * null, and a backslash in front of a tab or line end makes it part of the cell. Quotes mean nothing.
 */
export class EscapedRows {
  readonly #name: string
  #text = ''
  #line = 1
  #count = 0

  constructor(name: string) {
    this.#name = name
  }

  get count(): number {
    return this.#count
  }

  get dialect() {
    return { delimiter: '\t', lineEnd: '\n' } as const
  }

  push(text: string): SourceRow[] {
    this.#text += text
    return this.#take(false)
  }

  end(): SourceRow[] {
    return this.#take(true)
  }

  #take(isEnd: boolean): SourceRow[] {
    const rows: SourceRow[] = []
    let start = 0
    for (;;) {
      const end = endOfRow(this.#text, start)
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
      throw new Refusal(`the row on line ${this.#line} of ${this.#name} is longer than 16 MiB: is it a table?`)
    return rows
  }

  #takeRow(rows: SourceRow[], given: string): void {
    const text = given.endsWith('\r') && !given.endsWith('\\\r') ? given.slice(0, -1) : given
    this.#count++
    if (text !== '') {
      const cells = cellsOf(text)
      if (cells.length > mostCells)
        throw new Refusal(
          `the row on line ${this.#line} of ${this.#name} has more than ${mostCells.toLocaleString('en')} cells: is it a table?`,
        )
      rows.push({ line: this.#line, cells })
    }
    this.#line += 1 + (text.match(/\n/g)?.length ?? 0)
  }
}

/** The line feed that is not escaped. */
const endOfRow = (text: string, start: number): number => {
  for (let at = text.indexOf('\n', start); at >= 0; at = text.indexOf('\n', at + 1)) {
    let backslashes = 0
    while (at - backslashes > start && text[at - backslashes - 1] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
  return -1
}

const cellsOf = (text: string): (string | null)[] => {
  if (!text.includes('\\')) return text.split('\t', mostCells + 1)
  const cells: (string | null)[] = []
  let start = 0
  for (let at = 0; at <= text.length && cells.length <= mostCells; at++) {
    if (at === text.length || text[at] === '\t') {
      cells.push(cellOf(text.slice(start, at)))
      start = at + 1
    } else if (text[at] === '\\') at++
  }
  return cells
}

/** With `\N` for null, nothing between two tabs is the empty text. */
const cellOf = (text: string): string | null => {
  if (text === '\\N') return null
  return text.includes('\\')
    ? text.replaceAll(/\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|[\s\S])/g, (_all, escaped: string) => characterOf(escaped))
    : text
}

const named: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', Z: '\x1a', '0': '\0' }

const characterOf = (escaped: string): string => {
  const letter = named[escaped]
  if (letter !== undefined || escaped.length === 1) return letter ?? escaped
  const code = escaped.startsWith('x') ? Number.parseInt(escaped.slice(1), 16) : Number.parseInt(escaped, 8) & 0xff
  return String.fromCharCode(code)
}

const special = /[\\\t\n\r]/g
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

export const escapedLine = (cells: readonly (string | null)[]): string =>
  `${cells.map((cell) => (cell === null ? '\\N' : cell.replaceAll(special, (one) => escapes[one] ?? one))).join('\t')}\n`
