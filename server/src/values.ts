import { longest } from '@masthead/contract'

/** Accepts existing dates, as YYYY-MM-DD. */
export const isCalendarDate = (text: string): boolean => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))]
  return year >= 1 && day >= 1 && day <= daysOf(year, month)
}

const daysOf = (year: number, month: number): number => {
  if (month !== 2) return [31, 0, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

const instantShape = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/

/** Reads an RFC 3339 instant to the millisecond, in the form of responses; returns null when there is no such instant. */
export const parseInstant = (text: string): string | null => {
  if (isCanonical(text)) return text
  const [, date = '', hour = '', minute = '', second = '', fraction = '', zone = ''] = instantShape.exec(text) ?? []
  if (!isCalendarDate(date) || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const [zoneHour = 0, zoneMinute = 0] = zone.length > 1 ? zone.slice(1).split(':').map(Number) : []
  if (zoneHour > 23 || zoneMinute > 59) return null
  const milliseconds = fraction.slice(1, 4).padEnd(3, '0')
  const instant = new Date(`${date}T${hour}:${minute}:${second}.${milliseconds}${zone.toUpperCase()}`)
  const year = instant.getUTCFullYear()
  return year >= 1 && year <= 9999 ? instant.toISOString() : null
}

const canonicalShape = /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** Most instants are canonical, and this check takes a fraction of the time. */
const isCanonical = (text: string): boolean => canonicalShape.test(text) && isCalendarDate(text.slice(0, 10))

/** The name of a contact that was given only its parts, shortened to the limit of names. */
export const joinedName = (firstName: string | null, lastName: string | null): string | null =>
  [...[firstName, lastName].filter(Boolean).join(' ')].slice(0, longest.name).join('') || null

type Names = { name: string | null; firstName: string | null; lastName: string | null }

/** The name of a contact whose first or last name changes: one that was joined from them follows, one of its own stays. */
export const followedName = (before: Names, after: Omit<Names, 'name'>): string | null =>
  before.name === joinedName(before.firstName, before.lastName)
    ? joinedName(after.firstName, after.lastName)
    : before.name
