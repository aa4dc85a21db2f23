import { type ResourceName, storedFieldsOf } from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { audit } from '../../audit/queries.ts'
import type { TenantQuery as Query } from '../../database/tenant-query.ts'
import { imageOf, type StoredRecord } from '../../records/stored-record.ts'
import { lockHead, writeRecords } from '../../records/write.ts'
import { storeChanges, storeCreations } from './journal.ts'
import { type Action, judgementTable, lateTable } from './judgement.ts'
import { missingTable } from './prune.ts'
import { keyColumn, stagingTable } from './staged-rows.ts'

/** Each batch is a transaction that is short enough that other writers hardly wait. */
const batchSize = { create: 2_500, change: 1_000 }

export type Batch = {
  importId: string
  author: Author
  now: string
  onRows: (count: number) => void
  signal: AbortSignal
}

export const applyCreations = async (bulk: Query, resource: ResourceName, batch: Batch): Promise<void> => {
  const text = `select ${imageOf(resource, 'staged', '$4::uuid')} as record
    from ${judgementTable(resource)} as judged join ${stagingTable(resource)} as staged on staged.number = judged.number
    where current_tenant() = $1 and judged.action = 'create' and judged.place between $2 and $3
      ${mayBeOvertaken(resource) ? `and not ${isThere(resource)}` : ''}
    order by judged.place`
  let overtaken = 0
  await inBatches(bulk, countOf(resource, 'create'), batchSize.create, batch, async (query, first, last) => {
    // A separate statement, so that the next one sees everything that was written before the lock was free.
    await lockHead(query, resource)
    const rows = await query<{ record: StoredRecord }>({ text, values: [first, last, batch.importId] })
    const added = rows.map(({ record }) => ({ before: null, after: record, author: null }))
    const written = await writeRecords(query, resource, added)
    const [start, end] = [written[0], written.at(-1)]
    if (start && end) {
      await storeCreations(query, batch.importId, resource, start.position, end.position)
      // One event per batch suffices: the record itself, or the event of its first change, has the values.
      const after = JSON.stringify({ resource, count: written.length })
      await audit(query, batch.author, [{ action: 'created', resource: 'imports', recordId: batch.importId, after }])
    }
    overtaken += last - first + 1 - rows.length
  })
  if (overtaken > 0) await bulk({ text: turnIntoChanges(resource), values: [batch.importId] })
}

/** Only accounts can be created through the API under a key that a file may use too. */
const mayBeOvertaken = (resource: ResourceName): boolean => resource === 'accounts'

const isThere = (resource: ResourceName): string =>
  `exists (select from ${resource} as record where record.tenant_id = $1 and record.${keyColumn(resource)} = staged.${keyColumn(resource)})`

/** Others have created these records since the rows were judged. */
const turnIntoChanges = (resource: ResourceName): string => `
  insert into ${judgementTable(resource)} (number, file, record, action, place)
  select judged.number, judged.file, record.id, 'change', row_number() over (order by judged.number)
    + (select count(*) from ${judgementTable(resource)} where action = 'change')
  from ${judgementTable(resource)} as judged
  join ${stagingTable(resource)} as staged on staged.number = judged.number
  join ${resource} as record on record.tenant_id = $1 and record.${keyColumn(resource)} = staged.${keyColumn(resource)}
  where judged.action = 'create' and record.import_id is distinct from $2::uuid`

/** Changes the record as it is now, whatever it was when the rows were judged. */
export const applyChanges = async (bulk: Query, resource: ResourceName, batch: Batch): Promise<void> => {
  const fields = storedFieldsOf(resource).map(({ name }) => name)
  const rows = `${judgementTable(resource)} as judged
    join ${stagingTable(resource)} as staged on staged.number = judged.number
    join ${resource} as record on record.tenant_id = $1 and record.id = judged.record`
  const text = `select ${imageOf(resource, 'record')} as before, ${imageOf(resource, 'staged', 'null')} as staged, staged.given
    from ${rows} where judged.action = 'change' and judged.place between $2 and $3`
  await inBatches(bulk, countOf(resource, 'change'), batchSize.change, batch, async (query, first, last) => {
    await lockHead(query, resource)
    type Pair = { before: StoredRecord; staged: StoredRecord; given: number }
    const pairs = await query<Pair>({ text, values: [first, last] })
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
    await write(query, resource, batch, changes)
  })
}

/** Marks what a full file no longer holds as deleted. */
export const applyPrune = async (bulk: Query, resource: ResourceName, batch: Batch): Promise<void> => {
  const missing = missingTable(resource)
  const text = `select ${imageOf(resource, 'record')} as before
    from ${missing} as missing join ${resource} as record
      on record.tenant_id = $1 and record.id = missing.record and record.deleted_at is null
    where missing.place between $2 and $3`
  await inBatches(bulk, `select count(*) from ${missing}`, batchSize.change, batch, async (query, first, last) => {
    await lockHead(query, resource)
    const rows = await query<{ before: StoredRecord }>({ text, values: [first, last] })
    const deleted = { deletedAt: batch.now, updatedAt: batch.now, importId: batch.importId }
    const changes = rows.map(({ before }) => ({ before, after: { ...before, ...deleted } }))
    await write(query, resource, batch, changes)
  })
}

/** It adds no audit event, because the file gave the predecessor with the row. */
export const applyLatePredecessors = async (bulk: Query, batch: Batch): Promise<void> => {
  const text = `select ${imageOf('subscriptions', 'record')} as before, late.renewed_from_subs_id as predecessor
    from ${lateTable} as late join subscriptions as record on record.tenant_id = $1 and record.id = late.id
    where late.place between $2 and $3 and record.import_id = $4`
  await inBatches(bulk, `select count(*) from ${lateTable}`, batchSize.change, batch, async (query, first, last) => {
    await lockHead(query, 'subscriptions')
    const values = [first, last, batch.importId]
    const rows = await query<{ before: StoredRecord; predecessor: string }>({ text, values })
    const changes = rows.map(({ before, predecessor }) => {
      return { before, after: { ...before, renewedFromSubsId: predecessor }, author: null }
    })
    await writeRecords(query, 'subscriptions', changes)
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

const countOf = (resource: ResourceName, action: Action): string =>
  `select count(*) from ${judgementTable(resource)} where action = '${action}'`

/** Rows are numbered from 1; a signal ends the work between two batches. */
const inBatches = async (
  bulk: Query,
  count: string,
  size: number,
  { onRows, signal }: Batch,
  work: (query: Query, first: number, last: number) => Promise<void>,
): Promise<void> => {
  const [counted] = await bulk.withoutTenant<{ count: number }>({ text: count })
  const total = counted?.count ?? 0
  for (let first = 1; first <= total; first += size) {
    signal.throwIfAborted()
    const last = Math.min(total, first + size - 1)
    await bulk.withoutTenant({ text: 'begin' })
    try {
      await work(bulk, first, last)
      await bulk.withoutTenant({ text: 'commit' })
    } catch (error) {
      await bulk.withoutTenant({ text: 'rollback' }).catch(() => {})
      throw error
    }
    onRows(last - first + 1)
  }
}
