import { isCalendarDate } from '../../values.ts'

/** Which number comes first in a date such as 01/02/2026. */
export type DateOrder = 'dmy' | 'mdy'

/** A date as it is written, before anybody decided which number is the month. */
export type WrittenDate = {
  /** How it looks: `year-month-day`, `day.month.year`, or `/` and `-` for dates whose order is to be decided. */
  shape: '' | '.' | '/' | '-'
  year: string
  first: string
  second: string
}

/** Only dots tell the order: nobody writes the month first with them. */
const isoShape = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/
const otherShape = /^(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})$/

export const writtenDate = (text: string): WrittenDate | null => {
  const [, isoYear, , month = '', day = ''] = isoShape.exec(text) ?? []
  if (isoYear !== undefined) return { shape: '', year: isoYear, first: month, second: day }
  const [, first = '', sign, second = '', year] = otherShape.exec(text) ?? []
  if (year === undefined || (sign !== '.' && sign !== '/' && sign !== '-')) return null
  return { shape: sign, year, first, second }
}

/** In the form of the API; null when there is no such day. */
export const dateIn = (order: DateOrder, { shape, year, first, second }: WrittenDate): string | null => {
  const isMonthFirst = shape === '' || (shape !== '.' && order === 'mdy')
  const [month, day] = isMonthFirst ? [first, second] : [second, first]
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return isCalendarDate(date) ? date : null
}

export const shapeName = (order: DateOrder, shape: WrittenDate['shape']): string => {
  if (shape === '') return 'year-month-day'
  return shape !== '.' && order === 'mdy' ? `month${shape}day${shape}year` : `day${shape}month${shape}year`
}

/** A day of two digits for the year could be of either century. */
export const hasShortYear = (text: string): boolean => /^\d{1,2}([./-])\s?\d{1,2}\1\s?\d{2}(\D|$)/.test(text)
