import type { ProblemPlace } from '@masthead/contract'
import { suggestion } from '../../../nearest-name.ts'
import { isUuid } from '../../../records/identifiers.ts'
import { isCalendarDate, parseInstant } from '../../../values.ts'

/** What is wrong with a body; empty when nothing is. */
type BodyJudge = (body: unknown) => ProblemPlace[]

/** JSON Schema as far as bodies of the contract use it. */
type Schema = {
  type: string | readonly string[]
  enum?: readonly string[]
  minLength?: number
  maxLength?: number
  format?: string
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: false
}

/** Notes what is wrong with a value at its place. */
type Judge = (value: unknown, pointer: string, findings: Findings) => void

/** As many unknown properties are told, and as many other errors: the former do not hide the latter. */
const mostOfAKind = 20
/** A longer name stands in no pointer: problems stay small, whatever was sent. */
const longestName = 1_000

class Findings {
  readonly unknown: ProblemPlace[] = []
  readonly others: ProblemPlace[] = []

  note(pointer: string, code: string, detail: string): void {
    this.others.push({ pointer, code, detail })
  }

  /** Nobody need look further. */
  get areEnough(): boolean {
    return this.others.length >= mostOfAKind
  }
}

/**
 * Judges bodies by a schema in one pass: each value is looked at once, what the schema does not describe is not looked at,
 * and it ends after 20 errors of a kind. So the time that it takes grows with the body as that of reading it does.
 */
export const bodyJudge = (schema: object): BodyJudge => {
  const judge = judgeOf(schema)
  return (body) => {
    const findings = new Findings()
    judge(body, '', findings)
    return [...findings.unknown, ...findings.others]
  }
}

const annotations = ['title', 'description']
const kinds: Record<string, { judge: (schema: Schema) => Judge; keywords: readonly (keyof Schema)[] }> = {
  string: { judge: (schema) => textJudge(schema), keywords: ['enum', 'minLength', 'maxLength', 'format'] },
  number: { judge: (schema) => numberJudge(schema), keywords: ['minimum', 'maximum'] },
  integer: { judge: (schema) => numberJudge(schema), keywords: ['minimum', 'maximum'] },
  boolean: { judge: () => () => {}, keywords: [] },
  array: {
    judge: (schema) => arrayJudge(schema),
    keywords: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  },
  object: { judge: (schema) => objectJudge(schema), keywords: ['properties', 'required', 'additionalProperties'] },
}

/** A keyword that is not known here fails the start: what nobody judges must not look as if somebody did. */
const judgeOf = (given: object): Judge => {
  const schema = given as Schema // what it holds is checked here
  const types = [schema.type].flat()
  const [type = '', ...others] = types.filter((one) => one !== 'null')
  const kind = kinds[type]
  if (!kind || others.length > 0) throw new Error(`bodies of the type ${JSON.stringify(schema.type)} cannot be judged`)
  const strange = Object.keys(schema).find((one) => ![...annotations, 'type', ...kind.keywords].includes(one))
  if (strange !== undefined) throw new Error(`the keyword ${strange} of a body cannot be judged`)
  const judge = kind.judge(schema)
  const isNullable = types.includes('null')
  const wanted = types.map(article).join(' or ')
  return (value, pointer, findings) => {
    if (value === null && isNullable) return
    if (isOfType(type, value)) judge(value, pointer, findings)
    else findings.note(pointer, 'wrong_type', `${nameOf(pointer)} must be ${wanted}.`)
  }
}

const isOfType = (type: string, value: unknown): boolean => {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'number') return Number.isFinite(value)
  return typeof value === type
}

const article = (type: string): string =>
  ({ null: 'null', object: 'a JSON object', array: 'an array', integer: 'an integer' })[type] ?? `a ${type}`

const nameOf = (pointer: string): string => (pointer === '' ? 'The body' : `\`${pointer.slice(1)}\``)

/** Also of parameters. */
export const formats: Record<string, { isValid: (text: string) => boolean; code: string; wanted: string }> = {
  date: { isValid: isCalendarDate, code: 'invalid_date', wanted: 'a real date in the form YYYY-MM-DD' },
  'date-time': {
    isValid: (text) => parseInstant(text) !== null,
    code: 'invalid_timestamp',
    wanted: 'a real instant like 2026-11-15T09:30:00.000Z',
  },
  uuid: { isValid: isUuid, code: 'invalid_identifier', wanted: 'a UUID' },
}

