import { Refusal } from '../../refusal.ts'
import { longestRow, type SourceRow } from './csv-rows.ts'

/** The objects of a JSON array, from its text in pieces of any size. Each is a row, not parsed yet, whose line is its number. */
export class JsonArray {
  readonly #name: string
  #pieces: string[] = []
  #length = 0
  #depth = 0
  #isInText = false
  #isEscaped = false
  #state: 'before' | 'inside' | 'after' = 'before'
  #count = 0

  constructor(name: string) {
    this.#name = name
  }

  get count(): number {
    return this.#count
  }

  push(text: string): SourceRow[] {
    const rows: SourceRow[] = []
    let start = 0
    for (let at = 0; at < text.length; at++) {
      const character = text[at]
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (character === '\\') this.#isEscaped = true
        else if (character === '"') this.#isInText = false
        continue
      }
      if (this.#state === 'before') {
        if (character === '[') this.#state = 'inside'
        start = at + 1
      } else if (this.#state === 'after') {
        if (character?.trim()) throw this.#refusal('something follows its array')
        start = at + 1
      } else if (this.#depth === 0) {
        if (character === ']' || character === ',') {
          this.#keep(text.slice(start, at))
          this.#takeValue(rows)
          start = at + 1
          if (character === ']') this.#state = 'after'
        } else if (character?.trim()) {
          if (character === '"') this.#isInText = true
          if (character === '{' || character === '[') this.#depth++
        }
      } else if (character === '"') this.#isInText = true
      else if (character === '{' || character === '[') this.#depth++
      else if (character === '}' || character === ']') this.#depth--
    }
    if (this.#state === 'inside') this.#keep(text.slice(start))
    return rows
  }

  end(): SourceRow[] {
    if (this.#state !== 'after') throw this.#refusal('its array is not closed: is it complete?')
    return []
  }

  #keep(piece: string): void {
    const kept = this.#length === 0 ? piece.trimStart() : piece
    if (kept === '') return
    this.#pieces.push(kept)
    this.#length += kept.length
    if (this.#length > longestRow) throw this.#refusal(`object ${this.#count + 1} is longer than 16 MiB`)
  }

  #takeValue(rows: SourceRow[]): void {
    const json = this.#pieces.join('').trim()
    this.#pieces = []
    this.#length = 0
    if (json === '') return
    this.#count++
    rows.push({ line: this.#count, cells: [], json })
  }

  #refusal(reason: string): Refusal {
    return new Refusal(`${this.#name} cannot be read: ${reason}`)
  }
}
