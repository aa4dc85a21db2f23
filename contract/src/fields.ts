import type { TUnsafe } from 'typebox'
import { Type } from './schema.ts'

/** The vocabulary of the contract: each kind of value in the API, once. `title` and `description` reach the reference. */

type Note = { description: string }
type Limited = Note & { maxLength?: number }

export const text = (description: string, options: { minLength?: number; maxLength?: number } = {}) =>
  Type.String({ description, ...options })
export const number = (description: string) => Type.Number({ description, format: 'double' })
export const identifier = (description: string) => Type.String({ description, format: 'uuid' })
export const timestamp = (description: string) => Type.String({ description, format: 'date-time' })
export const date = (description: string) => Type.String({ description, format: 'date' })

/** A nullable field is always present in an answer; `type: [x, 'null']` reads better in OpenAPI 3.1 than a union. */
const nullable = <T>(type: string, options: Limited & { format?: string; pattern?: string }): TUnsafe<T | null> =>
  Type.Unsafe<T | null>({ type: [type, 'null'], ...options })

export const nullableText = (description: string, maxLength?: number) =>
  nullable<string>('string', maxLength === undefined ? { description } : { description, maxLength })
export const nullableNumber = (description: string) => nullable<number>('number', { description, format: 'double' })
export const nullableBoolean = (description: string) => nullable<boolean>('boolean', { description })
export const nullableIdentifier = (description: string) => nullable<string>('string', { description, format: 'uuid' })
export const nullableTimestamp = (description: string) =>
  nullable<string>('string', { description, format: 'date-time' })
export const nullableDate = (description: string) => nullable<string>('string', { description, format: 'date' })
export const nullableMoney = (description: string) =>
  nullable<string>('string', { description, pattern: '^-?[0-9]+\\.[0-9]{2}$' })
export const nullableCount = (description: string) => nullable<string>('string', { description, pattern: '^-?[0-9]+$' })

export const closed = { additionalProperties: false } as const

/** How long the text of an input may be, in characters. */
export const longest = {
  name: 255,
  email: 254,
  phone: 50,
  extension: 20,
  zip: 20,
  place: 100,
  address: 500,
  website: 2048,
  label: 100,
  notes: 10_000,
  businessIdentifier: 64,
  search: 200,
  password: 1024,
} as const
