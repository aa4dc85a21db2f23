import { type ResourceName, storedFieldsOf } from '@masthead/contract'
import pg from 'pg'
import type { Author } from '../../audit/author.ts'
import type { Statement } from '../../database/connections/statement.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery as Query } from '../../database/tenant-query.ts'
import { doTogether } from '../../database/write-queue.ts'
import { Problem } from '../../problem.ts'
import { missingReference } from '../identifiers.ts'
import { keyOf, searchedText } from '../normalising.ts'
import type { Fields, StoredRecord } from '../stored-record.ts'
import { tables } from '../tables.ts'
import { shardedWrite } from './sharded-write.ts'
import { type Operation, writeStatement } from './write-statement.ts'

/** Who writes, and by which name the tenant's legacy system knows the user. */
export type Writer = { author: Author; actingUser: string | null }

/** A record before and after a write: a new one has no `before`, a removed one no `after`. A field that is absent in them is null. */
export type Change = {
  before: StoredRecord | null
  after: StoredRecord | null
  /** Null where the caller adds one audit entry for many changes. */
  author: Author | null
  /**
   * Absent where no endpoint is told. `userId` is absent where the record names its user itself; with `isNative` the legacy system is not
   * told, because the record or the response says so.
   */
  delivery?: { userId?: string | null; isNative?: boolean }
}

export type Written = { id: string; body: string; position: number }

/** Every write of a resource holds this lock until it commits; who takes several takes them in the order of the alphabet. */
export const lockHead = (query: Query, resource: ResourceName): Promise<unknown> =>
  query({
    text: `insert into heads (tenant_id, resource) values ($1, $2)
      on conflict (tenant_id, resource) do update set last = heads.last`,
    values: [resource],
  })

/** Writes in a transaction that has locked the head of the resource, unless all records are new. */
export const writeRecords = async (
  query: Query,
  resource: ResourceName,
  changes: readonly Change[],
): Promise<Written[]> =>
  (await Promise.all(writeStatements(resource, changes).map((statement) => query<Written>(statement)))).flat()

/** Adds records that nobody is told of and no audit entry tells of, all at the end of the list; returns their bodies. */
export const insertRecords = async (
  query: Query,
  resource: ResourceName,
  records: readonly Fields[],
): Promise<string[]> => {
  const added = records.map((after) => ({ before: null, after: after as StoredRecord, author: null })) // new ones have an id
  const written = await writeRecords(query, resource, added)
  return written.toSorted((one, other) => one.position - other.position).map(({ body }) => body)
}

const writeStatements = (resource: ResourceName, changes: readonly Change[]): Statement[] =>
  operations.flatMap((operation) => {
    const rows = changes.filter((change) => operationOf(change) === operation)
    if (rows.length === 0) return []
    // It would be counted twice and written once.
    if (new Set(rows.map(({ before, after }) => (after ?? before)?.id)).size < rows.length)
      throw new Error('a record changes twice')
    const values = [`[${rows.map((change, index) => rowOf(resource, change, index + 1)).join(',')}]`, rows.length]
    return [{ text: writeStatement(resource, operation), onShards: shardedWrite(resource, operation), values }]
  })

const operations: readonly Operation[] = ['create', 'update', 'remove']

const operationOf = ({ before, after }: Change): Operation => {
  if (after === null) return 'remove'
  return before === null ? 'create' : 'update'
}

/** What a change does to a record, whatever else it changes. */
const actionOf = (resource: ResourceName, { before, after }: Change): string => {
  if (before === null) return 'created'
  if (after === null) return 'removed'
  const isDeleted = isMarkedDeleted(resource, after)
  if (isMarkedDeleted(resource, before) === isDeleted) return 'updated'
  return isDeleted ? 'deleted' : 'restored'
}

const isMarkedDeleted = (resource: ResourceName, record: Fields): boolean =>
  storedFieldsOf(resource).some(({ name, marksDeletion }) => marksDeletion && typeof record[name] === 'string')

/** The row of a write statement, in JSON. */
const rowOf = (resource: ResourceName, change: Change, place: number): string => {
  const { before, after, author, delivery } = change
  const id = (after ?? before)?.id
  const audit = author && { author, before, after }
  const noted = { place, id, ...((author || delivery) && { action: actionOf(resource, change) }), ...audit }
  if (!after) return JSON.stringify(noted)
  const row: Record<string, unknown> = { ...noted, import_id: after.importId }
  for (const { name, column, keyColumn, keyForm } of storedFieldsOf(resource)) {
    const value = after[name]
    // What the row lacks is null.
    if (value === null || value === undefined) continue
    row[column] = value
    if (keyColumn && keyForm) row[keyColumn] = keyOf[keyForm](String(value))
  }
  row.search_text = searchText(resource, after)
  if (before) row.is_new_text = row.search_text !== searchText(resource, before)
  if (delivery) {
    row.is_delivered = true
    if (delivery.isNative) row.is_native = true
    if (delivery.userId !== undefined) row.delivered_user = JSON.stringify(delivery.userId)
  }
  return JSON.stringify(row)
}

/** The normalised text that a search looks into; null for a resource that cannot be searched. */
export const searchText = (resource: ResourceName, fields: Fields): string | null => {
  const searched = tables[resource].listing.search
  if (searched.length === 0) return null
  return searchedText(
    searched
      .map((field) => fields[field])
      .filter((value) => typeof value === 'string')
      .join(' '),
  )
}

