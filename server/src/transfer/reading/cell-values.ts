import type { Field, Kind } from '@masthead/contract'
import { shown } from '../../foreign-text.ts'
import { isUuid } from '../../records/identifiers.ts'
import { isCalendarDate } from '../../values.ts'
import { readInstant } from './instant-texts.ts'

/** The one form in which a value is stored, or null when the cell holds no such value. */
export const readValue = (field: Field, text: string): string | null => readers[field.kind](text, field)

type Reader = (text: string, field: Field) => string | null

const readText: Reader = (text, { minLength, maxLength, isIdentifier }) => {
  if (isLonger(text, maxLength)) return null
  if (text.includes('\0') || !text.isWellFormed()) return null
  return text.length < minLength || (isIdentifier && isUuid(text)) ? null : text
}

/** In characters, of which each takes one unit or two. */
const isLonger = (text: string, longest: number): boolean =>
  text.length > longest && (text.length > longest * 2 || [...text].length > longest)

/** In the languages of the names of fields. */
const booleans = new Map([
  ...'true t yes y 1 ja j wahr oui vrai sí si verdadero'.split(' ').map((word) => [word, 't'] as const),
  ...'false f no n 0 nein falsch non faux falso'.split(' ').map((word) => [word, 'f'] as const),
])

const readers: Record<Kind, Reader> = {
  text: readText,
  uuid: (text) => (isUuid(text) ? text.toLowerCase() : null),
  date: (text) => (isCalendarDate(text) ? text : null),
  timestamp: readInstant,
  /** Its cents stay below 2^53, so that `balanceCents` is exact wherever JSON is read. */
  money: (text) => {
    const [, sign, whole, cents = ''] = /^([+-]?)0*(\d{1,13})(?:\.(\d{0,2}))?$/.exec(text) ?? []
    if (whole === undefined) return null
    const amount = `${whole}.${cents.padEnd(2, '0')}`
    return sign === '-' && /[1-9]/.test(amount) ? `-${amount}` : amount
  },
  integer: (text) => (/^[+-]?\d{1,15}$/.test(text) ? String(Number(text) + 0) : null),
  number: (text) => (/^[+-]?\d{1,9}(\.\d{1,6})?$/.test(text) ? String(Number(text) + 0) : null),
  boolean: (text) => booleans.get(text) ?? booleans.get(text.trim().toLowerCase()) ?? null,
}

/** Why `readValue` refused the cell, and what would be right. */
export const reasonAgainst = (field: Field, text: string): string => {
  const rule = ruleAgainst(field, text)
  return isAboutText(field, text) ? rule : `${shown(text)} ${rule}`
}

/** The same without the value, by which refusals are grouped. */
export const ruleAgainst = ({ kind, maxLength, name }: Field, text: string): string => {
  if (kind === 'text' && isLonger(text, maxLength)) return `is longer than ${maxLength.toLocaleString('en')} characters`
  if (!text.isWellFormed())
    return 'holds bytes that are not UTF-8, or half of a character: save the file as UTF-8, or say its encoding with --encoding'
  if (text.includes('\0')) return 'holds a NUL character'
  if (kind !== 'text') return expected[kind]
  if (text === '') return 'must not be empty'
  return `has the shape of an \`id\`, which a \`${name}\` must not have`
}

const isAboutText = ({ kind, maxLength }: Field, text: string): boolean =>
  !text.isWellFormed() || text.includes('\0') || (kind === 'text' && (text === '' || isLonger(text, maxLength)))

const expected: Record<Exclude<Kind, 'text'>, string> = {
  uuid: 'is no UUID',
  date: 'is no date: write YYYY-MM-DD, and a day that exists',
  timestamp: 'is no instant: write it like 2026-11-15T09:30:00Z, with its zone',
  money: 'is no amount of money: write at most 13 digits and two decimals, like 1290.00',
  integer: 'is no whole number of at most 15 digits',
  number: 'is no number: write at most 9 digits and 6 decimals like 12.5',
  boolean: 'is neither true nor false',
}
