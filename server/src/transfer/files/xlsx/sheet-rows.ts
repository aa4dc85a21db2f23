import { Refusal } from '../../../refusal.ts'
import type { ByteSource } from '../byte-source.ts'
import { type Cell, TypedCell } from '../cell.ts'
import { longestRow, mostCells, type SourceRow } from '../csv-rows.ts'
import { cellOfNumber } from './serial-numbers.ts'
import { isTrue, parsing, unescaped, type Workbook } from './workbook.ts'

/** The rows of a sheet that hold something, the header included. A line is the number of a row. */
export async function* sheetRows(
  source: ByteSource,
  { strings, styles, isFrom1904 }: Workbook,
  onRow: () => void,
): AsyncGenerator<SourceRow[]> {
  let rows: SourceRow[] = []
  let cells: Cell[] = []
  const places = new Set<number>()
  let line = 0
  let column = -1
  let type = 'n'
  let style = 0
  let value = ''
  let isValue = false
  let isFormula = false
  let isStored = false
  let characters = 0
  let phonetic = 0
  const cellOf = (): Cell => {
    if (type === 's') return strings[Number(value)] ?? null
    if (type === 'str' && isFormula && !isStored) return new TypedCell('error', noValue)
    if (type === 'inlineStr' || type === 'str') return unescaped(value)
    if (value === '') return isFormula ? new TypedCell('error', noValue) : null
    if (type === 'b') return new TypedCell('boolean', isTrue(value.trim()) ? 'true' : 'false')
    if (type === 'e') return new TypedCell('error', value)
    if (type === 'd') return value
    return cellOfNumber(value, styles[style], isFrom1904)
  }
  const work = parsing(
    source,
    ({ name, attributes }) => {
      if (name === 'row') {
        line = Math.max(numberOf(attributes.r) ?? 0, line + 1)
        cells = []
        places.clear()
        column = -1
        characters = 0
        onRow()
      } else if (name === 'c') {
        const place = columnOf(attributes.r)
        // Of two cells in one place, the later one is misnumbered.
        column = place === undefined || places.has(place) ? column + 1 : place
        places.add(column)
        if (column >= mostCells)
          throw new Refusal(
            `row ${line} of ${source.path} has more than ${mostCells.toLocaleString('en')} cells: choose a file that holds a table`,
          )
        type = attributes.t ?? 'n'
        style = Number(attributes.s ?? 0)
        value = ''
        isFormula = false
        isStored = false
      } else if (name === 'f') isFormula = true
      else if (name === 'v') isStored = true
      else if (name === 'rPh') phonetic++
      isValue = name === 'v' || (name === 't' && phonetic === 0)
    },
    (name) => {
      isValue = false
      if (name === 'rPh') phonetic--
      if (name === 'c') {
        const cell = cellOf()
        if (cell !== null && cell !== '') {
          while (cells.length < column) cells.push(null)
          cells[column] = cell
        }
      }
      if (name === 'row' && cells.length > 0) rows.push({ line, cells })
    },
    (text) => {
      if (!isValue) return
      value += text
      characters += text.length
      if (characters > longestRow)
        throw new Refusal(`row ${line} of ${source.path} is longer than 16 MiB: choose a file that holds a table`)
    },
  )
  for await (const _ of work) {
    yield rows
    rows = []
  }
}

/** Programs that write workbooks without calculating leave values out. */
const noValue = 'is a formula whose value is not stored: open the file in a spreadsheet, and save it'

/** Undefined for a row that is not numbered; it follows the one before, as one does whose number is not higher. */
const numberOf = (text = ''): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined)

/** `B7` is in column 1. Undefined for a cell that has no place; it follows the one before. */
const columnOf = (place = ''): number | undefined => {
  let column = 0
  for (let at = 0; at < place.length && at < 4; at++) {
    const letter = place.charCodeAt(at) - 64
    if (letter < 1 || letter > 26) break
    column = column * 26 + letter
  }
  return column > 0 ? column - 1 : undefined
}
