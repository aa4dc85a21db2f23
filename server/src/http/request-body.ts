import { createRequire } from 'node:module'
import { mediaTypesOf, type Operation, type ProblemPlace } from '@masthead/contract'
import type { TObject } from 'typebox'
import type { Validator } from 'typebox/schema'
import { suggestion } from '../nearest-name.ts'
import { Problem } from '../problem.ts'
import { isCalendarDate, parseInstant } from '../values.ts'
import { unsupportedMediaType } from './problems.ts'

const require = createRequire(import.meta.url)

/** Hundreds of files, so they are loaded for the first body, not for the start. */
const compile = (schema: TObject): Validator => {
  const { Format }: typeof import('typebox/format') = require('typebox/format')
  const { Compile }: typeof import('typebox/schema') = require('typebox/schema')
  Format.Set('date', isCalendarDate)
  Format.Set('date-time', (text) => parseInstant(text) !== null)
  return Compile(schema)
}

type BodyReader = (contentType: string | undefined, bytes: Buffer | undefined) => unknown

/** Reads and checks the body of an operation. */
export const bodyReader = (operation: Operation): BodyReader => {
  const { body: schema } = operation
  if (!schema) return refuseBody
  let validator: Validator | undefined
  const accepted = mediaTypesOf(operation)
  return (contentType, bytes) => {
    requireMediaType(contentType, accepted)
    const value = parseJson(bytes)
    validator ??= compile(schema)
    const errors = validate(validator, schema, value)
    if (errors.length === 0) return value
    throw new Problem('invalid_body', errors.map(({ detail }) => detail).join(' '), { errors })
  }
}

const refuseBody: BodyReader = (_contentType, bytes) => {
  if (!bytes?.length) return undefined
  const detail = 'This operation takes no body.'
  throw new Problem('invalid_body', detail, { errors: [{ pointer: '', code: 'not_expected', detail }] })
}

const requireMediaType = (contentType: string | undefined, accepted: readonly string[]): void => {
  const [type = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '')
  if (accepted.includes(type) && (charset === undefined || charset === 'utf-8' || charset === 'utf8')) return
  const detail = `Send \`Content-Type: ${accepted[0]}\`${contentType ? `, not \`${contentType.slice(0, 100)}\`` : ''}.`
  throw unsupportedMediaType(detail)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const parseJson = (bytes: Buffer | undefined): unknown => {
  if (!bytes?.length) throw malformed('The body is empty; send a JSON object.')
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not UTF-8'
    throw malformed(`The body is not JSON: ${reason.slice(0, 200)}.`)
  }
}

const malformed = (detail: string): Problem =>
  new Problem('malformed_body', detail, { errors: [{ pointer: '', code: 'not_json', detail }] })

const mostPlaces = 20

/** Whatever does not pass the check is refused, also should nobody be able to say why. */
const validate = (validator: Validator, schema: TObject, value: unknown): ProblemPlace[] => {
  if (validator.Check(value)) return Object.entries(value as object).flatMap(([name, text]) => unstorable(name, text)) // a checked body is an object
  // The validator stops after a few errors, so names that are not known are found here, and do not hide the others.
  const { known, unknown } = divided(schema, value)
  const places = [...unknown, ...validator.Errors(known)[1].flatMap(placesOf)]
  return places.length > 0
    ? places
    : [{ pointer: '', code: 'invalid_value', detail: 'The body does not fit its schema.' }]
}

const divided = (schema: TObject, value: unknown): { known: unknown; unknown: ProblemPlace[] } => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { known: value, unknown: [] }
  const names = Object.keys(schema.properties)
  const known: Record<string, unknown> = {}
  const strange: string[] = []
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(schema.properties, name)) known[name] = member
    // Guessing what was meant costs more than reading it, so not for thousands.
    else if (strange.length < mostPlaces) strange.push(name)
  }
  return {
    known,
    unknown: strange.map((name) => ({
      pointer: `/${escapePointer(name)}`,
      code: 'unknown_property',
      detail: `There is no property \`${name.slice(0, 100)}\`. ${suggestion(name, names)}`,
    })),
  }
}

type SchemaError = ReturnType<Validator['Errors']>[1][number]

const placesOf = (error: SchemaError): ProblemPlace[] =>
  error.keyword === 'required'
    ? error.params.requiredProperties.map((name) => ({
        pointer: `/${escapePointer(name)}`,
        code: 'required',
        detail: `\`${name}\` is required.`,
      }))
    : [{ pointer: error.instancePath, ...describe(error) }]

const describe = (error: SchemaError): { code: string; detail: string } => {
  const name = error.instancePath === '' ? 'The body' : `\`${error.instancePath.slice(1)}\``
  switch (error.keyword) {
    case 'type':
      return { code: 'wrong_type', detail: `${name} must be ${[error.params.type].flat().map(article).join(' or ')}.` }
    case 'maxLength':
      return { code: 'too_long', detail: `${name} must have at most ${error.params.limit} characters.` }
    case 'minLength':
      return { code: 'too_short', detail: `${name} must not be empty.` }
    case 'minItems':
      return { code: 'too_few', detail: `${name} must hold at least ${error.params.limit}.` }
    case 'format':
      return error.params.format === 'date'
        ? { code: 'invalid_date', detail: `${name} must be a real date in the form YYYY-MM-DD.` }
        : { code: 'invalid_timestamp', detail: `${name} must be a real instant like 2026-11-15T09:30:00.000Z.` }
    default:
      return { code: 'invalid_value', detail: `${name} ${error.message}.` }
  }
}

const article = (type: string): string => (type === 'null' ? 'null' : type === 'object' ? 'a JSON object' : `a ${type}`)

/** What PostgreSQL cannot hold, or could not give back as it was sent. */
const unstorable = (name: string, text: unknown): ProblemPlace[] => {
  if (typeof text !== 'string') return []
  const pointer = `/${name}`
  if (text.includes('\0'))
    return [
      { pointer, code: 'invalid_character', detail: `\`${name}\` holds the character U+0000, which cannot be stored.` },
    ]
  if (!text.isWellFormed())
    return [
      {
        pointer,
        code: 'invalid_character',
        detail: `\`${name}\` holds half of a surrogate pair, which is no character.`,
      },
    ]
  return []
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
