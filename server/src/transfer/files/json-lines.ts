import { Refusal } from '../../refusal.ts'
import { longestRow, type SourceRow } from './csv-rows.ts'

/** The lines of an NDJSON file that are not blank, from its text in pieces of any size. */
export class JsonLines {
  readonly #name: string
  /** The pieces of the incomplete line. */
  #pieces: string[] = []
  #length = 0
  #line = 1

  constructor(name: string) {
    this.#name = name
  }

  /** Counts blank lines too, because they cost time. */
  get count(): number {
    return this.#line - 1
  }

  push(text: string): SourceRow[] {
    const rows: SourceRow[] = []
    let at = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      this.#keep(text.slice(at, end))
      this.#takeLine(rows)
      at = end + 1
    }
    this.#keep(text.slice(at))
    return rows
  }

  /** The row that is left when no more text comes. */
  end(): SourceRow[] {
    const rows: SourceRow[] = []
    if (this.#length > 0) this.#takeLine(rows)
    return rows
  }

  #keep(piece: string): void {
    if (piece === '') return
    this.#pieces.push(piece)
    this.#length += piece.length
    if (this.#length <= longestRow) return
    throw new Refusal(`line ${this.#line} of ${this.#name} is longer than 16 MiB: write one JSON object a line`)
  }

  #takeLine(rows: SourceRow[]): void {
    const text = this.#pieces.join('').trim()
    if (text !== '') rows.push({ line: this.#line, cells: [], json: text })
    this.#pieces = []
    this.#length = 0
    this.#line++
  }
}
