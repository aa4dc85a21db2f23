import { type ResourceName, storedFieldsOf } from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { audit } from '../../audit/queries.ts'
import type { TenantQuery as Query } from '../../database/tenant-query.ts'
import { imageOf, type StoredRecord } from '../../records/stored-record.ts'
import { lockHead, writeRecords } from '../../records/write.ts'
import { storeChanges, storeCreations } from './journal.ts'
import { judgementTable, lateTable } from './judgement.ts'
import type { Pace } from './pace.ts'
import { missingTable } from './prune.ts'
import { keyColumn, stagingTable } from './staged-rows.ts'

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
  const text = `select ${imageOf(resource, 'staged', '$4::uuid')} as record
    from ${judgementTable(resource)} as judged join ${stagingTable(resource)} as staged on staged.number = judged.number
    where current_tenant() = $1 and judged.action = 'create' and judged.place between $2 and $3
      ${mayBeOvertaken(resource) ? `and not ${isThere(resource)}` : ''}
    order by judged.place`
  const { importId, author } = batch
  const places = `${judgementTable(resource)} where action = 'create'`
  const part = { resource, places, most: mostCreated, text, values: [importId] }
  const overtaken = await inBatches<{ record: StoredRecord }>(query, batch, part, async (rows) => {
    const added = rows.map(({ record }) => ({ before: null, after: record, author: null }))
    const written = await writeRecords(query, resource, added)
    const [start, end] = [written[0], written.at(-1)]
    if (start && end) {
      await storeCreations(query, importId, resource, start.position, end.position)
      // One event per batch suffices: the record itself, or the event of its first change, has the values.
      const after = JSON.stringify({ resource, count: written.length })
      await audit(query, author, [{ action: 'created', resource: 'imports', recordId: importId, after }])
    }
  })
  if (overtaken > 0) await query({ text: turnIntoChanges(resource), values: [importId] })
}

/** Only accounts can be created through the API under a key that a file may use too. */
const mayBeOvertaken = (resource: ResourceName): boolean => resource === 'accounts'

const isThere = (resource: ResourceName): string =>
  `exists (select from ${resource} as record where record.tenant_id = $1 and record.${keyColumn(resource)} = staged.${keyColumn(resource)})`

/** Others have created these records since the rows were judged. */
const turnIntoChanges = (resource: ResourceName): string => `
  insert into ${judgementTable(resource)} (number, record, action, place)
  select judged.number, record.id, 'change', row_number() over (order by judged.number)
    + (select count(*) from ${judgementTable(resource)} where action = 'change')
  from ${judgementTable(resource)} as judged
  join ${stagingTable(resource)} as staged on staged.number = judged.number
  join ${resource} as record on record.tenant_id = $1 and record.${keyColumn(resource)} = staged.${keyColumn(resource)}
  where judged.action = 'create' and record.import_id is distinct from $2::uuid`

/** Changes the record as it is now, whatever it was when the rows were judged. */
export const applyChanges = async (query: Query, resource: ResourceName, batch: Batch): Promise<void> => {
  const fields = storedFieldsOf(resource).map(({ name }) => name)
  const text = `select ${imageOf(resource, 'record')} as before, ${imageOf(resource, 'staged', 'null')} as staged, staged.given
    from ${judgementTable(resource)} as judged
    join ${stagingTable(resource)} as staged on staged.number = judged.number
    join ${resource} as record on record.tenant_id = $1 and record.id = judged.record
    where judged.action = 'change' and judged.place between $2 and $3`
  const part = { resource, places: `${judgementTable(resource)} where action = 'change'`, most: mostChanged, text }
  type Pair = { before: StoredRecord; staged: StoredRecord; given: number }
  await inBatches<Pair>(query, batch, part, (pairs) => {
    const changes = pairs.map(({ before, staged, given }) => {
      const isGiven = (field: string) => (given & (1 << fields.indexOf(field))) !== 0
      const changed = Object.fromEntries(fields.filter(isGiven).map((field) => [field, staged[field]]))
      // A new status opens or closes an invoice, unless the file says which.
      if (resource === 'invoices' && !isGiven('isOpen') && isGiven('status') && changed.status !== before.status) {
        changed.isOpen = staged.isOpen
      }
      if (fields.includes('updatedAt') && !isGiven('updatedAt')) changed.updatedAt = batch.now
      return { before, after: { ...before, ...changed, id: before.id, importId: batch.importId } }
    })
    return write(query, resource, batch, changes)
  })
}

/** Marks what a full file no longer holds as deleted. */
export const applyPrune = async (query: Query, resource: ResourceName, batch: Batch): Promise<void> => {
  const places = missingTable(resource)
  const text = `select ${imageOf(resource, 'record')} as before
    from ${places} as missing join ${resource} as record
      on record.tenant_id = $1 and record.id = missing.record and record.deleted_at is null
    where missing.place between $2 and $3`
  const deleted = { deletedAt: batch.now, updatedAt: batch.now, importId: batch.importId }
  const part = { resource, places, most: mostChanged, text }
  await inBatches<{ before: StoredRecord }>(query, batch, part, (rows) => {
    const changes = rows.map(({ before }) => ({ before, after: { ...before, ...deleted } }))
    return write(query, resource, batch, changes)
  })
}

/** It adds no audit event, because the file gave the predecessor with the row. */
export const applyLatePredecessors = async (query: Query, batch: Batch): Promise<void> => {
  const resource = 'subscriptions'
  const text = `select ${imageOf(resource, 'record')} as before, late.renewed_from_subs_id as predecessor
    from ${lateTable} as late join subscriptions as record on record.tenant_id = $1 and record.id = late.id
    where late.place between $2 and $3 and record.import_id = $4`
  const part = { resource, places: lateTable, most: mostChanged, text, values: [batch.importId] } as const
  await inBatches<{ before: StoredRecord; predecessor: string }>(query, batch, part, (rows) => {
    const after = (row: (typeof rows)[number]) => ({ ...row.before, renewedFromSubsId: row.predecessor })
    return writeRecords(
      query,
      resource,
      rows.map((row) => ({ before: row.before, after: after(row), author: null })),
    )
  })
}

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

/** A signal ends the work between two batches. Returns how many places had no row any more. */
const inBatches = async <R>(
  query: Query,
  { onRows, signal, pace }: Batch,
  { resource, places, most, text, values = [] }: Part,
  work: (rows: R[]) => Promise<unknown>,
): Promise<number> => {
  const [counted] = await query.withoutTenant<{ count: number }>({ text: `select count(*) from ${places}` })
  const total = counted?.count ?? 0
  let missing = total
  for (let first = 1, last = 0; first <= total; first = last + 1) {
    signal.throwIfAborted()
    last = Math.min(total, first + pace.portion(most) - 1)
    await query.withoutTenant({ text: 'begin' })
    try {
      // A separate statement, so that the next one sees everything that was written before the lock was free.
      await lockHead(query, resource)
      const rows = await query<R>({ text, values: [first, last, ...values] })
      missing -= rows.length
      await work(rows)
      await query.withoutTenant({ text: 'commit' })
    } catch (error) {
      await query.withoutTenant({ text: 'rollback' }).catch(() => {})
      throw error
    }
    onRows(last - first + 1)
    await pace.rest()
  }
  return missing
}
