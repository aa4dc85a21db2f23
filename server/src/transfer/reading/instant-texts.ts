import { isCalendarDate, parseInstant } from '../../values.ts'
import { type DateOrder, dateIn, type WrittenDate, writtenDate } from './date-texts.ts'
import type { TimeZone } from './time-zone.ts'

/** An instant as it is written. */
type WrittenInstant = {
  date: WrittenDate
  /** HH:MM:SS.mmm */
  time: string
  /** `Z` or an offset such as `+01:00`; empty where the text has none. */
  zone: string
  /** There are more decimals, from half a millisecond on. */
  isRoundedUp: boolean
}

const shape =
  /^([\d./-]+?)(?:[Tt]|,?\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?([AaPp]\.?[Mm]\.?)?\s?([Zz]|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/

/** Longer texts are none, and would cost much to look at. */
const longest = 60

export const writtenInstant = (text: string): WrittenInstant | null => {
  if (text.length > longest) return null
  const parts = shape.exec(text)
  if (!parts) {
    // A day alone begins at midnight.
    const date = writtenDate(text)
    return date && { date, time: '00:00:00.000', zone: '', isRoundedUp: false }
  }
  const [, day = '', hours = '', minutes = '', seconds = '00', fraction = '', half, given = ''] = parts
  const date = writtenDate(day)
  const hour = hourOf(Number(hours), half)
  if (!date || hour === null || Number(minutes) > 59 || Number(seconds) > 59) return null
  const time = `${String(hour).padStart(2, '0')}:${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}`
  return { date, time, zone: zoneOf(given), isRoundedUp: isHalf(fraction) }
}

const hourOf = (hour: number, half: string | undefined): number | null => {
  if (half === undefined) return hour <= 23 ? hour : null
  if (hour < 1 || hour > 12) return null
  return (hour % 12) + (/^p/i.test(half) ? 12 : 0)
}

const zoneOf = (given: string): string => {
  if (given === '' || /^[zZ]$|^UTC$|^GMT$/.test(given)) return given === '' ? '' : 'Z'
  const digits = given.slice(1).replace(':', '').padEnd(4, '0')
  return `${given[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}

type InstantProblem = { problem: string }

/** In the form of the API; null when there is no such moment. A text without a zone needs one. */
export const instantIn = (
  order: DateOrder,
  { date, time, zone, isRoundedUp }: WrittenInstant,
  timeZone: TimeZone | undefined,
): string | InstantProblem | null => {
  const day = dateIn(order, date)
  if (day === null || (zone === '' && !timeZone)) return null
  const local = `${day}T${time}`
  const instant = zone === '' && timeZone ? instantOfLocal(local, timeZone) : parseInstant(local + zone)
  return isRoundedUp && typeof instant === 'string' ? oneLater(instant) : instant
}

/** An RFC 3339 instant to the nearest millisecond, as PostgreSQL rounds. */
export const readInstant = (text: string): string | null => {
  const instant = parseInstant(text)
  if (instant === null || instant === text) return instant
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? []
  return isHalf(fraction) ? oneLater(instant) : instant
}

/** Whether the decimals of a second after the third one round it up. */
const isHalf = (fraction: string): boolean => fraction.charAt(3) >= '5'

const oneLater = (instant: string): string | null => {
  const later = new Date(Date.parse(instant) + 1).toISOString()
  return later.length === instant.length ? later : null
}

/** `local` is like 2026-12-31T23:59:59.000, with or without milliseconds. */
export const instantOfLocal = (local: string, timeZone: TimeZone): string | InstantProblem | null => {
  const milliseconds = Date.parse(`${local}Z`)
  if (Number.isNaN(milliseconds) || !isCalendarDate(local.slice(0, 10))) return null
  const [instant, other] = timeZone.instantsOf(milliseconds)
  if (instant === undefined) return { problem: `did not happen in ${timeZone.name}, because clocks were put forward` }
  if (other !== undefined)
    return { problem: `happened twice in ${timeZone.name}, because clocks were put back: write it with its offset` }
  const text = new Date(instant).toISOString()
  return text.length === 24 ? text : null
}

/** Seconds or milliseconds since 1970. Those of that year itself are days such as 20240601, seconds among milliseconds, or a zero. */
export const instantOfEpoch = (text: string, unit: 'seconds' | 'milliseconds'): string | null => {
  if (!/^-?\d{1,15}(\.\d{1,9})?$/.test(text)) return null
  const milliseconds = Math.round(Number(text) * (unit === 'seconds' ? 1_000 : 1))
  if (!(Math.abs(milliseconds) < 8.64e15)) return null
  const instant = new Date(milliseconds).toISOString()
  return instant.length === 24 && !instant.startsWith('0000') && !instant.startsWith('1970') ? instant : null
}
