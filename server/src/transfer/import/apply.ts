import {
  importKeyOf,
  predecessorOf,
  type Resource,
  type ResourceName,
  resources,
  storedFieldsOf,
} from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { audit } from '../../audit/queries.ts'
import { inTransaction } from '../../database/connections/statement.ts'
import type { TenantQuery as Query } from '../../database/tenant-query.ts'
import { type Fields, imageOf, type StoredRecord } from '../../records/stored-record.ts'
import { lockHead, writeRecords } from '../../records/writes/write.ts'
import { followedName } from '../../values.ts'
import type { Pace } from '../pace.ts'
import { storeChanges, storeCreations } from './journal.ts'
import { judgementTable, lateTable } from './staging/judgement.ts'
import { missingTable } from './staging/prune.ts'
import { stagingTable } from './staging/staged-rows.ts'

/** How many records one transaction creates or changes, so that other writers hardly wait. */
const [mostCreated, mostChanged] = [2_500, 1_000]

export type Batch = {
  importId: string
  author: Author
  now: string
  onRows: (count: number) => void
  signal: AbortSignal
  pace: Pace
}

export const applyCreations = async (query: Query, resource: ResourceName, batch: Batch): Promise<void> => {
  const text = `select staged.number, json_strip_nulls(${imageOf(resource, 'staged', '$4::uuid')}) as record
    from ${judgementTable(resource)} as judged join ${stagingTable(resource)} as staged on staged.number = judged.number
    where current_tenant() = $1 and judged.action = 'create' and judged.place between $2 and $3
    order by judged.place`
  const { importId, author } = batch
  const places = `${judgementTable(resource)} where action = 'create'`
  const part = { resource, places, most: mostCreated, text, values: [importId] }
  const overtaken: { number: number; record: string }[] = []
  await inBatches<{ number: number; record: StoredRecord }>(query, batch, part, async (rows) => {
    const existingId = await findOvertaken(query, resource, rows)
    const added = rows.flatMap(({ number, record }) => {
      const existing = existingId(record)
      if (existing === undefined) return [{ before: null, after: record, author: null }]
      overtaken.push({ number, record: existing })
      return []
    })
    const written = await writeRecords(query, resource, added)
    if (written.length > 0) {
      const positions = written.map(({ position }) => position)
      await storeCreations(query, importId, resource, Math.min(...positions), Math.max(...positions))
      // One event per batch suffices: the record itself, or the event of its first change, has the values.
      const after = JSON.stringify({ resource, count: written.length })
      await audit(query, author, [{ action: 'created', resource: 'imports', recordId: importId, after }])
    }
  })
  if (overtaken.length > 0) await turnIntoChanges(query, resource, overtaken)
}

/** The API gives what it creates a business identifier, which a file may use too. All other import keys come from files alone. */
const mayBeOvertaken = (resource: ResourceName): boolean => {
  const { businessIdentifier, operations }: Resource = resources[resource]
  const isCreated = Object.values(operations).some(({ method, path }) => method === 'POST' && path === `/${resource}`)
  return isCreated && businessIdentifier !== undefined && businessIdentifier === importKeyOf(resource)?.name
}

/** Tells the id of the record that others have created under the key of a row since it was judged. */
const findOvertaken = async (query: Query, resource: ResourceName, rows: readonly { record: StoredRecord }[]) => {
  const key = importKeyOf(resource)
  if (!key || !mayBeOvertaken(resource)) return () => undefined
  const found = await query<{ key: string; id: string }>({
    text: `select ${key.column} as key, id from ${resource} where tenant_id = $1 and ${key.column} = any ($2)`,
    values: [rows.map(({ record }) => record[key.name])],
  })
  const ids = new Map<unknown, string>(found.map(({ key, id }) => [key, id]))
  return (record: StoredRecord) => ids.get(record[key.name])
}

const turnIntoChanges = (query: Query, resource: ResourceName, rows: { number: number; record: string }[]) => {
  const table = judgementTable(resource)
  return query.withoutTenant({
    text: `insert into ${table} (number, record, action, place)
      select number, record, 'change', row_number() over (order by number) + (select count(*) from ${table} where action = 'change')
      from json_to_recordset($1) as overtaken (number bigint, record uuid)`,
    values: [JSON.stringify(rows)],
  })
}

/** The records of these ids as they are now, whatever they were when the rows were judged. */
const recordsOf = async (query: Query, resource: ResourceName, ids: readonly string[]) => {
  const found = await query<{ record: StoredRecord }>({
    text: `select ${imageOf(resource, 'record')} as record from ${resource} as record where tenant_id = $1 and id = any ($2::uuid[])`,
    values: [ids],
  })
  return new Map(found.map(({ record }) => [record.id, record]))
}

