import { fieldOf, identifiersOf, type Resource, type ResourceName, resources } from '@masthead/contract'
import { V7Generator } from 'uuidv7'
import type { KeyedStatement } from '../database/batched-reads.ts'
import type { TenantDatabase } from '../database/database.ts'
import type { TenantQuery } from '../database/tenant-query.ts'
import { invalidProperty, Problem } from '../problem.ts'
import { type Fields, hiddenOf, type StoredRecord } from './stored-record.ts'

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => uuidShape.test(text)

/** Every record's id comes after it. */
export const beforeFirstId = '00000000-0000-0000-0000-000000000000'

/** No record can be named by a text that PostgreSQL cannot hold. */
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

type Name = { column: string; type: 'uuid' | 'text' }

/** The column by which a record can be named so, its `id` or its business identifier; null when nothing can have that name. */
const namedBy = (resource: ResourceName, given: string): Name | null => {
  const { businessIdentifier }: Resource = resources[resource]
  if (isUuid(given)) return { column: 'id', type: 'uuid' }
  if (!businessIdentifier || !isStorable(given)) return null
  return { column: fieldOf(resource, businessIdentifier).column, type: 'text' }
}

/** The record that the caller named in the path, by either identifier, to be sent as it is. */
export const readRecord = async (
  tenant: TenantDatabase,
  resource: ResourceName,
  given: string,
): Promise<{ body: Buffer }> => {
  const statement = bodyStatement(resource, given)
  const body = statement && (await tenant.bodyOf(statement))
  if (body) return { body }
  throw notFound(resource, given)
}

/** The same within a transaction, with all that is stored of it. */
export const getRecord = async (
  query: TenantQuery,
  resource: ResourceName,
  given: string,
): Promise<{ body: string; record: StoredRecord }> => {
  const by = namedBy(resource, given)
  const [row] = by
    ? await query<{ body: string; hidden: Fields }>({
        text: `select body, ${hiddenOf(resource)} as hidden from ${resource} as record
          where ${isNamed(by)}`,
        values: [given],
      })
    : []
  if (row) return { body: row.body, record: { ...JSON.parse(row.body), ...row.hidden } }
  throw notFound(resource, given)
}

/** Finds its body, and those of others that are named in the same way. */
export const bodyStatement = (resource: ResourceName, given: string): KeyedStatement | null => {
  const by = namedBy(resource, given)
  if (!by) return null
  const { column, type } = by
  const text = `select ${column} as key, body from ${resource} where tenant_id = $1 and ${column} = any ($2::${type}[])`
  return { text, key: type === 'uuid' ? given.toLowerCase() : given }
}

const isNamed = ({ column, type }: Name): string => `tenant_id = $1 and ${column} = $2::${type}`

const notFound = (resource: ResourceName, given: string): Problem =>
  new Problem('not_found', `There is no ${describe(resource, given)} in this tenant.`)

/** The form in which other records refer to a record, by whichever identifier the caller named it. */
export const findReference = async (
  query: TenantQuery,
  resource: ResourceName,
  given: string,
): Promise<string | null> => {
  const by = namedBy(resource, given)
  if (!by) return null
  const { column } = identifiersOf(resource).canonical
  const [row] = await query<{ canonical: string }>({
    text: `select ${column} as canonical from ${resource} where ${isNamed(by)}`,
    values: [given],
  })
  return row?.canonical ?? null
}

/** The ids of those records among the named ones that exist or are named by an id. */
export const findIds = async (query: TenantQuery, resource: ResourceName, given: string[]): Promise<string[]> => {
  const named = given.map((name) => ({ name, by: namedBy(resource, name) }))
  const ids = named.flatMap(({ name, by }) => (by?.type === 'uuid' ? [name.toLowerCase()] : []))
  const others = named.flatMap(({ name, by }) => (by?.type === 'text' ? [name] : []))
  if (others.length === 0) return ids
  const { column } = fieldOf(resource, (resources[resource] as Resource).businessIdentifier ?? 'id') // as the contract declares it
  const rows = await query<{ id: string }>({
    text: `select id from ${resource} where tenant_id = $1 and ${column} = any ($2::text[])`,
    values: [others],
  })
  return [...ids, ...rows.map(({ id }) => id)]
}

/**
 * The same for a property of a body, which must name one that exists. What is in this form already is not looked up: the foreign
 * key of the record that refers to it does that.
 */
export const requireReference = async (
  query: TenantQuery,
  resource: ResourceName,
  given: string,
  property: string,
): Promise<string> => {
  const isCanonical = isUuid(given) === (identifiersOf(resource).canonical.kind === 'uuid')
  if (isCanonical && isStorable(given)) return isUuid(given) ? given.toLowerCase() : given
  const canonical = await findReference(query, resource, given)
  if (canonical !== null) return canonical
  throw missingReference(resource, given, property)
}

export const missingReference = (resource: ResourceName, given: string, property: string): Problem =>
  invalidProperty(property, 'not_found', `There is no ${describe(resource, given)} in this tenant.`)

const describe = (resource: ResourceName, given: string): string =>
  `${resources[resource].singular} "${given.slice(0, 100)}"`

const generator = new V7Generator()
// A clock that is set back by more than ten seconds would otherwise restart the generator, and ids would descend.
generator.setRollbackAllowance(2 ** 48 - 1)

/** UUIDv7 (RFC 9562). The ids that one process makes ascend. */
export const newId = (): string => generator.generate().toString()
