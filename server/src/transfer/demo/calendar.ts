import type { SeededRandom } from './seeded-random.ts'

/** Calendar dates are counted in days since 1970, instants in milliseconds; both in UTC. */
const dayMilliseconds = 86_400_000

export const dayOf = (date: string): number => {
  const day = Date.parse(`${date}T00:00:00Z`) / dayMilliseconds
  // Titles are up to 25 years old, and a UUIDv7 holds no instant before 1970.
  if (Number.isNaN(day) || dateOf(day) !== date || date < '2000') {
    throw new RangeError(`not a date from 2000-01-01 on: ${date}`)
  }
  return day
}

export const dateOf = (day: number): string => timestampOf(day * dayMilliseconds).slice(0, 10)

export const timestampOf = (instant: number): string => new Date(instant).toISOString()

export const dayOfInstant = (instant: number): number => Math.floor(instant / dayMilliseconds)

/** `day` lies at most on the 28th, so that the result exists in every month. */
export const addMonths = (day: number, months: number): number => {
  const date = new Date(day * dayMilliseconds)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, date.getUTCDate()) / dayMilliseconds
}

export const atMostThe28th = (day: number): number =>
  day - Math.max(0, new Date(day * dayMilliseconds).getUTCDate() - 28)

/** Some moment of that day's office hours. */
export const instantOn = (random: SeededRandom, day: number): number =>
  day * dayMilliseconds + random.between(7 * 3_600_000, 18 * 3_600_000)

/** Some moment from `instant` on, at latest on `lastDay`. */
export const instantAfter = (random: SeededRandom, instant: number, lastDay: number): number =>
  Math.max(instant, instantOn(random, random.between(dayOfInstant(instant), lastDay)))
