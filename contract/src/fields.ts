import type { TSchema, TUnsafe } from 'typebox'
import { Type } from './schema.ts'

/** The vocabulary of the contract: each kind of value in the API, once. `title` and `description` reach the reference. */

export const closed = { additionalProperties: false } as const

/** How long a text may be, in characters, by what it holds. A request is held to it, and so is an import. */
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

export type Content = keyof typeof longest

export type Kind = 'text' | 'uuid' | 'date' | 'timestamp' | 'money' | 'integer' | 'number' | 'boolean'

/** What a field of a new record holds that nobody gave. Such a field is never stored as null. */
export type Default = 'newId' | 'now' | { value: string }

/** A text in lower case; a name without case and accents, which also sorts as people expect; an amount of money in cents; a whole number. */
export type KeyForm = 'lowerCase' | 'name' | 'cents' | 'whole'

export type Comparison = { field: string; by: '=' | '>=' | '<=' | '<' }

/** What the contract says of a field beside its JSON Schema, which is all that callers see. */
type Traits = {
  kind: Kind
  /** What a text holds. */
  content?: Content
  /** The resource whose record it names. */
  reference?: string
  default?: Default
  /** It is not stored: it shows this field, an amount of money, in cents. */
  centsOf?: string
  /** What is stored of it beside its value, for filters and sorting to compare. */
  key?: KeyForm
  /** Of a parameter of a list: it shows the records whose field compares so with the value. */
  compares?: Comparison
  /** Members of an open set that everybody knows. */
  known?: readonly string[]
  /** The record is deleted once it holds a value. */
  marksDeletion?: true
}

// JSON has no symbols, so no document shows what is noted under this one.
const traits = Symbol('traits')

export const traitsOf = (schema: TSchema): Traits => (schema as { [traits]?: Traits })[traits] ?? { kind: 'text' } // only `noted` writes this property

const noted = <S extends TSchema>(schema: S, more: Partial<Traits>): S => ({
  ...schema,
  [traits]: { ...traitsOf(schema), ...more },
})

/** Names a record of the resource: by its canonical identifier in a record, by either identifier in a request. */
export const reference = <S extends TSchema>(resource: string, schema: S): S => noted(schema, { reference: resource })
export const withDefault = <S extends TSchema>(value: Default, schema: S): S => noted(schema, { default: value })
export const keyed = <S extends TSchema>(key: KeyForm, schema: S): S => noted(schema, { key })
export const compares = <S extends TSchema>(field: string, by: Comparison['by'], schema: S): S =>
  noted(schema, { compares: { field, by } })
export const centsOf = <S extends TSchema>(field: string, schema: S): S => noted(schema, { centsOf: field })

type TextOptions = { content?: Content; minLength?: number; maxLength?: number }

export const text = (description: string, { content = 'name', ...limits }: TextOptions = {}) =>
  noted(Type.String({ description, ...limits }), { kind: 'text', content })
export const number = (description: string) => noted(Type.Number({ description, format: 'double' }), { kind: 'number' })
export const identifier = (description: string) => noted(Type.String({ description, format: 'uuid' }), { kind: 'uuid' })
export const timestamp = (description: string) =>
  noted(Type.String({ description, format: 'date-time' }), { kind: 'timestamp' })
export const date = (description: string) => noted(Type.String({ description, format: 'date' }), { kind: 'date' })

/** A text of a request, held to the limit of what it holds. */
export const input = (description: string, content: Content) =>
  text(description, { content, minLength: 1, maxLength: longest[content] })

type NullableOptions = {
  description: string
  minLength?: number
  maxLength?: number
  format?: string
  pattern?: string
}

/** A nullable field is always present in a response; `type: [x, 'null']` reads better in OpenAPI 3.1 than a union. */
const nullable = <T>(kind: Kind, type: string, options: NullableOptions): TUnsafe<T | null> =>
  noted(Type.Unsafe<T | null>({ type: [type, 'null'], ...options }), { kind })

export const nullableText = (description: string, content: Content = 'name') =>
  noted(nullable<string>('text', 'string', { description }), { content })
export const nullableInput = (description: string, content: Content) =>
  noted(nullable<string>('text', 'string', { description, maxLength: longest[content] }), { content })
export const nullableNumber = (description: string) =>
  nullable<number>('number', 'number', { description, format: 'double' })
export const nullableBoolean = (description: string) => nullable<boolean>('boolean', 'boolean', { description })
export const nullableIdentifier = (description: string) =>
  nullable<string>('uuid', 'string', { description, format: 'uuid' })
export const nullableTimestamp = (description: string) =>
  nullable<string>('timestamp', 'string', { description, format: 'date-time' })
export const nullableDate = (description: string) => nullable<string>('date', 'string', { description, format: 'date' })
export const nullableMoney = (description: string) =>
  keyed('cents', nullable<string>('money', 'string', { description, pattern: '^-?[0-9]+\\.[0-9]{2}$' }))
export const nullableCount = (description: string) =>
  nullable<string>('integer', 'string', { description, pattern: '^-?[0-9]+$' })

export const count = (description: string) => Type.Integer({ description })
export const nullableInteger = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description })
export const oneOf = <const T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description })

/** When the record was deleted. */
export const deletion = (description: string) => noted(nullableTimestamp(description), { marksDeletion: true })

/** A status is one of an open set, which imports may extend. */
export const status = (...known: string[]) => noted(text(describe(known)), ofStatus(known))
export const nullableStatus = (...known: string[]) => noted(nullableText(describe(known)), ofStatus(known))
/** The same in a request, held to the limit of labels. Having none is null, never an empty text. */
export const nullableStatusInput = (...known: string[]) => {
  const limits = { description: describe(known), minLength: 1, maxLength: longest.label }
  return noted(nullable<string>('text', 'string', limits), ofStatus(known))
}
const describe = (known: string[]): string => `Open set; known: ${known.join(', ')}.`
const ofStatus = (known: string[]): Partial<Traits> => ({ content: 'label', key: 'lowerCase', known })
