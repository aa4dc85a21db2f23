import type { Field } from '@masthead/contract'
import { shown } from '../../foreign-text.ts'
import { type Cell, TypedCell } from '../files/cell.ts'
import { readValue } from './cell-values.ts'
import { type Decision, type Evidence, type FormatOptions, type Noticed, plainValue, wrong } from './column-format.ts'
import { currencyCode, type DecimalSign, numberIn, numberName, writtenNumber } from './number-texts.ts'
import type { GivenValue } from './wrong-cell.ts'

const signs = ['point', 'comma'] as const

/** Says how the numbers of a column are written. */
export class NumberEvidence implements Evidence {
  readonly #field: Field
  #values = 0
  #plain = 0
  #readable = 0
  readonly #fits = { point: 0, comma: 0 }
  #doubtful: string | undefined
  readonly #only: { point?: string; comma?: string } = {}
  /** By their codes, as they are written first. */
  readonly #currencies = new Map<string, string>()
  readonly #groups = new Set<string>()

  constructor(field: Field) {
    this.#field = field
  }

  add(cell: Cell): void {
    if (cell === null || cell === undefined || cell === '') return
    this.#values++
    if (cell instanceof TypedCell) {
      const value = this.#ofNumber(cell)
      if (value !== undefined) this.#plain++
      return
    }
    if (readValue(this.#field, cell) !== null) this.#plain++
    const written = writtenNumber(cell.trim())
    if (!written) return
    const [point = null, comma = null] = signs.map((sign) => this.#possible(numberIn(sign, written)))
    if (point === null && comma === null) return
    this.#readable++
    if (written.currency !== '') {
      const code = currencyCode(written.currency)
      if (!this.#currencies.has(code)) this.#currencies.set(code, written.currency)
    }
    if (/\d[\s]\d/.test(written.digits)) this.#groups.add(' ')
    if (/['’]/.test(written.digits)) this.#groups.add("'")
    if (point !== null) this.#fits.point++
    else this.#only.comma ??= cell
    if (comma !== null) this.#fits.comma++
    else this.#only.point ??= cell
    if (point !== null && comma !== null && point !== comma) this.#doubtful ??= cell
  }

  /** Nobody has 1.2 copies, so 1.200 of them are 1200. */
  #possible(number: string | null): string | null {
    if (number === null || this.#field.kind !== 'integer') return number
    const whole = this.#trimmed(number)
    return whole.includes('.') ? null : whole
  }

  /** A number of a sheet or of JSON, as text. */
  #ofNumber({ kind, text }: TypedCell): string | undefined {
    return kind === 'number' && readValue(this.#field, this.#trimmed(text)) !== null ? this.#trimmed(text) : undefined
  }

  /** Zeros after the decimals that a field has, as in 2.0 copies or 12.5000, do not change a number. */
  #trimmed(number: string): string {
    if (this.#field.kind === 'integer') return number.replace(/\.0*$/, '')
    return this.#field.kind === 'money' ? number.replace(/(\.\d\d)0+$/, '$1').replace(/\.$/, '') : number
  }

  decide(options: FormatOptions): Decision {
    const [one, other] = this.#currencies.values()
    if (other !== undefined)
      return {
        read: null,
        noticed: this.#inDoubt('', [], `its amounts are in ${one} and ${other}: split the file by currency`, ''),
      }
    if (this.#plain === this.#values && !this.#mayBeGrouped(options))
      return { read: this.#field.kind === 'integer' ? this.#reader('point') : null, noticed: null }
    // The rows that follow may leave doubt.
    if (this.#plain === this.#values && this.#doubtful === undefined)
      return { read: this.#reader('comma'), noticed: null }
    const sign = this.#sign(options)
    if (sign === undefined) return { read: null, noticed: this.#doubt() }
    const groups = numberName(sign, this.#groups)
    const currency = one === undefined ? '' : `, with ${one}`
    const typed = this.#values - this.#readable
    const noticed: Noticed = {
      format: `numbers like ${groups}${currency}`,
      fits: Math.min(this.#values, this.#fits[sign] + Math.min(typed, this.#plain)),
      values: this.#values,
      option: this.#doubtful === undefined ? '' : 'decimal',
      choices: [],
      doubt: null,
    }
    const [code] = this.#currencies.keys()
    return {
      read: this.#reader(sign),
      noticed,
      ...(code !== undefined && one !== undefined && { currency: { code, shown: one } }),
    }
  }

  /** As the API writes numbers, 1.234 has three decimals. Somebody who says that commas precede them means 1234. */
  #mayBeGrouped({ decimal }: FormatOptions): boolean {
    return this.#field.kind === 'number' && decimal === 'comma' && this.#fits.comma === this.#readable
  }

  #sign(options: FormatOptions): DecimalSign | undefined {
    const surviving = signs.filter((sign) => this.#fits[sign] === this.#readable)
    if (surviving.length === 1) return surviving[0]
    return surviving.length === 2 && this.#doubtful === undefined ? 'point' : options.decimal
  }

  #doubt(): Noticed {
    const { point, comma } = this.#only
    const text = this.#doubtful ?? comma ?? point ?? ''
    const written = writtenNumber(text.trim())
    const choices = signs.map((value) => ({
      value,
      example: `${text} is ${(written && numberIn(value, written)) ?? 'no number'}`,
    }))
    const why =
      point !== undefined && comma !== undefined
        ? `${shown(point)} has a decimal point and ${shown(comma)} a comma`
        : `${shown(text)} can be two numbers`
    return this.#inDoubt('decimal', choices, why, 'Say what precedes the decimals: --decimal comma or --decimal point')
  }

  #inDoubt(option: Noticed['option'], choices: Noticed['choices'], text: string, remedy: string): Noticed {
    return { format: '', fits: 0, values: this.#values, option, choices, doubt: { text, remedy } }
  }

  #reader(sign: DecimalSign): (cell: Cell) => GivenValue {
    return (cell) => {
      if (typeof cell === 'string') {
        if (cell === '') return null
        const written = writtenNumber(cell.trim())
        const number = written && numberIn(sign, written)
        const value = number && this.#trimmed(number)
        return value === null || readValue(this.#field, value) === null ? wrong(this.#field, cell) : value
      }
      return cell instanceof TypedCell && cell.kind === 'number'
        ? this.#trimmed(cell.text)
        : plainValue(this.#field, cell)
    }
  }
}
