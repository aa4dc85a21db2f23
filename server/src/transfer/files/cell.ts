/** A value whose kind the file tells, as JSON and spreadsheets do. Its text is in the form of the API where there is one. */
export class TypedCell {
  readonly kind: 'number' | 'boolean' | 'date' | 'local time' | 'error'
  readonly text: string

  constructor(kind: TypedCell['kind'], text: string) {
    this.kind = kind
    this.text = text
  }
}

/** An empty cell is null. A property that a JSON object lacks is undefined. */
export type Cell = string | TypedCell | null | undefined

export const textOfCell = (cell: Cell): string | null => (cell instanceof TypedCell ? cell.text : (cell ?? null))