/** What a call wants to write. It decides on what the database holds once the heads of `locks` are locked. */
export type Write<T> = {
  /** The heads that it needs to lock before it decides: none where it only adds records. */
  locks: readonly ResourceName[]
  decide: (query: Query) => Promise<Decision<T>>
}

/** The changes, and what the caller gets for the bodies of the written records, by their ids. */
export type Decision<T> = {
  changes: Partial<Record<ResourceName, Change[]>>
  result: (bodies: ReadonlyMap<string, string>) => T
}

/** Writes of one list wait for each other anyway, on its head. Those that wait in this process share a transaction. */
export const write = <T>(tenant: TenantDatabase, list: ResourceName, wanted: Write<T>): Promise<T> =>
  tenant.inBatches(list, wanted, (batch: Write<T>[]) => writeBatch(tenant, batch))

/** A write that is refused is refused by itself, and one that changes what another of the batch changes comes after it. */
const writeBatch = async <T>(tenant: TenantDatabase, batch: Write<T>[]): Promise<PromiseSettledResult<T>[]> => {
  let decisions: PromiseSettledResult<Decision<T>>[] = []
  let late = new Set<Decision<T>>()
  const rows = await tenant
    .write(async (query) => {
      const locks = new Set(batch.flatMap(({ locks }) => locks))
      const locked = [...locks].toSorted().map((resource) => lockHead(query, resource))
      const decided = batch.map(({ decide }) => refusedByItself(decide(query)))
      // What fails first tells why: after a lock that was not to be had, every other statement fails, too.
      ;[decisions] = await Promise.all([Promise.all(decided), ...locked])
      const made = decisions.flatMap((decision) => (decision.status === 'fulfilled' ? [decision.value] : []))
      late = overlapping(made)
      const statements = statementsOf(made.filter((decision) => !late.has(decision)))
      if (statements.length === 0) throw nothingToWrite
      return (query) => Promise.all(statements.map((statement) => query<Written>(statement)))
    })
    .catch((error): Written[][] => {
      if (error === nothingToWrite) return []
      throw batch.length === 1 && decisions[0]?.status === 'fulfilled' ? explained(error, decisions[0].value) : error
    })
  const bodies = new Map(rows.flat().map(({ id, body }) => [id, body]))
  const isLate = (decision?: PromiseSettledResult<Decision<T>>) =>
    decision?.status === 'fulfilled' && late.has(decision.value)
  const again = batch.filter((_wanted, index) => isLate(decisions[index]))
  // What the others did is stored, so whatever becomes of these is their own outcome.
  const outcomes = again.length > 0 ? await doTogether(again, (some) => writeBatch(tenant, some)) : []
  return decisions.flatMap((decision): PromiseSettledResult<T>[] => {
    if (decision.status === 'rejected') return [decision]
    return isLate(decision) ? outcomes.splice(0, 1) : [{ status: 'fulfilled', value: decision.value.result(bodies) }]
  })
}

/** Rolls back a transaction in which every write was refused or found its record as it should be. */
const nothingToWrite = new Error('there is nothing to write')

const refusedByItself = async <T>(decision: Promise<T>): Promise<PromiseSettledResult<T>> => {
  try {
    return { status: 'fulfilled', value: await decision }
  } catch (reason) {
    if (reason instanceof Problem) return { status: 'rejected', reason }
    throw reason
  }
}

/** Those that change a record which an earlier one changes, too: they have not seen what that one does. */
const overlapping = <T>(decisions: readonly Decision<T>[]): Set<Decision<T>> => {
  const changed = new Set<unknown>()
  return new Set(
    decisions.filter(({ changes }) => {
      const ids = Object.values(changes).flatMap((some) => some.flatMap(({ before }) => before?.id ?? []))
      const overlaps = ids.some((id) => changed.has(id))
      for (const id of ids) changed.add(id)
      return overlaps
    }),
  )
}

const statementsOf = (decisions: readonly Decision<unknown>[]): Statement[] => {
  // In the order in which heads are locked.
  const resources = [...new Set(decisions.flatMap(({ changes }) => Object.keys(changes)))].toSorted() as ResourceName[] // they are the keys
  return resources.flatMap((resource) =>
    writeStatements(
      resource,
      decisions.flatMap(({ changes }) => changes[resource] ?? []),
    ),
  )
}

/** Of the constraint of a shard Citus tells no more than the message, in which the number of the shard stands behind the name. */
const isBroken = (error: pg.DatabaseError, name: string): boolean =>
  error.constraint === name || new RegExp(`\\b${name}_\\d+\\b`).test(error.message)

/** A reference that nobody has looked up is looked up by its foreign key. */
const explained = (error: unknown, { changes }: Decision<unknown>): unknown => {
  if (!(error instanceof pg.DatabaseError) || error.code !== '23503') return error
  for (const [resource, some] of Object.entries(changes) as [ResourceName, Change[]][]) // they are its keys
    for (const { name, column, reference } of storedFieldsOf(resource))
      if (reference && isBroken(error, `${resource}_tenant_id_${column}_fkey`))
        return missingReference(reference, String(some[0]?.after?.[name]), name)
  return error
}
