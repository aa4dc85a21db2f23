import { longest, type ResourceName } from '@masthead/contract'
import { shown } from '../../foreign-text.ts'
import { foldedStatus } from '../../records/folding.ts'
import { isUuid, newId } from '../../records/identifiers.ts'
import { searchText } from '../../records/write.ts'
import { joinedName } from '../../values.ts'
import { type Column, identifiersOf, type Kind, type ReferredResource, transferColumns } from '../columns.ts'
import { readValue, reasonAgainst } from './cell-values.ts'
import type { GivenRow } from './given-rows.ts'
import { keyOf, keysOf } from './keys.ts'

/**
 * The rows of the files of one resource lie in a table of the session, good and bad, while they are judged. A reference
 * has two columns there: the form in which it is stored, and the other identifier of what it names.
 */
export const stagingTable = (resource: ResourceName): string => `staged_${resource}`
export const otherColumn = ({ column }: Column): string => `${column}_other`

const sqlTypes: Record<Kind, string> = {
  text: 'text',
  uuid: 'uuid',
  date: 'date',
  timestamp: 'timestamptz(3)',
  money: 'numeric(20, 2)',
  integer: 'bigint',
  number: 'numeric',
  boolean: 'boolean',
}

type StagedColumn = { name: string; type: string }

const bookkeeping: StagedColumn[] = [
  { name: 'number', type: 'bigint' },
  { name: 'file', type: 'integer' },
  { name: 'line', type: 'integer' },
  // The columns that the row gives, one bit each in the order of the resource's columns.
  { name: 'given', type: 'integer' },
  // Why the row is refused, and which of its fields is to blame.
  { name: 'field', type: 'text' },
  { name: 'reason', type: 'text' },
]

const stagedColumns = (resource: ResourceName): StagedColumn[] => {
  const columns = transferColumns[resource]
  return [
    ...bookkeeping,
    ...columns.map((column) => ({ name: column.column, type: typeOf(column) })),
    ...columns.flatMap((column) =>
      column.refersTo ? [{ name: otherColumn(column), type: isReferredToById(column.refersTo) ? 'text' : 'uuid' }] : [],
    ),
    ...(columns.some(({ field }) => field === 'status') ? [{ name: 'status_key', type: 'text' }] : []),
    { name: 'search_text', type: 'text' },
  ]
}

const typeOf = ({ kind, refersTo }: Column): string =>
  refersTo && !isReferredToById(refersTo) ? 'text' : sqlTypes[kind]

const isReferredToById = (resource: ReferredResource): boolean => identifiersOf[resource].canonical === 'id'

export const createStagingTable = (resource: ResourceName): string =>
  `create temp table ${stagingTable(resource)} (${stagedColumns(resource)
    .map(({ name, type }) => `${name} ${type}`)
    .join(', ')})`

export const copyIntoStaging = (resource: ResourceName): string =>
  `copy ${stagingTable(resource)} (${stagedColumns(resource)
    .map(({ name }) => name)
    .join(', ')}) from stdin`

export const bitOf = (resource: ResourceName, field: string): number => {
  const index = transferColumns[resource].findIndex((column) => column.field === field)
  return index < 0 ? 0 : 1 << index
}

/** What a field that no column gives has in a new record. */
const defaultOf = (field: string, now: string): string | undefined => {
  if (field === 'id') return newId()
  if (field === 'createdAt' || field === 'updatedAt') return now
  return field === 'route' ? 'native' : undefined
}

type Trouble = { field: string; reason: string }

/** Makes the lines of a COPY of rows; rows are numbered over all files of the resource. */
export class RowStager {
  readonly #resource: ResourceName
  readonly #columns: readonly Column[]
  /** The same, but a reference as what it may hold: either identifier. */
  readonly #checked: readonly Column[]
  readonly #fields: string[]
  readonly #keys: string[]
  readonly #now: string
  readonly #hasStatus: boolean
  #number = 0