export const applyChanges = async (query: Query, resource: ResourceName, batch: Batch): Promise<void> => {
  const { openness }: Resource = resources[resource]
  const fields = storedFieldsOf(resource).map(({ name }) => name)
  const text = `select judged.record as id, ${imageOf(resource, 'staged', 'null')} as staged, staged.given
    from ${judgementTable(resource)} as judged join ${stagingTable(resource)} as staged on staged.number = judged.number
    where current_tenant() = $1 and judged.action = 'change' and judged.place between $2 and $3`
  const part = { resource, places: `${judgementTable(resource)} where action = 'change'`, most: mostChanged, text }
  type Row = { id: string; staged: StoredRecord; given: number }
  await inBatches<Row>(query, batch, part, async (rows) => {
    const records = await recordsOf(query, resource, idsOf(rows))
    const changes = rows.flatMap(({ id, staged, given }) => {
      const before = records.get(id)
      if (!before) return []
      const isGiven = (field: string) => (given & (1 << fields.indexOf(field))) !== 0
      const changed = Object.fromEntries(fields.filter(isGiven).map((field) => [field, staged[field]]))
      // A new status opens or closes a record, unless the file says which.
      if (openness && !isGiven(openness.field) && isGiven(openness.status)) {
        const { field, status } = openness
        if (changed[status] !== before[status]) changed[field] = staged[field]
      }
      if (resource === 'contacts' && !isGiven('name') && (isGiven('firstName') || isGiven('lastName'))) {
        changed.name = followedName(namesOf(before), namesOf({ ...before, ...changed }))
      }
      if (fields.includes('updatedAt') && !isGiven('updatedAt')) changed.updatedAt = batch.now
      return [{ before, after: { ...before, ...changed, id: before.id, importId: batch.importId } }]
    })
    await write(query, resource, batch, changes)
  })
}

const namesOf = ({ name, firstName, lastName }: Fields) => {
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return { name: text(name), firstName: text(firstName), lastName: text(lastName) }
}

/** Marks what a full file no longer holds as deleted. */
export const applyPrune = async (query: Query, resource: ResourceName, batch: Batch): Promise<void> => {
  const places = missingTable(resource)
  const text = `select record as id from ${places} where current_tenant() = $1 and place between $2 and $3`
  const deleted = { deletedAt: batch.now, updatedAt: batch.now, importId: batch.importId }
  await inBatches<{ id: string }>(query, batch, { resource, places, most: mostChanged, text }, async (rows) => {
    const records = [...(await recordsOf(query, resource, idsOf(rows))).values()]
    const changes = records
      .filter(({ deletedAt }) => deletedAt === null)
      .map((before) => ({ before, after: { ...before, ...deleted } }))
    await write(query, resource, batch, changes)
  })
}

/** It adds no audit event, because the file gave the predecessor with the row. */
export const applyLatePredecessors = async (query: Query, resource: ResourceName, batch: Batch): Promise<void> => {
  const field = predecessorOf(resource)
  if (!field) return
  const places = lateTable(resource)
  const text = `select id, ${field.column} as predecessor from ${places}
    where current_tenant() = $1 and place between $2 and $3`
  const part = { resource, places, most: mostChanged, text }
  await inBatches<{ id: string; predecessor: string }>(query, batch, part, async (rows) => {
    const records = await recordsOf(query, resource, idsOf(rows))
    const changes = rows.flatMap(({ id, predecessor }) => {
      const before = records.get(id)
      if (before?.importId !== batch.importId) return []
      return [{ before, after: { ...before, [field.name]: predecessor }, author: null }]
    })
    await writeRecords(query, resource, changes)
  })
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)

const write = async (
  query: Query,
  resource: ResourceName,
  { importId, author }: Batch,
  changes: readonly { before: StoredRecord; after: StoredRecord }[],
): Promise<void> => {
  const images = changes.map(({ before }) => before)
  await storeChanges(query, importId, resource, images)
  const authored = changes.map((change) => ({ ...change, author }))
  await writeRecords(query, resource, authored)
}

/** The rows of `places` are numbered from 1 in `place`; `text` selects those from $2 to $3. */
type Part = { resource: ResourceName; places: string; most: number; text: string; values?: readonly unknown[] }

/** A signal ends the work between two batches. */
const inBatches = async <R>(
  query: Query,
  { onRows, signal, pace }: Batch,
  { resource, places, most, text, values = [] }: Part,
  work: (rows: R[]) => Promise<unknown>,
): Promise<void> => {
  const [counted] = await query.withoutTenant<{ count: number }>({ text: `select count(*) from ${places}` })
  const total = counted?.count ?? 0
  let size = most / 4
  for (let first = 1, last = 0; first <= total; first = last + 1) {
    signal.throwIfAborted()
    last = Math.min(total, first + Math.min(size, pace.portion(most)) - 1)
    const rows = last - first + 1
    const locked = await inTransaction(query.withoutTenant, async () => {
      // A separate statement, so that the next ones see everything that was written before the lock was free.
      await lockHead(query, resource)
      const now = performance.now()
      await work(await query<R>({ text, values: [first, last, ...values] }))
      return now
    })
    size = fitting(rows, most, performance.now() - locked)
    onRows(rows)
    await pace.rest()
  }
}

/**
 * Other writers of the list wait for the batch, and are refused after three seconds. So batches become smaller where the
 * machine is slow or busy, and larger where they end soon.
 */
const fitting = (rows: number, most: number, took: number): number => {
  if (took > 1_000) return Math.max(Math.floor(rows / 2), most / 100)
  return took < 300 ? Math.min(rows * 2, most) : rows
}
