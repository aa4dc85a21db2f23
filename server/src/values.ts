import { longest } from '@masthead/contract'

/** A calendar date that exists, as YYYY-MM-DD. */
export const isCalendarDate = (text: string): boolean => {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (!year || year === '0000') return false
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

const instantShape = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/

/** An RFC 3339 instant to the millisecond, in the one form that answers carry; null when there is no such instant. */
export const parseInstant = (text: string): string | null => {
  const [, date = '', hour = '', minute = '', second = '', fraction = '', zone = ''] = instantShape.exec(text) ?? []
  if (!isCalendarDate(date) || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const [zoneHour = 0, zoneMinute = 0] = zone.length > 1 ? zone.slice(1).split(':').map(Number) : []
  if (zoneHour > 23 || zoneMinute > 59) return null
  const milliseconds = fraction.slice(1, 4).padEnd(3, '0')
  const instant = new Date(`${date}T${hour}:${minute}:${second}.${milliseconds}${zone.toUpperCase()}`)
  const year = instant.getUTCFullYear()
  return year >= 1 && year <= 9999 ? instant.toISOString() : null
}

/** The name of a contact that was given only its parts, no longer than one that could have been given. */
export const joinedName = (firstName: string | null, lastName: string | null): string | null =>
  [...[firstName, lastName].filter(Boolean).join(' ')].slice(0, longest.name).join('') || null