  constructor(resource: ResourceName, now: string) {
    this.#resource = resource
    this.#columns = transferColumns[resource]
    // Which columns a row gives is an integer of the database, a bit for each.
    if (this.#columns.length > 31) throw new Error(`${resource} have more columns than bits to tell them by`)
    this.#checked = this.#columns.map(asReference)
    this.#fields = this.#columns.map(({ field }) => field)
    this.#keys = keysOf(resource)
    this.#now = now
    this.#hasStatus = this.#fields.includes('status')
  }

  get count(): number {
    return this.#number
  }

  line(file: number, row: GivenRow): string {
    const { values, given, troubles } = this.#read(row)
    if (troubles.length > 0) return this.#refusedLine(file, row, values, troubles)
    this.#complete(values, given)
    const record = this.#recordOf(values)
    const cells: (string | null)[] = [String(++this.#number), String(file), String(row.line), String(given), null, null]
    for (let index = 0; index < this.#columns.length; index++)
      cells.push(canonicalCell(this.#columns[index], values[index]))
    for (let index = 0; index < this.#columns.length; index++) {
      const column = this.#columns[index]
      if (column?.refersTo) cells.push(otherCell(column.refersTo, values[index]))
    }
    if (this.#hasStatus) cells.push(record.status == null ? null : foldedStatus(record.status))
    cells.push(searchText(this.#resource, record))
    return copyLine(cells)
  }

  /** Checked values, which of them the row gave, and what is wrong with it. */
  #read(row: GivenRow): { values: (string | null)[]; given: number; troubles: Trouble[] } {
    const values: (string | null)[] = new Array(this.#columns.length).fill(null)
    if (row.problem !== undefined)
      return { values, given: 0, troubles: [{ field: row.field ?? '', reason: row.problem }] }
    const troubles: Trouble[] = []
    let given = 0
    for (let index = 0; index < this.#columns.length; index++) {
      const column = this.#checked[index]
      const text = row.values[index]
      if (column === undefined || text === undefined) continue
      if (text === null) {
        if (column.isNullable) given |= 1 << index
        else if (!column.isMadeByService) troubles.push({ field: column.field, reason: 'must not be empty' })
        continue
      }
      given |= 1 << index
      const trouble = this.#readCell(values, index, column, text)
      if (trouble) troubles.push(trouble)
    }
    if (troubles.length === 0 && !this.#keys.some((key) => values[this.#fields.indexOf(key)] != null)) {
      const names = this.#keys.map((key) => `\`${key}\``).join(' or ')
      troubles.push({
        field: this.#keys[0] ?? '',
        reason: `needs ${names}, so that it is recognised at the next import`,
      })
    }
    return { values, given, troubles }
  }

  #readCell(values: (string | null)[], index: number, column: Column, text: string): Trouble | null {
    const value = readValue(column, text)
    if (value === null) return { field: column.field, reason: reasonAgainst(column, text) }
    values[index] = column.refersTo && isUuid(value) ? value.toLowerCase() : value
    if (column.field === 'deletedAt' && value > this.#now) {
      return { field: column.field, reason: `"${text}" lies in the future` }
    }
    if (column.field === 'route' && value !== 'native' && value !== 'legacy') {
      return { field: column.field, reason: `${shown(text)} is neither native nor legacy` }
    }
    return null
  }

  /** What a new record has beside what the row gives. */
  #complete(values: (string | null)[], given: number): void {
    for (let index = 0; index < this.#columns.length; index++) {
      if (given & (1 << index)) continue
      values[index] = defaultOf(this.#fields[index] ?? '', this.#now) ?? null
    }
    if (this.#resource === 'tasks') values[this.#fields.indexOf('userId')] ??= ''
    if (this.#resource === 'contacts' && !(given & bitOf('contacts', 'name'))) {
      const [first, last] = ['firstName', 'lastName'].map((field) => values[this.#fields.indexOf(field)] ?? null)
      values[this.#fields.indexOf('name')] = joinedName(first ?? null, last ?? null)
    }
    if (this.#resource === 'invoices' && !(given & bitOf('invoices', 'isOpen'))) {
      const status = foldedStatus(values[this.#fields.indexOf('status')] ?? '')
      values[this.#fields.indexOf('isOpen')] = openness.get(status) ?? null
    }
  }

  #recordOf(values: (string | null)[]): Record<string, string | null> {
    const record: Record<string, string | null> = {}
    for (let index = 0; index < values.length; index++) record[this.#fields[index] ?? ''] = values[index] ?? null
    return record
  }

  /** Only what tells which record it is about, so that `--prune` does not take it for missing. */
  #refusedLine(file: number, { line }: GivenRow, values: (string | null)[], troubles: Trouble[]): string {
    const [first] = troubles
    const reason =
      troubles.length === 1 ? first?.reason : troubles.map(({ field, reason }) => `${field}: ${reason}`).join('; ')
    const cells = [String(++this.#number), String(file), String(line), '0', first?.field ?? '', reason ?? '']
    const rest = stagedColumns(this.#resource)
      .slice(cells.length)
      .map(({ name }) => {
        const index = this.#columns.findIndex(({ column }) => column === name)
        return this.#keys.includes(this.#fields[index] ?? '') ? (values[index] ?? null) : null
      })
    return copyLine([...cells, ...rest])
  }
}

/** Of the statuses that are known; decided in section 2 of the decisions. */
const openness = new Map(
  Object.entries({ open: '1', past_due: '1', draft: '0', paid: '0', void: '0', uncollectible: '0' }),
)

/** A reference is checked as the business identifier it may be; an `id` is one of those that are shaped like it. */
const asReference = (column: Column): Column =>
  column.refersTo
    ? { ...column, kind: 'text', shortest: 1, longest: longest.businessIdentifier, isIdentifier: false }
    : column

const canonicalCell = (column: Column | undefined, value: string | null | undefined): string | null => {
  if (value == null || !column?.refersTo) return value ?? null
  return isUuid(value) === isReferredToById(column.refersTo) ? value : null
}

const otherCell = (refersTo: ReferredResource, value: string | null | undefined): string | null => {
  if (value == null) return null
  return isUuid(value) === isReferredToById(refersTo) ? null : value
}

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

/** The key column of a resource, when it has one. */
export const keyColumn = (resource: ResourceName): string | null => {
  const key = keyOf(resource)
  return transferColumns[resource].find(({ field }) => field === key)?.column ?? null
}
