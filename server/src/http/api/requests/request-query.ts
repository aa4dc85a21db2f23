import type { ProblemPlace } from '@masthead/contract'
import type { TObject, TSchema } from 'typebox'
import { suggestion } from '../../../nearest-name.ts'
import { Problem } from '../../../problem.ts'
import { formats } from './body-judge.ts'

type Value = string | number | boolean

const mostPlaces = 20

/** The query of a request by the schema of its operation: nothing unknown, nothing twice, nothing clamped. */
export const readQuery = (url: string, schema: TObject | undefined): Record<string, Value> => {
  const properties: Record<string, TSchema> = schema?.properties ?? {}
  const errors: ProblemPlace[] = []
  const query: Record<string, Value> = {}
  for (const [name, text] of pairs(url)) {
    if (errors.length >= mostPlaces) break
    const refuse = (code: string, detail: string) => errors.push({ parameter: name.slice(0, 200), code, detail })
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!known)
      refuse(
        'unknown_parameter',
        `There is no parameter \`${name.slice(0, 100)}\`. ${suggestion(name, Object.keys(properties))}`,
      )
    else if (Object.hasOwn(query, name))
      refuse('repeated_parameter', `\`${name.slice(0, 100)}\` is given more than once.`)
    else query[name] = parse(text, known, (code, detail) => refuse(code, `\`${name}\` ${detail}`))
  }
  if (errors.length === 0) return query
  throw new Problem('invalid_parameter', errors.map(({ detail }) => detail).join(' '), { errors })
}

const pairs = (url: string): [string, string][] => {
  const start = url.indexOf('?')
  if (start < 0) return []
  return url
    .slice(start + 1)
    .split('&')
    .filter(Boolean)
    .map((pair) => {
      const equals = pair.indexOf('=')
      return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
    })
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new Problem('malformed_request', `The query holds a broken percent-encoding near "${text.slice(0, 40)}".`)
  }
}

type Refuse = (code: string, detail: string) => void
type Limits = {
  type: string
  enum?: string[]
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

const parse = (text: string, schema: TSchema, refuse: Refuse): Value => {
  const limits = schema as TSchema & Limits // the schemas of parameters are plain: a type and its limits
  if (limits.type === 'boolean') return parseBoolean(text, refuse)
  if (limits.type === 'number') return parseInteger(text, limits, refuse)
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = limits
  const length = [...text].length
  if (text.includes('\0')) refuse('invalid_character', 'holds the character U+0000, which nothing can contain.')
  else if (length < minLength || length > maxLength)
    refuse('invalid_length', `must have ${lengthsOf(minLength, maxLength)}, has ${length}.`)
  else if (limits.enum && !limits.enum.includes(text))
    refuse('invalid_value', `must be one of the accepted values. ${suggestion(text, limits.enum)}`)
  else if (limits.format && formats[limits.format]?.isValid(text) === false)
    refuse(formats[limits.format]?.code ?? 'invalid_value', `must be ${formats[limits.format]?.wanted}.`)
  return text
}

const lengthsOf = (minLength: number, maxLength: number): string =>
  Number.isFinite(maxLength) ? `${minLength} to ${maxLength} characters` : `at least ${minLength} characters`

const parseBoolean = (text: string, refuse: Refuse): boolean => {
  if (text !== 'true' && text !== 'false') refuse('not_a_boolean', 'must be `true` or `false`.')
  return text === 'true'
}

/** The contract says "number (double)": some generated clients send `1.0`. */
const parseInteger = (text: string, { minimum = 1, maximum = 1 }: Limits, refuse: Refuse): number => {
  const value = /^-?\d{1,20}(\.0{1,20})?(e\+?\d{1,2})?$/i.test(text) ? Number(text) : Number.NaN
  if (!Number.isInteger(value)) refuse('not_an_integer', 'must be a whole number.')
  else if (value < minimum || value > maximum)
    refuse('out_of_range', `must be between ${minimum} and ${maximum.toLocaleString('en-US')}.`)
  return value
}
