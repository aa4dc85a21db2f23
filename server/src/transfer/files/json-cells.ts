import { type Cell, TypedCell } from './cell.ts'
import { mostCells, type SourceRow } from './csv-rows.ts'

/** Fields may lie in nested objects, by dotted names; more levels are refused. */
const deepestNesting = 100
/** What is decided about columns is decided again with each that comes. */
const mostColumns = 2_000

/** The columns of JSON objects, in the order in which their names appear. They grow while rows are read. */
export class JsonColumns {
  readonly header: string[] = []
  readonly #places = new Map<string, number>()

  /** The row with a cell for each property of its object. */
  read(line: number, json: string): SourceRow {
    const shape = problemOfShape(json)
    if (shape !== null) return { line, cells: [], json, problem: shape }
    const record = parseObject(json)
    if (record === null) return { line, cells: [], json, problem: 'is not a JSON object' }
    const cells: Cell[] = []
    if (this.#take(cells, record, '')) return { line, cells, json }
    const problem = `has a property beside the first ${mostColumns.toLocaleString('en')} of the file`
    return { line, cells: [], json, problem }
  }

  /** Returns false when there are too many columns. */
  #take(cells: Cell[], record: object, prefix: string): boolean {
    for (const [key, value] of Object.entries(record)) {
      const name = prefix + key
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        if (!this.#take(cells, value, `${name}.`)) return false
        continue
      }
      const place = this.#placeOf(name)
      if (place >= mostColumns) return false
      cells[place] = cellOf(value)
    }
    return true
  }

  #placeOf(name: string): number {
    const known = this.#places.get(name)
    if (known !== undefined) return known
    if (this.header.length >= mostColumns) return mostColumns
    this.#places.set(name, this.header.length)
    return this.header.push(name) - 1
  }
}

const cellOf = (value: unknown): Cell => {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'boolean') return new TypedCell('boolean', String(value))
  const text = textOfNumber(value)
  return text === undefined ? new TypedCell('error', `must be ${asText}`) : new TypedCell('number', text)
}

/** Undefined when it is no number, or digits may have been lost. */
const textOfNumber = (value: unknown): string | undefined => {
  if (typeof value !== 'number' || Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined
  return /e/.test(String(value)) ? undefined : String(value)
}

/** A JSON value as a cell would hold it; undefined when no cell could. */
export const textOfJson = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'boolean' ? String(value) : textOfNumber(value)

export const asText = 'a text, true, false, null, or a number of at most 15 digits'

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Checked before parsing, because a long line of brackets or values takes many times its size when parsed. */
const problemOfShape = (text: string): string | null => {
  if (text.length <= mostCells) return null
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === quote) {
      for (at++; at < text.length && text.charCodeAt(at) !== quote; at++) if (text.charCodeAt(at) === backslash) at++
    } else if (character === openBracket || character === openBrace) {
      if (++depth > deepestNesting) return `is nested deeper than ${deepestNesting} levels`
    } else if (character === closeBracket || character === closeBrace) depth--
    else if (character === comma && ++values > mostCells)
      return `has more than ${mostCells.toLocaleString('en')} values`
  }
  return null
}

const parseObject = (text: string): object | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
