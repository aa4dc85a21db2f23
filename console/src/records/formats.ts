/** Values as the reader is used to them, by the locale of the browser. */

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const instants = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const numbers = new Intl.NumberFormat()
const amounts = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** A day of the calendar, which is the same everywhere. */
export const formatDate = (text: string): string => dates.format(new Date(`${text}T00:00:00Z`))

export const formatInstant = (text: string): string => instants.format(new Date(text))

export const formatNumber = (value: number | bigint): string => numbers.format(value)

/** A decimal as a text goes in as it is: through a number, cents could be lost. */
export const formatMoney = (text: string): string => amounts.format(text as Intl.StringNumericLiteral) // the contract promises a decimal

/** `past_due` reads "past due". */
export const formatStatus = (text: string): string => text.replaceAll('_', ' ')
