import {
  type Comparison,
  comparisonsOf,
  type Field,
  fieldOf,
  identifiersOf,
  mostIds,
  type ResourceName,
  untalliedParametersOf,
} from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import { Problem } from '../../problem.ts'
import { parseInstant } from '../../values.ts'
import { findIds, findReference, isUuid } from '../identifiers.ts'
import { keyOf, normalisedWords } from '../normalising.ts'
import { comparedColumn, type Table } from '../tables.ts'
import { planSearch, type Search } from './search.ts'
import { readToday } from './today.ts'

/** The query of a list, parsed by its schema. */
export type ListQuery = Readonly<Record<string, string | number | boolean | undefined>>

export type Condition = { column: string; by: Comparison['by']; value: string }

/** The column by which a list is ordered, beside the order of arrival. */
export type Sort = { column: string; kind: Field['kind']; isDescending: boolean }

/** What a list asks for, in the terms of the table. */
export type Filters = {
  classes: number[]
  /** Equality filters, by their fields. */
  values: Map<string, string>
  search: Search | null
  /** What else is compared, of which no totals are kept. */
  conditions: Condition[]
  /** Leaves out what is open and was due before this day. */
  notOverdue: { open: string; day: string; today: string } | null
  /** Only these. */
  ids: string[] | null
  sort: Sort | null
  /** What the list shows depends on the day. */
  isOfToday: boolean
}

/** Whether no tallies are kept of such a list, so that its pages and totals have to be looked for. */
export const isUntallied = ({ conditions, notOverdue, ids, sort }: Filters): boolean =>
  conditions.length > 0 || notOverdue !== null || ids !== null || sort !== null

/** Whether a query asks for such a list. */
export const asksMore = (resource: ResourceName, query: ListQuery): boolean =>
  untalliedParametersOf(resource).some((parameter) => query[parameter] !== undefined)

/** Null when nothing can match: a filter names an account or a publication that does not exist, or filters contradict each other. */
export const readFilters = async (tenant: TenantDatabase, table: Table, query: ListQuery): Promise<Filters | null> => {
  const words = wordsOf(query)
  const values = new Map<string, string>()
  for (const { field } of table.filterColumns) {
    const given = query[field]
    if (given === undefined) continue
    const value = await canonical(tenant, table, field, String(given))
    if (value === null) return null
    values.set(field, value)
  }
  const ids = query.ids === undefined ? null : await findIds(tenant.read, table.name, idsOf(String(query.ids)))
  const compared = await comparisons(tenant, table, query)
  if (contradicts(compared.conditions)) return null
  const search = words && (await planSearch(tenant, table.name, words))
  return {
    classes: classesOf(table, query),
    values,
    search,
    ids,
    sort: sortOf(table, query),
    ...compared,
  }
}

/** No record has two values in one column. */
const contradicts = (conditions: readonly Condition[]): boolean =>
  conditions.some(({ column, by, value }) =>
    conditions.some((other) => by === '=' && other.by === '=' && other.column === column && other.value !== value),
  )

/** Only an identifier in the other form costs a look-up. */
const canonical = async (
  tenant: TenantDatabase,
  table: Table,
  field: string,
  given: string,
): Promise<string | null> => {
  const { keyForm, reference } = fieldOf(table.name, field)
  if (keyForm) return keyOf[keyForm](given)
  if (!reference) return given
  const isById = identifiersOf(reference).canonical.kind === 'uuid'
  if (isUuid(given) !== isById) return findReference(tenant.read, reference, given)
  return isById ? given.toLowerCase() : given
}

type Compared = Pick<Filters, 'conditions' | 'notOverdue' | 'isOfToday'>

const comparisons = async (tenant: TenantDatabase, table: Table, query: ListQuery): Promise<Compared> => {
  const conditions: Condition[] = []
  for (const { parameter, field, by } of comparisonsOf(table.name)) {
    const given = query[parameter]
    if (given !== undefined)
      conditions.push({ column: comparedColumn(table.name, field.name), by, value: compared(field, given) })
  }
  const { overdue } = table.listing
  const wanted = overdue && query[overdue.parameter]
  if (!overdue || wanted === undefined) return { conditions, notOverdue: null, isOfToday: false }
  const today = await readToday(tenant)
  const open = comparedColumn(table.name, overdue.open)
  const day = comparedColumn(table.name, overdue.day)
  if (wanted === false) return { conditions, notOverdue: { open, day, today }, isOfToday: true }
  conditions.push({ column: open, by: '=', value: '1' }, { column: day, by: '<', value: today })
  return { conditions, notOverdue: null, isOfToday: true }
}

/** The value in the form of the column that it is compared with. */
const compared = ({ kind, keyForm }: Field, given: string | number | boolean): string => {
  const value = typeof given === 'boolean' && kind === 'number' ? String(Number(given)) : String(given)
  if (keyForm) return keyOf[keyForm](value)
  return kind === 'timestamp' ? (parseInstant(value) ?? value) : value
}

const sortOf = (table: Table, query: ListQuery): Sort | null => {
  if (query.sort === undefined) return null
  const given = String(query.sort)
  const field = fieldOf(table.name, given.replace('-', ''))
  return { column: comparedColumn(table.name, field.name), kind: field.kind, isDescending: given.startsWith('-') }
}

const idsOf = (given: string): string[] => {
  const ids = [...new Set(given.split(',').filter(Boolean))]
  if (ids.length > 0 && ids.length <= mostIds) return ids
  throw new Problem('invalid_parameter', `\`ids\` must name 1 to ${mostIds} records, and names ${ids.length}.`, {
    errors: [{ parameter: 'ids', code: 'out_of_range', detail: 'Ask for the others by further calls.' }],
  })
}

const classesOf = ({ listing, classCount }: Table, query: ListQuery): number[] => {
  // Of each bit, in their order, what it must be; undefined where both are shown.
  const wanted = [
    ...Object.keys(listing.leftOutUnless).map((parameter) => (query[parameter] === true ? undefined : 0)),
    ...Object.keys(listing.onlyWithout ?? {}).map((parameter) =>
      query[parameter] === undefined ? undefined : Number(!query[parameter]),
    ),
  ]
  return [...Array(classCount).keys()].filter((visibility) =>
    wanted.every((value, bit) => value === undefined || ((visibility >> bit) & 1) === value),
  )
}

const wordsOf = (query: ListQuery): string[] | null => {
  if (query.search === undefined) return null
  const words = normalisedWords(String(query.search))
  if (words.length > 0) return words
  throw new Problem('invalid_parameter', 'The search has no word to look for.', {
    errors: [{ parameter: 'search', code: 'empty', detail: 'Give at least one word; spaces only separate words.' }],
  })
}
