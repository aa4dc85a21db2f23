import type { Field } from '@masthead/contract'
import { type Cell, textOfCell } from '../files/cell.ts'
import { readValue } from './cell-values.ts'
import { type Decision, type Evidence, plainValue } from './column-format.ts'

/** Where `x` marks what is true and nothing else is written, an empty cell is false. */
export class BooleanEvidence implements Evidence {
  readonly #field: Field
  #values = 0
  #marks = 0
  /** Such as `ja`. */
  #words = 0

  constructor(field: Field) {
    this.#field = field
  }

  add(cell: Cell): void {
    if (cell === null || cell === undefined || cell === '') return
    this.#values++
    if (isMark(cell)) this.#marks++
    else if (readValue(this.#field, textOfCell(cell) ?? '') !== null) this.#words++
  }

  decide(): Decision {
    if (this.#marks === 0) return { read: null, noticed: null }
    // A value that is neither is refused by itself, and tells nothing about the others.
    const isAlone = this.#words === 0
    const fits = this.#marks + this.#words
    const ofEmpty = isAlone ? 'false' : null
    return {
      read: (cell) => {
        if (cell === undefined) return undefined
        if (cell === null || cell === '') return ofEmpty
        return isMark(cell) ? 'true' : plainValue(this.#field, cell)
      },
      noticed: {
        format: isAlone ? 'x for yes, empty for no' : 'x for yes',
        fits,
        values: this.#values,
        option: '',
        choices: [],
        doubt: null,
      },
    }
  }
}

const isMark = (cell: Cell): boolean => textOfCell(cell)?.trim().toLowerCase() === 'x'
