/** Values as the reader is used to them, by the locale of the browser. */

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const instants = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const numbers = new Intl.NumberFormat()
const amounts = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 })

const short = new Intl.NumberFormat(undefined, { notation: 'compact' })
const months = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })
const shortMonths = new Intl.DateTimeFormat(undefined, { month: 'short', timeZone: 'UTC' })

/** A day of the calendar, which is the same everywhere. */
export const formatDate = (text: string): string => dates.format(new Date(`${text}T00:00:00Z`))

export const formatInstant = (text: string): string => instants.format(new Date(text))

export const formatNumber = (value: number | bigint): string => numbers.format(value)

/** Where there is little room: 12K. */
export const formatShortly = (value: number): string => short.format(value)

/** `2026-11` reads "November 2026", or "Nov" where the year is known. */
export const formatMonth = (text: string): string => months.format(new Date(`${text}-01T00:00:00Z`))
export const formatShortMonth = (text: string): string => shortMonths.format(new Date(`${text}-01T00:00:00Z`))

/** A decimal as a text goes in as it is: through a number, cents could be lost. */
export const formatMoney = (text: string): string => amounts.format(text as Intl.StringNumericLiteral) // the contract promises a decimal

/** `past_due` reads "past due". */
export const formatStatus = (text: string): string => text.replaceAll('_', ' ')

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
/** Words, which are those of the console. */
const distances = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** The day of an instant, where the reader is. */
export const formatDay = (instant: string | Date): string => days.format(new Date(instant))

const minute = 60_000
const units = [
  ['minute', minute],
  ['hour', 60 * minute],
  ['day', 24 * 60 * minute],
  ['month', 30.4 * 24 * 60 * minute],
  ['year', 365 * 24 * 60 * minute],
] as const

/** "3 minutes ago", "in 2 days". */
export const formatAgo = (text: string, now: number = Date.now()): string => {
  const distance = new Date(text).getTime() - now
  const [unit, length] = units.findLast(([, length]) => Math.abs(distance) >= length) ?? units[0]
  return distances.format(Math.round(distance / length), unit)
}

/** "today", "in 12 days", "3 months ago", of days of the calendar. */
export const formatDaysAway = (date: string, today: string): string => {
  const days = Math.round((Date.parse(date) - Date.parse(today)) / (24 * 60 * minute))
  if (Math.abs(days) < 60) return distances.format(days, 'day')
  if (Math.abs(days) < 700) return distances.format(Math.round(days / 30.4), 'month')
  return distances.format(Math.round(days / 365.25), 'year')
}
