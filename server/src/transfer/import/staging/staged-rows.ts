import {
  type Field,
  identifiersOf,
  importKeysOf,
  longest,
  type Resource,
  type ResourceName,
  resources,
  storedFieldsOf,
} from '@masthead/contract'
import { shown } from '../../../foreign-text.ts'
import { isUuid, newId } from '../../../records/identifiers.ts'
import { normalisedStatus } from '../../../records/normalising.ts'
import { columnTypes } from '../../../records/writes/write-statement.ts'
import { joinedName } from '../../../values.ts'
import { readValue, reasonAgainst, ruleAgainst } from '../../reading/cell-values.ts'
import type { GivenRow } from '../../reading/row-plan.ts'
import { LookAgain } from '../../reading/table-reading.ts'
import { WrongCell } from '../../reading/wrong-cell.ts'

/**
 * A temporary table holds all rows of the files of one resource while they are judged. A reference has two columns
 * there: the form in which it is stored, and the other identifier of the record.
 */
export const stagingTable = (resource: ResourceName): string => `staged_${resource}`
export const otherColumn = ({ column }: Field): string => `${column}_other`

const bookkeeping = [
  'number bigint primary key',
  'file integer',
  'line integer',
  // The fields that the row gives, one bit each in the order of the resource's fields.
  'given integer',
  // Why the row is refused, and which of its fields is to blame.
  'field text',
  'reason text',
  // The reason without the values of the row, by which refusals are grouped; null where it has none.
  'rule text',
]

const isReferredToById = (resource: ResourceName): boolean => identifiersOf(resource).canonical.name === 'id'

export const createStagingTable = (resource: ResourceName): string => {
  const fields = storedFieldsOf(resource)
  const columns = fields.map(({ column, kind }) => `${column} ${columnTypes[kind]}`)
  const others = fields.flatMap((field) =>
    field.reference ? [`${otherColumn(field)} ${columnTypes[identifiersOf(field.reference).other.kind]}`] : [],
  )
  return `create temp table ${stagingTable(resource)} (${[...bookkeeping, ...columns, ...others].join(', ')})`
}

export const bitOf = (resource: ResourceName, field: string): number => {
  const index = storedFieldsOf(resource).findIndex(({ name }) => name === field)
  return index < 0 ? 0 : 1 << index
}

const defaultOf = ({ default: value }: Field, now: string): string | null => {
  if (value === 'newId') return newId()
  return value === 'now' ? now : (value?.value ?? null)
}

type FieldProblem = { field: string; reason: string; rule?: string }

/** Encodes rows as lines of a COPY, numbered over all files of the resource. */
export class RowStager {
  readonly #resource: ResourceName
  readonly #fields: readonly Field[]
  /** The same, but a reference may hold either identifier. */
  readonly #checked: readonly Field[]
  readonly #names: string[]
  readonly #keys: string[]
  readonly #now: string
  #number = 0

