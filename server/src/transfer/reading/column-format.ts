import type { Field } from '@masthead/contract'
import { type Cell, TypedCell } from '../files/cell.ts'
import { PaddedNumber } from '../files/xlsx/serial-numbers.ts'
import { reasonAgainst, ruleAgainst } from './cell-values.ts'
import type { DateOrder } from './date-texts.ts'
import type { DecimalSign } from './number-texts.ts'
import type { TimeZone } from './time-zone.ts'
import { type GivenValue, WrongCell } from './wrong-cell.ts'

/** What decides how values are written where these leave doubt. */
export type FormatOptions = {
  dates?: DateOrder | undefined
  decimal?: DecimalSign | undefined
  timeZone?: TimeZone | undefined
  epoch?: 'seconds' | 'milliseconds' | undefined
}

/** Why a file or a column cannot be read yet, and what to say on the command line; empty where saying something does not help. */
export type Problem = {
  text: string
  remedy: string
  /** In fewer words, for who sees the columns with their values beside it. */
  short?: string
}

/** With a capital, unless it begins with the name of a field and a colon. */
export const sentenceOf = (text: string): string =>
  /^[a-z]\w*:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)

/** How the values of a column are written. */
export type Noticed = {
  /** Such as `day.month.year`; empty while it is in doubt. */
  format: string
  fits: number
  values: number
  option: keyof FormatOptions | ''
  choices: { value: string; example: string }[]
  doubt: Problem | null
}

/** Reads a cell in the format of its column. */
export type ColumnReader = (cell: Cell) => GivenValue

export type Decision = {
  /** Null where the values are written as in the API. */
  read: ColumnReader | null
  noticed: Noticed | null
  /** In which amounts are, where they say so. */
  currency?: Currency
}

export type Currency = { code: string; shown: string }

/** Looks at all values of a column, and decides how they are written. */
export interface Evidence {
  add: (cell: Cell) => void
  decide: (options: FormatOptions) => Decision
}

/** The text that a text of a column or its typed value stands for, where it is written as in the API. */
export const plainValue = (field: Field, cell: Cell): GivenValue => {
  if (typeof cell === 'string') return cell === '' && !isText(field) ? null : cell
  if (!(cell instanceof TypedCell)) return cell
  if (cell.kind === 'error') return new WrongCell(cell.text, cell.text)
  if (isText(field)) return cell instanceof PaddedNumber ? cell.shown : cell.text
  return fits(field, cell) ? cell.text : wrong(field, cell.text)
}

export const isText = ({ kind, reference }: Field): boolean => kind === 'text' || kind === 'uuid' || reference !== null

const fits = ({ kind }: Field, cell: TypedCell): boolean => {
  if (kind === 'boolean') return cell.kind === 'boolean' || /^[01]$/.test(cell.text)
  if (kind === 'date') return cell.kind === 'date'
  return kind !== 'timestamp' && cell.kind === 'number'
}

export const wrong = (field: Field, text: string): WrongCell =>
  new WrongCell(text, reasonAgainst(field, text), ruleAgainst(field, text))
