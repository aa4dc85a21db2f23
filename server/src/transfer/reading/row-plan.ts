import { type Field, type ResourceName, storedFieldsOf } from '@masthead/contract'
import { type Cell, textOfCell } from '../files/cell.ts'
import type { SourceRow } from '../files/csv-rows.ts'
import { cellOfSpreadsheet } from '../files/spreadsheet-cells.ts'
import { type ColumnReader, isText, plainValue } from './column-format.ts'
import type { Column } from './columns.ts'
import { type Mapping, targetsOf } from './mapping.ts'
import type { GivenValue } from './wrong-cell.ts'

export type GivenRow = {
  line: number
  /** In the order of the stored fields. */
  values: GivenValue[]
  /** Why the values are unreliable. */
  problem?: string
}

/** How the columns of a file become the fields of a resource. */
export class RowPlan {
  readonly fields: readonly Field[]
  readonly #header: readonly string[]
  readonly #columns: readonly Column[]
  readonly #mapping: Mapping
  /** For each column, the place of its field. */
  readonly #places: (number | undefined)[]
  readonly #constants: Cell[]
  readonly #steps: ((cells: readonly Cell[], values: Cell[]) => void)[]
  readonly #translations: ReadonlyMap<number, ReadonlyMap<string, string | null>>
  readonly #hasObjects: boolean

  constructor(
    resource: ResourceName,
    { header, hasObjects }: { header: readonly string[]; hasObjects: boolean },
    columns: readonly Column[],
    mapping: Mapping,
  ) {
    this.fields = storedFieldsOf(resource)
    this.#header = header
    this.#columns = columns
    this.#mapping = mapping
    this.#hasObjects = hasObjects
    const placeOf = (name: string | null) => this.fields.findIndex((field) => field.name === name)
    this.#places = columns.map(({ field }) => (field === null ? undefined : placeOf(field)))
    this.#constants = this.fields.map(({ name }) => mapping.set.get(name))
    this.#steps = [
      ...[...mapping.split].map(([heading, { into, at }]) => {
        const [from, places] = [
          header.indexOf(heading),
          into.map((name) => (name === null ? undefined : placeOf(name))),
        ]
        return (cells: readonly Cell[], values: Cell[]) => splitInto(textOfCell(cells[from]), at, places, values)
      }),
      ...[...mapping.join].map(([name, { of, with: sign }]) => {
        const [place, from] = [placeOf(name), of.map((heading) => header.indexOf(heading))]
        return (cells: readonly Cell[], values: Cell[]) => {
          values[place] =
            from
              .map((index) => textOfCell(cells[index]))
              .filter(Boolean)
              .join(sign) || null
        }
      }),
    ]
    this.#translations = new Map([...mapping.translate].map(([name, values]) => [placeOf(name), values]))
  }

  /** The fields that the file or its map gives. */
  get given(): Field[] {
    const names = new Set([...this.#columns.map(({ field }) => field), ...targetsOf(this.#mapping)])
    return this.fields.filter(({ name }) => names.has(name))
  }

  headingOf(field: string): string {
    return this.#columns.find((column) => column.field === field)?.heading ?? field
  }

  /** What tells whether the cells of a field come from the same place in another plan, before they are translated. */
  sourceOf(field: string): string {
    const columns = this.#columns.flatMap((column, index) => (column.field === field ? index : []))
    const split = [...this.#mapping.split].filter(([, { into }]) => into.includes(field))
    return JSON.stringify([columns, split, this.#mapping.join.get(field), this.#mapping.set.get(field)])
  }

  translationOf(field: string): string {
    return JSON.stringify([...(this.#mapping.translate.get(field) ?? [])])
  }

  /** JSON rows may bring columns that nobody has decided about. */
  get isOutgrown(): boolean {
    return this.#header.length > this.#columns.length
  }

  /** Why the row has no cells that could be read. */
  problemOf({ cells, problem }: SourceRow): string | undefined {
    if (problem !== undefined || this.#hasObjects || cells.length === this.#header.length) return problem
    const [has, should] = [cells.length, this.#header.length]
    return `has ${has} ${has === 1 ? 'cell' : 'cells'}, the header has ${should}`
  }

  /** The cells of the fields, not translated and not read yet. */
  cellsOf({ cells }: SourceRow, hasMarks = false): Cell[] {
    const values = this.#constants.slice()
    for (let index = 0; index < cells.length; index++) {
      const place = this.#places[index]
      if (place !== undefined && place >= 0) values[place] = cells[index]
    }
    for (const step of this.#steps) step(cells, values)
    if (hasMarks)
      for (const [place, field] of this.fields.entries())
        if (isText(field)) values[place] = cellOfSpreadsheet(values[place])
    return values
  }

  translated(place: number, cell: Cell): Cell {
    const translations = this.#translations.get(place)
    const known = translations && textOfCell(cell)?.trim().toLowerCase()
    const translated = known === undefined ? undefined : translations?.get(known)
    return translated === undefined ? cell : translated
  }

  /** Reads the cells in the formats of their columns. */
  read(row: SourceRow, readers: readonly (ColumnReader | null)[], hasMarks: boolean): GivenRow {
    const problem = this.problemOf(row)
    if (problem !== undefined) return { line: row.line, values: [], problem }
    const values: GivenValue[] = this.cellsOf(row, hasMarks) as GivenValue[] // each cell that is no value is replaced below
    for (const place of this.#translations.keys())
      values[place] = this.translated(place, values[place] as Cell) as GivenValue // likewise
    for (let place = 0; place < values.length; place++) {
      const cell = values[place] as Cell // as `cellsOf` gave it
      const reader = readers[place]
      if (reader) values[place] = reader(cell)
      else if (cell === '' || (typeof cell === 'object' && cell !== null)) {
        const field = this.fields[place]
        if (field) values[place] = plainValue(field, cell)
      }
    }
    return { line: row.line, values }
  }
}

/** What is left over belongs to the first part: of "Ludwig van Beethoven" the last word is the last name. */
const splitInto = (text: string | null, at: string, places: readonly (number | undefined)[], values: Cell[]): void => {
  const parts = text?.split(at).map((part) => part.trim()) ?? []
  if (at.trim() === '')
    for (let index = parts.length - 1; index >= 0; index--) if (parts[index] === '') parts.splice(index, 1)
  const extra = Math.max(parts.length - places.length, 0)
  const taken = [parts.slice(0, extra + 1).join(at), ...parts.slice(extra + 1)]
  // A single word is the last part of a name.
  if (parts.length === 1 && places.length === 2 && at.trim() === '') taken.unshift('')
  for (const [index, place] of places.entries()) if (place !== undefined) values[place] = taken[index] || null
}
