import { type Cell, textOfCell } from '../files/cell.ts'
import type { Decision, Evidence } from './column-format.ts'

/** Where `x` marks what is true and nothing else is written, an empty cell is false. */
export class BooleanEvidence implements Evidence {
  #values = 0
  #marks = 0

  add(cell: Cell): void {
    if (cell === null || cell === undefined || cell === '') return
    this.#values++
    if (isMark(cell)) this.#marks++
  }

  decide(): Decision {
    if (this.#marks === 0) return { read: null, noticed: null }
    const isAlone = this.#marks === this.#values
    const ofEmpty = isAlone ? 'false' : null
    return {
      read: (cell) => {
        if (cell === undefined) return undefined
        if (cell === null || cell === '') return ofEmpty
        return isMark(cell) ? 'true' : textOfCell(cell)
      },
      noticed: {
        ...{ format: isAlone ? 'x for yes, empty for no' : 'x for yes', fits: this.#values, values: this.#values },
        ...{ option: '', choices: [], doubt: null },
      },
    }
  }
}

const isMark = (cell: Cell): boolean => textOfCell(cell)?.trim().toLowerCase() === 'x'
