import { text } from 'node:stream/consumers'
import type { Scope } from '@masthead/contract'
import { allScopes } from '../identity/people/roles.ts'
import { suggestion } from '../nearest-name.ts'
import { Refusal } from '../refusal.ts'

/** Reads names that are separated by commas or spaces. */
export const readNames = <Name extends string>(
  list: string,
  known: readonly Name[],
  noun: string,
  remedyForNone: string,
): Name[] => {
  const given = [...new Set(list.split(/[\s,]+/).filter(Boolean))]
  if (given.length === 0) throw new Refusal(remedyForNone)
  return given.map((text) => {
    const name = known.find((one) => one === text)
    if (name) return name
    throw new Refusal(`there is no ${noun} "${text}". ${suggestion(text, known).replaceAll('`', '')}`)
  })
}

/** Reads `contacts:read,accounts:read`. */
export const readScopes = (list: string): Scope[] =>
  readNames(list, allScopes, 'scope', 'name at least one scope, as in --scopes contacts:read,accounts:read')

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads `90d`, `24h`, `30m` or `45s` as milliseconds. */
export const readDuration = (given: string): number => {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(given) ?? []
  const milliseconds = Number(count) * (units[unit] ?? Number.NaN)
  if (milliseconds >= 0) return milliseconds
  throw new Refusal(`"${given}" is not a duration: write 90d, 24h, 30m or 45s`)
}

/** Reads a secret from standard input; `remedy` says how it gets there. */
export const readPiped = (remedy: string): Promise<string> => {
  if (process.stdin.isTTY) throw new Refusal(remedy)
  return text(process.stdin)
}

export const readNumber = (text: string, name: string, most = 2_147_483_647): number => {
  const number = Number(text)
  if (/^\d{1,10}$/.test(text) && number >= 1 && number <= most) return number
  throw new Refusal(`${name} must be a whole number from 1 to ${most}, not "${text}"`)
}
