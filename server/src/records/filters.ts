import { fieldOf, identifiersOf } from '@masthead/contract'
import type { TenantDatabase } from '../database/database.ts'
import { Problem } from '../problem.ts'
import { findReference, isUuid } from './identifiers.ts'
import { normalisedStatus, normalisedWords } from './normalising.ts'
import type { Table } from './tables.ts'

/** The query of a list, parsed by its schema. */
export type ListQuery = Readonly<Record<string, string | number | boolean | undefined>>

/** What a list asks for, in the terms of the table. */
export type Filters = {
  classes: number[]
  /** Equality filters whose totals are kept. */
  values: Map<string, string>
  account: string | null
  words: string[] | null
}

/** Null when a filter names an account or a publication that does not exist: then nothing matches. */
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
  const { accountId } = query
  const account = accountId === undefined ? null : await canonical(tenant, table, 'accountId', String(accountId))
  if (accountId !== undefined && account === null) return null
  return { classes: classesOf(table, query), values, account, words }
}

/** Only an identifier in the other form costs a look-up. */
const canonical = async (
  tenant: TenantDatabase,
  table: Table,
  field: string,
  given: string,
): Promise<string | null> => {
  const { keyColumn, reference } = fieldOf(table.name, field)
  if (keyColumn) return normalisedStatus(given)
  if (!reference) return given
  const isById = identifiersOf(reference).canonical.kind === 'uuid'
  if (isUuid(given) !== isById) return findReference(tenant.read, reference, given)
  return isById ? given.toLowerCase() : given
}

const classesOf = (table: Table, query: ListQuery): number[] => {
  const leftOut = Object.keys(table.listing.leftOutUnless).reduce(
    (bits, parameter, bit) => (query[parameter] === true ? bits : bits | (1 << bit)),
    0,
  )
  return [...Array(table.classCount).keys()].filter((visibility) => (visibility & leftOut) === 0)
}

const wordsOf = (query: ListQuery): string[] | null => {
  if (query.search === undefined) return null
  const words = normalisedWords(String(query.search))
  if (words.length > 0) return words
  throw new Problem('invalid_parameter', 'The search has no word to look for.', {
    errors: [{ parameter: 'search', code: 'empty', detail: 'Give at least one word; spaces only separate words.' }],
  })
}
