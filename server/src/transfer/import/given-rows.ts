import { importKeysOf, type ResourceName, storedFieldsOf } from '@masthead/contract'
import { shown } from '../../foreign-text.ts'
import { Refusal } from '../../refusal.ts'
import { mostCells, type SourceRow } from '../files/csv-rows.ts'
import { rejectionColumns, rowOfRejection } from '../files/rejected-rows.ts'
import type { SourceFile } from '../files/source-file.ts'
import { asText, hint, type Mapping, textOfJson } from './mapping.ts'

export type GivenRow = {
  line: number
  /** In the order of the stored fields; null empties a field, undefined leaves it as it is. */
  values: (string | null | undefined)[]
  /** Why the values are unreliable, and which field causes it, if one does. */
  problem?: string
  field?: string
}

type RowReader = (row: SourceRow) => GivenRow

/** Refuses a file with unknown columns before any row is read. */
export const givenRows = (
  file: SourceFile,
  resource: ResourceName,
  mapping: Mapping | undefined,
): (() => AsyncGenerator<GivenRow[]>) => {
  const json = file.header.indexOf(rowOfRejection)
  const reader = json < 0 ? readerOfCsv(file, resource, mapping) : readerOfJson(json, resource, mapping)
  return async function* () {
    for await (const rows of file.rows()) yield rows.map(reader)
  }
}

const readerOfCsv = (file: SourceFile, resource: ResourceName, mapping: Mapping | undefined): RowReader => {
  const { header } = file
  const places = placesOf(file, resource, mapping)
  const blank = constantsOf(resource, mapping)
  return ({ line, cells, problem }) => {
    if (problem !== undefined) return { line, values: [], problem }
    if (cells.length !== header.length) {
      const [has, should] = [cells.length, header.length]
      return { line, values: [], problem: `has ${has} ${has === 1 ? 'cell' : 'cells'}, the header has ${should}` }
    }
    const values = blank.slice()
    for (let index = 0; index < cells.length; index++) {
      const place = places[index]
      if (place !== undefined) values[place] = cells[index]
    }
    return { line, values }
  }
}

/** For each column of the file, which column of the resource it is. */
const placesOf = ({ path, header }: SourceFile, resource: ResourceName, mapping: Mapping | undefined) => {
  const known = storedFieldsOf(resource).map(({ name }) => name)
  const taken = new Map<string, string>()
  const places = header.map((heading) => {
    const field = mapping?.rename.get(heading)
    if (field === null || rejectionColumns.includes(heading)) return undefined
    const name = field ?? heading
    const place = known.indexOf(name)
    if (place < 0) {
      if (heading === '') throw new Refusal(`${path} has a column without a name in its header`)
      const remedy = `${hint(name, known)} A --map file renames a column, or leaves it out`
      throw new Refusal(`${path} has a column ${shown(heading)}, which ${resource} do not have. ${remedy}`)
    }
    const other = taken.get(name)
    if (other !== undefined) throw new Refusal(`${path} gives ${name} twice, as "${other}" and "${heading}"`)
    if (mapping?.set.has(name)) throw new Refusal(`${path} has a column for ${name}, which the --map file sets too`)
    taken.set(name, heading)
    return place
  })
  const keys = importKeysOf(resource)
  if (!keys.some(({ name }) => taken.has(name))) {
    const needed = keys.map(({ name }) => `"${name}"`).join(' or ')
    throw new Refusal(`${path} has no column ${needed}, so its rows could not be recognised at the next import`)
  }
  return places
}

const readerOfJson = (column: number, resource: ResourceName, mapping: Mapping | undefined): RowReader => {
  const known = storedFieldsOf(resource).map(({ name }) => name)
  const places = new Map(known.map((field, index) => [field, index]))
  const blank = constantsOf(resource, mapping)
  const place = (values: GivenRow['values'], name: string, value: unknown): string | undefined => {
    const renamed = mapping?.rename.get(name)
    if (renamed === null) return undefined
    const index = places.get(renamed ?? name)
    if (index === undefined) return `${shown(name)} is unknown. ${hint(name, known)}`
    if (values[index] !== undefined) return `${shown(name)} is given twice`
    const text = value === null ? null : textOfJson(value)
    if (text === undefined) return `must be ${asText}`
    values[index] = text
    return undefined
  }
  return ({ line, cells }) => {
    const text = cells[column] ?? ''
    const shape = problemOfShape(text)
    if (shape !== null) return { line, values: [], problem: shape }
    const record = parseObject(text)
    if (record === null) return { line, values: [], problem: 'is not a JSON object in one line' }
    const values = blank.slice()
    for (const [name, value] of Object.entries(record)) {
      const problem = place(values, name, value)
      if (problem !== undefined) return { line, values: [], problem, field: places.has(name) ? name : '' }
    }
    return { line, values }
  }
}

const constantsOf = (resource: ResourceName, mapping: Mapping | undefined): GivenRow['values'] =>
  storedFieldsOf(resource).map(({ name }) => mapping?.set.get(name))

/** Fields lie on the first level; a map may leave out nested values. */
const deepestNesting = 100

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Checked before parsing, because a long line of brackets or values takes many times its size when parsed. */
const problemOfShape = (text: string): string | null => {
  if (text.length <= mostCells) return null
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === quote) {
      for (at++; at < text.length && text.charCodeAt(at) !== quote; at++) if (text.charCodeAt(at) === backslash) at++
    } else if (character === openBracket || character === openBrace) {
      if (++depth > deepestNesting) return `is nested deeper than ${deepestNesting} levels`
    } else if (character === closeBracket || character === closeBrace) depth--
    else if (character === comma && ++values > mostCells)
      return `has more than ${mostCells.toLocaleString('en')} values`
  }
  return null
}

const parseObject = (text: string): object | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
