import { readFile } from 'node:fs/promises'
import { type Field, type ResourceName, resourceNames, storedFieldsOf } from '@masthead/contract'
import { shown } from '../../foreign-text.ts'
import { suggestion } from '../../nearest-name.ts'
import { Refusal } from '../../refusal.ts'
import { asRefusal } from '../files/byte-source.ts'
import { asText, textOfJson } from '../files/json-cells.ts'
import { readValue, reasonAgainst } from './cell-values.ts'

/** How the files of one resource differ from the API. */
export type Mapping = {
  /** Heading of a file → field; null leaves the column out. */
  rename: ReadonlyMap<string, string | null>
  /** Field → the value of every row; null empties it. */
  set: ReadonlyMap<string, string | null>
  /** Heading → the fields that its parts fill; what is left over belongs to the first one. */
  split: ReadonlyMap<string, { into: readonly (string | null)[]; at: string }>
  /** Field → the headings whose values make it. */
  join: ReadonlyMap<string, { of: readonly string[]; with: string }>
  /** Field → value of a file, without case → what it stands for. */
  translate: ReadonlyMap<string, ReadonlyMap<string, string | null>>
}

export type Mappings = Partial<Record<ResourceName, Mapping>>

export const emptyMapping: Mapping = {
  rename: new Map(),
  set: new Map(),
  split: new Map(),
  join: new Map(),
  translate: new Map(),
}

/** The fields that a map gives beside those of single columns. */
export const targetsOf = ({ split, join, set }: Mapping): string[] => [
  ...[...split.values()].flatMap(({ into }) => into.filter((field) => field !== null)),
  ...join.keys(),
  ...set.keys(),
]

/** The headings that a map splits or joins. */
export const partedHeadings = ({ split, join }: Mapping): string[] => [
  ...split.keys(),
  ...[...join.values()].flatMap(({ of }) => of),
]

const example = '{"contacts": {"rename": {"E-Mail": "email", "Fax": null}, "set": {"subsOnly": false}}}'
const parts = ['rename', 'set', 'split', 'join', 'translate'] as const

export const readMappings = async (path: string): Promise<Mappings> => {
  const bytes = await readFile(path).catch((error) => {
    throw asRefusal(path, error)
  })
  // It may begin with a byte order mark, which this leaves out.
  const given = objectOf(parse(path, new TextDecoder().decode(bytes)), path)
  return Object.fromEntries(
    Object.entries(given).map(([resource, mapping]) => {
      if (!isResource(resource)) {
        throw new Refusal(
          `${path} names ${shown(resource)}, which is no kind of record. ${hint(resource, resourceNames)}`,
        )
      }
      return [resource, readMapping(path, resource, objectOf(mapping, `"${resource}" in ${path}`))]
    }),
  )
}

const parse = (path: string, text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal(`${path} is not JSON: ${error instanceof Error ? error.message : error}`)
  }
}

const objectOf = (value: unknown, what: string): Record<string, unknown> => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new Refusal(`${what} must be an object, as in ${example}`)
}

const isResource = (name: string): name is ResourceName => resourceNames.some((known) => known === name)

export const hint = (given: string, known: readonly string[]): string => suggestion(given, known).replaceAll('`', '')

const readMapping = (path: string, resource: ResourceName, given: Record<string, unknown>): Mapping => {
  const other = Object.keys(given).find((name) => !parts.some((part) => part === name))
  if (other !== undefined) {
    const known = parts.map((part) => `"${part}"`).join(', ')
    throw new Refusal(`"${resource}" in ${path} holds "${other}"; it may hold ${known}, as in ${example}`)
  }
  const where = `"${resource}" in ${path}`
  const entries = <T>(part: (typeof parts)[number], read: (name: string, value: unknown) => T): Map<string, T> =>
    new Map(
      Object.entries(objectOf(given[part] ?? {}, `"${part}" of ${where}`)).map(([name, value]) => [
        name,
        read(name, value),
      ]),
    )
  const mapping: Mapping = {
    rename: entries('rename', (heading, field) => {
      if (field !== null && typeof field !== 'string') {
        throw new Refusal(`"rename" of ${where} must give "${heading}" the name of a field, or null to leave it out`)
      }
      if (field !== null) fieldNamed(resource, field, where)
      return field
    }),
    set: entries('set', (field, value) => readConstant(resource, field, value, `"set" of ${where}`)),
    split: entries('split', (heading, value) => readSplit(resource, heading, value, where)),
    join: entries('join', (field, value) => readJoin(resource, field, value, where)),
    translate: entries('translate', (field, values) => {
      fieldNamed(resource, field, where)
      const what = `"${field}" in "translate" of ${where}`
      return new Map(
        Object.entries(objectOf(values, what)).map(([from, to]) => [
          from.trim().toLowerCase(),
          readConstant(resource, field, to, what),
        ]),
      )
    }),
  }
  refuseTwice(mapping, where)
  return mapping
}

const readSplit = (resource: ResourceName, heading: string, value: unknown, where: string) => {
  const { into, at = ' ' } = Array.isArray(value) ? { into: value } : objectOf(value, `"split" of ${where}`)
  const isList = Array.isArray(into) && into.length > 1 && into.every((one) => one === null || typeof one === 'string')
  if (!isList || typeof at !== 'string' || at === '')
    throw new Refusal(
      `"split" of ${where} must give "${heading}" fields, as in {"Name": ["firstName", "lastName"]} or {"Name": {"into": ["lastName", "firstName"], "at": ", "}}`,
    )
  const fields: (string | null)[] = into
  for (const field of fields) if (field !== null) fieldNamed(resource, field, where)
  return { into: fields, at }
}

const readJoin = (resource: ResourceName, field: string, value: unknown, where: string) => {
  fieldNamed(resource, field, where)
  const { of, with: sign = ' ' } = Array.isArray(value) ? { of: value } : objectOf(value, `"join" of ${where}`)
  if (!Array.isArray(of) || of.length === 0 || !of.every((one) => typeof one === 'string') || typeof sign !== 'string')
    throw new Refusal(
      `"join" of ${where} must give "${field}" headings, as in {"address": ["Straße", "Hausnr"]} or {"notes": {"of": ["Text 1", "Text 2"], "with": ", "}}`,
    )
  const headings: string[] = of
  return { of: headings, with: sign }
}

/** A field has one source. */
const refuseTwice = (mapping: Mapping, where: string): void => {
  const sources = [...mapping.rename.values(), ...targetsOf(mapping)]
  const twice = sources.find((field, index) => field !== null && sources.indexOf(field) !== index)
  if (twice !== undefined) throw new Refusal(`${where} gives ${twice} twice: leave one of them out`)
}

const readConstant = (resource: ResourceName, field: string, value: unknown, where: string): string | null => {
  const stored = fieldNamed(resource, field, where)
  if (value === null) return null
  const text = textOfJson(value)
  if (text === undefined) throw new Refusal(`${where} must give "${field}" ${asText}`)
  if (stored.reference === null && readValue(stored, text) === null) {
    throw new Refusal(`${where}: ${field} ${reasonAgainst(stored, text)}`)
  }
  return text
}

const fieldNamed = (resource: ResourceName, name: string, where: string): Field => {
  const fields = storedFieldsOf(resource)
  const field = fields.find((known) => known.name === name)
  if (field) return field
  const known = fields.map((known) => known.name)
  throw new Refusal(`${where} names ${shown(name)}, which ${resource} do not have. ${hint(name, known)}`)
}
