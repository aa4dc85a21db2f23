import { type Cell, TypedCell } from '../cell.ts'
import type { NumberStyle } from './workbook.ts'

const dayMilliseconds = 86_400_000

/** A number of a sheet, which its style makes a day, a time or a number with zeros in front. */
export const cellOfNumber = (text: string, style: NumberStyle | undefined, isFrom1904: boolean): Cell => {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) return text
  if (style?.isDate) return dateOf(number, isFrom1904) ?? new TypedCell('number', plain(number, text))
  const digits = plain(number, text)
  return style && style.digits > 0 && /^\d+$/.test(digits)
    ? new PaddedNumber(digits, digits.padStart(style.digits, '0'))
    : new TypedCell('number', digits)
}

/** A number that is shown with zeros in front, which belong to it where it is a text, such as a postal code. */
export class PaddedNumber extends TypedCell {
  readonly shown: string

  constructor(text: string, shown: string) {
    super('number', text)
    this.shown = shown
  }
}

/** Programs store 19.99 as 19.989999999999998, and show 15 digits. */
const plain = (number: number, written: string): string => {
  // A spreadsheet writes no more; what does so means each digit.
  if (/^-?[1-9]\d{15,}$/.test(written)) return written
  const rounded = Number(number.toPrecision(15))
  const text = String(rounded)
  return text.includes('e') ? rounded.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 }) : text
}

/** Day 60 of 1900 never was, and a number below 1 is a time without a day: both stay numbers, which no date is made of. */
const dateOf = (serial: number, isFrom1904: boolean): TypedCell | undefined => {
  const days = isFrom1904 ? serial + 1_462 : serial
  if (days < 1 || days >= 2_958_466 || Math.floor(days) === 60) return undefined
  const milliseconds = Math.round((days < 60 ? days + 1 : days) * dayMilliseconds)
  // A second is stored as a fraction of a day that is not exact.
  const seconds = Math.round(milliseconds / 1_000)
  const isWhole = Math.abs(milliseconds - seconds * 1_000) <= 1
  const text = new Date((isWhole ? seconds * 1_000 : milliseconds) - 25_569 * dayMilliseconds).toISOString()
  return text.endsWith('T00:00:00.000Z')
    ? new TypedCell('date', text.slice(0, 10))
    : new TypedCell('local time', text.slice(0, -1))
}
