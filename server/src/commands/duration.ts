import { Refusal } from '../refusal.ts'

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads `90d`, `24h`, `30m` or `45s` as milliseconds. */
export const readDuration = (text: string): number => {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const milliseconds = Number(count) * (units[unit] ?? Number.NaN)
  if (milliseconds >= 0) return milliseconds
  throw new Refusal(`"${text}" is not a duration: write 90d, 24h, 30m or 45s`)
}