const textJudge = ({ enum: known, minLength = 0, maxLength, format }: Schema): Judge => {
  const form = format === undefined ? undefined : formats[format]
  if (format !== undefined && !form) throw new Error(`texts in the format ${format} cannot be judged`)
  const accepted = known && new Set(known)
  const tooShort = minLength === 1 ? 'not be empty' : `have at least ${minLength} characters`
  return (value, pointer, findings) => {
    const text = String(value)
    const name = nameOf(pointer)
    if (!hasLength(text, minLength)) findings.note(pointer, 'too_short', `${name} must ${tooShort}.`)
    else if (maxLength !== undefined && hasLength(text, maxLength + 1))
      findings.note(pointer, 'too_long', `${name} must have at most ${maxLength} characters.`)
    else if (accepted && !accepted.has(text))
      findings.note(
        pointer,
        'invalid_value',
        `${name} must be one of the accepted values. ${suggestion(text, [...accepted])}`,
      )
    else if (form && !form.isValid(text)) findings.note(pointer, form.code, `${name} must be ${form.wanted}.`)
    // What PostgreSQL cannot hold, or could not give back as it was sent.
    else if (text.includes('\0'))
      findings.note(pointer, 'invalid_character', `${name} holds the character U+0000, which cannot be stored.`)
    else if (!text.isWellFormed())
      findings.note(pointer, 'invalid_character', `${name} holds half of a surrogate pair, which is no character.`)
  }
}

/** Whether a text has at least so many characters, each of one or two units of UTF-16. */
const hasLength = (text: string, least: number): boolean => {
  if (text.length < least || text.length >= 2 * least) return text.length >= least
  let characters = text.length
  for (let index = 1; index < text.length; index++)
    if (isSurrogate(text.charCodeAt(index), 0xdc00) && isSurrogate(text.charCodeAt(index - 1), 0xd800)) characters--
  return characters >= least
}

const isSurrogate = (unit: number, first: 0xd800 | 0xdc00): boolean => (unit & 0xfc00) === first

const numberJudge =
  ({ minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: Schema): Judge =>
  (value, pointer, findings) => {
    const name = nameOf(pointer)
    if (Number(value) < minimum) findings.note(pointer, 'invalid_value', `${name} must be at least ${minimum}.`)
    else if (Number(value) > maximum) findings.note(pointer, 'invalid_value', `${name} must be at most ${maximum}.`)
  }

const arrayJudge = ({ items, minItems = 0, maxItems, uniqueItems = false }: Schema): Judge => {
  if (!items) throw new Error('arrays without a schema of their items cannot be judged')
  // A set tells equal texts and numbers at once; objects would have to be compared with each other.
  if (uniqueItems && items.type !== 'string') throw new Error('unique items that are no texts cannot be judged')
  const judge = judgeOf(items)
  return (value, pointer, findings) => {
    const list: unknown[] = Array.isArray(value) ? value : []
    const name = nameOf(pointer)
    if (list.length < minItems) findings.note(pointer, 'too_few', `${name} must hold at least ${minItems}.`)
    else if (maxItems !== undefined && list.length > maxItems)
      findings.note(pointer, 'too_many', `${name} must hold at most ${maxItems}.`)
    else {
      for (let index = 0; index < list.length && !findings.areEnough; index++)
        judge(list[index], `${pointer}/${index}`, findings)
      if (uniqueItems && !findings.areEnough && new Set(list).size < list.length)
        findings.note(pointer, 'repeated', `${name} must not hold anything twice.`)
    }
  }
}

const objectJudge = ({ properties = {}, required = [], additionalProperties }: Schema): Judge => {
  if (additionalProperties !== false) throw new Error('bodies with properties that are not described cannot be judged')
  const names = Object.keys(properties)
  const known = new Set(names)
  const judges = names.map((name) => [name, judgeOf(properties[name] ?? {})] as const)
  return (value, pointer, findings) => {
    const members = Object(value) as Record<string, unknown> // of the type that is checked before
    for (const name in members) {
      if (findings.unknown.length >= mostOfAKind) break
      if (!known.has(name)) findings.unknown.push(unknownProperty(pointer, name, names))
    }
    for (const name of required)
      if (!Object.hasOwn(members, name)) findings.note(`${pointer}/${name}`, 'required', `\`${name}\` is required.`)
    for (const [name, judge] of judges)
      if (!findings.areEnough && Object.hasOwn(members, name)) judge(members[name], `${pointer}/${name}`, findings)
  }
}

/** RFC 6901. What has too long a name is told of the object that holds it. */
const unknownProperty = (pointer: string, name: string, known: readonly string[]): ProblemPlace => ({
  pointer: name.length > longestName ? pointer : `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  code: 'unknown_property',
  detail: `There is no property \`${name.slice(0, 100)}\`. ${suggestion(name, known)}`,
})
