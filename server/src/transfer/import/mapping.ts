import { readFile } from 'node:fs/promises'
import { type Field, type ResourceName, resourceNames, storedFieldsOf } from '@masthead/contract'
import { shown } from '../../foreign-text.ts'
import { suggestion } from '../../nearest-name.ts'
import { Refusal } from '../../refusal.ts'
import { readValue, reasonAgainst } from './cell-values.ts'

/** How the files of one resource differ from the API: other headings, and values that stand for a whole column. */
export type Mapping = {
  /** Heading of a file → field; null leaves the column out. */
  rename: ReadonlyMap<string, string | null>
  /** Field → the value of every row; null empties it. */
  set: ReadonlyMap<string, string | null>
}

export type Mappings = Partial<Record<ResourceName, Mapping>>

const example = '{"contacts": {"rename": {"E-Mail": "email", "Fax": null}, "set": {"subsOnly": false}}}'

export const readMappings = async (path: string): Promise<Mappings> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(`${path} ${error.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${error.message}`}`)
  })
  const given = objectOf(parse(path, text), path)
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
  const { rename = {}, set = {}, ...others } = given
  const [other] = Object.keys(others)
  if (other !== undefined) {
    throw new Refusal(`"${resource}" in ${path} holds "${other}"; it may hold "rename" and "set", as in ${example}`)
  }
  const where = `"${resource}" in ${path}`
  return {
    rename: new Map(
      Object.entries(objectOf(rename, `"rename" of ${where}`)).map(([heading, field]) => {
        if (field !== null && typeof field !== 'string') {
          throw new Refusal(`"rename" of ${where} must give "${heading}" the name of a field, or null to leave it out`)
        }
        if (field !== null) fieldNamed(resource, field, where)
        return [heading, field]
      }),
    ),
    set: new Map(
      Object.entries(objectOf(set, `"set" of ${where}`)).map(([field, value]) => [
        field,
        readConstant(resource, field, value, where),
      ]),
    ),
  }
}

const readConstant = (resource: ResourceName, field: string, value: unknown, where: string): string | null => {
  const stored = fieldNamed(resource, field, where)
  if (value === null) return null
  const text = textOfJson(value)
  if (text === undefined) throw new Refusal(`"set" of ${where} must give "${field}" ${asText}`)
  if (stored.reference === null && readValue(stored, text) === null) {
    throw new Refusal(`"set" of ${where}: ${field} ${reasonAgainst(stored, text)}`)
  }
  return text
}

/** A JSON value as a cell would hold it; undefined when no cell could, or when digits may have been lost. */
export const textOfJson = (value: unknown): string | undefined => {
  if (typeof value === 'number' && (Math.abs(value) > Number.MAX_SAFE_INTEGER || /e/.test(String(value)))) {
    return undefined
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

export const asText = 'a text, true, false, null, or a number of at most 15 digits'

const fieldNamed = (resource: ResourceName, name: string, where: string): Field => {
  const fields = storedFieldsOf(resource)
  const field = fields.find((known) => known.name === name)
  if (field) return field
  const known = fields.map((known) => known.name)
  throw new Refusal(`${where} names ${shown(name)}, which ${resource} do not have. ${hint(name, known)}`)
}