  constructor(resource: ResourceName, now: string) {
    this.#resource = resource
    this.#fields = storedFieldsOf(resource)
    // The column `given` is an integer with a bit for each field.
    if (this.#fields.length > 31) throw new Error(`${resource} have more fields than bits to tell them by`)
    this.#checked = this.#fields.map(asReference)
    this.#names = this.#fields.map(({ name }) => name)
    this.#keys = importKeysOf(resource).map(({ name }) => name)
    this.#now = now
  }

  get count(): number {
    return this.#number
  }

  /** With `isSampled`, only the first rows told how values are written, and others must not be refused for that. */
  line(file: number, row: GivenRow, isSampled = false): string {
    const { values, given, problems } = this.#read(row, isSampled)
    if (problems.length === 0) this.#complete(values, given)
    else this.#leaveKeys(values)
    const cells: (string | null)[] = [++this.#number, file, row.line, given].map(String)
    cells.push(...refusal(problems))
    const others: (string | null)[] = []
    for (let index = 0; index < this.#fields.length; index++) {
      const value = values[index] ?? null
      const reference = this.#fields[index]?.reference
      const isOther = reference && value !== null && isUuid(value) !== isReferredToById(reference)
      cells.push(isOther ? null : value)
      if (reference) others.push(isOther ? value : null)
    }
    return copyLine([...cells, ...others])
  }

  /** Checked values, which of them the row gave, and what is wrong with it. */
  #read(row: GivenRow, isSampled: boolean): { values: (string | null)[]; given: number; problems: FieldProblem[] } {
    const values: (string | null)[] = new Array(this.#fields.length).fill(null)
    if (row.problem !== undefined) return { values, given: 0, problems: [{ field: '', reason: row.problem }] }
    const problems: FieldProblem[] = []
    let given = 0
    for (let index = 0; index < this.#fields.length; index++) {
      const field = this.#checked[index]
      const text = row.values[index]
      if (field === undefined || text === undefined) continue
      if (text === null) {
        if (field.isNullable) given |= 1 << index
        else if (field.default === null) problems.push({ field: field.name, reason: 'must not be empty' })
        continue
      }
      given |= 1 << index
      if (text instanceof WrongCell) {
        if (isSampled) throw new LookAgain()
        problems.push({ field: field.name, reason: text.reason, rule: text.rule })
        continue
      }
      const problem = this.#readCell(values, index, field, text)
      if (!problem) continue
      if (isSampled && field.kind !== 'text') throw new LookAgain()
      problems.push(problem)
    }
    if (problems.length === 0 && !this.#keys.some((key) => values[this.#names.indexOf(key)] != null)) {
      const names = this.#keys.map((key) => `\`${key}\``).join(' or ')
      problems.push({
        field: this.#keys[0] ?? '',
        reason: `needs ${names}, so that it is recognised at the next import`,
      })
    }
    return { values, given, problems }
  }

  #readCell(values: (string | null)[], index: number, field: Field, text: string): FieldProblem | null {
    const { name, choices } = field
    const value = readValue(field, text)
    if (value === null) return { field: name, reason: reasonAgainst(field, text), rule: ruleAgainst(field, text) }
    values[index] = field.reference && isUuid(value) ? value.toLowerCase() : value
    if (field.marksDeletion && value > this.#now) {
      const rule = 'lies in the future'
      return { field: name, reason: `${shown(text)} ${rule}`, rule }
    }
    if (choices.length > 0 && !choices.includes(value)) {
      const rule = `is neither ${choices.join(' nor ')}`
      return { field: name, reason: `${shown(text)} ${rule}`, rule }
    }
    return null
  }

  /** What a new record has beside what the row gives. */
  #complete(values: (string | null)[], given: number): void {
    for (const [index, field] of this.#fields.entries()) {
      if (!(given & (1 << index))) values[index] = defaultOf(field, this.#now)
    }
    if (this.#resource === 'contacts' && !(given & bitOf('contacts', 'name'))) {
      const [first, last] = ['firstName', 'lastName'].map((field) => values[this.#names.indexOf(field)] ?? null)
      values[this.#names.indexOf('name')] = joinedName(first ?? null, last ?? null)
    }
    const { openness }: Resource = resources[this.#resource]
    if (openness && !(given & bitOf(this.#resource, openness.field))) {
      const place = this.#names.indexOf(openness.status)
      const status = normalisedStatus(values[place] ?? '')
      const isKnown = this.#fields[place]?.known.includes(status)
      values[this.#names.indexOf(openness.field)] = isKnown ? String(Number(openness.open.includes(status))) : null
    }
  }

  /** A refused row stores its keys alone, so that `--prune` does not take its record for missing. */
  #leaveKeys(values: (string | null)[]): void {
    for (let index = 0; index < values.length; index++) {
      if (!this.#keys.includes(this.#names[index] ?? '')) values[index] = null
    }
  }
}

/** Which field is to blame, and why the row is refused. */
const refusal = (problems: readonly FieldProblem[]): (string | null)[] => {
  const [first, ...others] = problems
  if (!first) return [null, null, null]
  if (others.length === 0) return [first.field, first.reason, first.rule ?? null]
  const joined = (texts: string[]) => problems.map(({ field }, index) => `${field}: ${texts[index]}`).join('; ')
  return [
    first.field,
    joined(problems.map(({ reason }) => reason)),
    joined(problems.map(({ reason, rule }) => rule ?? reason)),
  ]
}

/** A reference may be a business identifier, and is checked as one; an `id` passes that check too. */
const asReference = (field: Field): Field =>
  field.reference
    ? { ...field, kind: 'text', minLength: 1, maxLength: longest.businessIdentifier, isIdentifier: false }
    : field

const special = /[\\\t\n\r]/
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

const copyLine = (cells: readonly (string | null)[]): string => {
  let line = ''
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index]
    if (index > 0) line += '\t'
    if (cell == null) line += '\\N'
    else line += special.test(cell) ? cell.replaceAll(/[\\\t\n\r]/g, (character) => escapes[character] ?? '') : cell
  }
  return `${line}\n`
}
