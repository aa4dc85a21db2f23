import { link } from './markdown.ts'

/** What JSON Schema leaves of a schema of the contract. */
export type Schema = {
  type?: string | string[]
  title?: string
  description?: string
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  default?: unknown
  const?: string
  enum?: string[]
  anyOf?: Schema[]
  items?: Schema
  required?: string[]
  properties?: Record<string, Schema>
}

export const plain = (schema: unknown): Schema => JSON.parse(JSON.stringify(schema))

/** The kinds of values, by what tells them in a schema; the page of the fields explains them. */
export const kinds: Readonly<Record<string, { name: string; meaning: string }>> = {
  uuid: { name: 'UUID', meaning: 'A string like `0199c0de-7a3b-7c11-9c55-0123456789ab`, in lower case.' },
  'date-time': {
    name: 'timestamp',
    meaning: 'A string: RFC 3339, UTC, with milliseconds: `2026-11-15T09:30:00.000Z`.',
  },
  date: { name: 'date', meaning: 'A string with a day that exists: `2026-11-15`.' },
  uri: { name: 'address', meaning: 'A string with a URL.' },
  '^-?[0-9]+\\.[0-9]{2}$': { name: 'money', meaning: 'A string with a decimal of two digits, no grouping: `1290.00`.' },
  '^-?[0-9]+$': { name: 'count', meaning: 'A string with a whole number: `12`.' },
}

/** In words; fails for what it does not know, so that no field is described too widely. */
export const typeOf = (schema: Schema): string => {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(' ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.title !== undefined) return link(schema.title)
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.items) return `array of ${typeOf(schema.items)}`
  const kind = kinds[schema.format ?? '']?.name ?? kinds[schema.pattern ?? '']?.name
  const types = [schema.type ?? 'unknown'].flat().map((type) => (type === 'string' ? (kind ?? 'text') : type))
  const unknown = types.find((type) => !known.includes(type) && type !== kind)
  if (unknown !== undefined) throw new Error(`the contract uses the type ${unknown}, which nobody has words for yet`)
  return types.join(' or ')
}
const known = ['text', 'number', 'integer', 'boolean', 'null']

/** What a value may be beyond its type, in sentences. */
export const limitsOf = (schema: Schema): string[] => {
  const { minLength, maxLength, maximum, default: usual } = schema
  return [
    ...(minLength === undefined ? [] : ['Not empty.']),
    ...(maxLength === undefined ? [] : [`At most ${maxLength.toLocaleString('en')} characters.`]),
    ...(maximum === undefined ? [] : [`At most ${maximum.toLocaleString('en')}.`]),
    ...(usual === undefined ? [] : [`Default: \`${usual}\`.`]),
  ]
}
