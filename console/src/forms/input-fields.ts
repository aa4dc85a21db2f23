import { type Content, traitsOf } from '@masthead/contract'
import { labelOf, plain } from '../records/fields.ts'

/** How a value is asked for. */
type InputKind = 'line' | 'lines' | 'date' | 'check' | 'account' | 'publication'

export type InputField = {
  name: string
  label: string
  /** What the contract says about it. */
  help: string
  kind: InputKind
  /** What a text holds. */
  content: Content | undefined
  isRequired: boolean
  longest: number | undefined
}

/** What a form holds: a text (empty where there is nothing), or whether something is checked (null where nobody said). */
export type InputValue = string | boolean | null
export type InputValues = Readonly<Record<string, InputValue>>
/** What is sent. */
export type Body = Readonly<Record<string, InputValue>>

type Schema = { maxLength?: number; description?: string }
type InputSchema = { properties: object; required?: string[] | undefined }

/** The fields of a form, by the schema of what it sends: a new one there is asked for here. */
export const inputFieldsOf = ({ properties, required = [] }: InputSchema): InputField[] =>
  Object.entries<Schema>(properties as Record<string, Schema>) // each property of an object has a schema
    // Nobody types an instant; deleting and restoring are buttons.
    .filter(([, schema]) => traitsOf(schema).kind !== 'timestamp')
    .map(([name, schema]) => ({
      name,
      label: labelOf(name),
      help: plain(schema.description ?? '').replace(/, by its .*$/, '.'),
      kind: kindOf(schema),
      content: traitsOf(schema).content,
      isRequired: required.includes(name),
      longest: schema.maxLength,
    }))

const kindOf = (schema: Schema): InputKind => {
  const { kind, reference, content } = traitsOf(schema)
  if (reference === 'accounts') return 'account'
  if (reference === 'publications') return 'publication'
  if (kind === 'boolean') return 'check'
  if (kind === 'date') return 'date'
  // More than fits in a line, and more than the address of a page takes.
  return content === 'notes' ? 'lines' : 'line'
}

const idle = ['a', 'the', 'of', 'for', 'number', 'address', 'name', 'kind', 'free', 'text']

/** "Phone number of the first contact." tells nothing below "Phone", among what is asked of the first contact. */
export const saysMore = (help: string, ...above: readonly string[]): boolean => {
  const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? []
  const told = [...idle, ...above.flatMap(words)]
  return words(help).some((word) => !told.includes(word))
}

/** What a form shows of a record; of none, it is blank. */
export const valuesOf = (fields: readonly InputField[], record: object = {}): InputValues => {
  const held: Readonly<Record<string, unknown>> = { ...record }
  return Object.fromEntries(
    fields.map(({ name, kind }) => {
      const value = held[name]
      if (kind === 'check') return [name, typeof value === 'boolean' ? value : null]
      return [name, typeof value === 'string' ? value : '']
    }),
  )
}

const isSame = (values: InputValues, others: InputValues, { name }: InputField): boolean =>
  values[name] === others[name]

export const changedFields = (
  fields: readonly InputField[],
  before: InputValues,
  now: InputValues,
): readonly InputField[] => fields.filter((field) => !isSame(before, now, field))

/** JSON Merge Patch: what changed and what is required; nothing in the place of something is null. */
export const bodyOf = (fields: readonly InputField[], before: InputValues, now: InputValues): Body =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = now[field.name] ?? null
      if (field.isRequired) return value === '' ? [] : [[field.name, value]]
      return isSame(before, now, field) ? [] : [[field.name, value === '' ? null : value]]
    }),
  )
