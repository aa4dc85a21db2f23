import { Refusal } from '../../refusal.ts'

/** Tells the instants at which clocks show a local time: none when it is skipped in spring, two when it is repeated in autumn. */
export type TimeZone = { name: string; instantsOf: (local: number) => number[] }

const day = 86_400_000

export const timeZoneNamed = (name: string): TimeZone => {
  const [, sign, hours = '', minutes = '0'] = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(name) ?? []
  if (sign !== undefined) {
    const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
    if (Number(hours) > 14 || Number(minutes) > 59) throw unknown(name)
    return { name, instantsOf: (local) => [local - offset] }
  }
  const offsetAt = offsetsOf(name)
  return {
    name,
    instantsOf: (local) => {
      // Clocks change by less than a day, so one of both offsets is in force.
      const offsets = new Set([offsetAt(local - day), offsetAt(local + day)])
      return [...offsets].map((offset) => local - offset).filter((instant) => local - offsetAt(instant) === instant)
    },
  }
}

const unknown = (name: string): Refusal =>
  new Refusal(`"${name}" is no time zone: write it like Europe/Berlin, UTC or +01:00`)

const offsetsOf = (name: string): ((instant: number) => number) => {
  const format = formatOf(name)
  const known = new Map<number, number>()
  return (instant) => {
    // No zone changes its offset within a quarter of an hour.
    const quarter = Math.floor(instant / 900_000)
    const found = known.get(quarter)
    if (found !== undefined) return found
    const offset = offsetAt(format, quarter * 900_000)
    if (known.size > 50_000) known.clear()
    known.set(quarter, offset)
    return offset
  }
}

const formatOf = (name: string): Intl.DateTimeFormat => {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    throw unknown(name)
  }
}

const offsetAt = (format: Intl.DateTimeFormat, instant: number): number => {
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]))
  const { year, month, day: date, hour, minute, second, era } = parts
  if (era === 'BC') return 0
  const local = new Date(0)
  local.setUTCFullYear(Number(year), Number(month) - 1, Number(date))
  local.setUTCHours(Number(hour), Number(minute), Number(second))
  return local.getTime() - Math.floor(instant / 1_000) * 1_000
}
