import {
  identifiersOf,
  importKeyOf,
  type Predecessor,
  predecessorOf,
  type ResourceName,
  referrersOf,
  resourceNames,
  storedFieldsOf,
} from '@masthead/contract'
import pg from 'pg'
import { type Author, operator } from '../../audit/author.ts'
import { audit } from '../../audit/queries.ts'
import { inTransaction } from '../../database/connections/statement.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery as Query } from '../../database/tenant-query.ts'
import { beforeFirstId, isUuid } from '../../records/identifiers.ts'
import { changesCursorNow } from '../../records/lists/changes-cursor.ts'
import { imageOf } from '../../records/stored-record.ts'
import { tables } from '../../records/tables.ts'
import { lockHead, writeRecords } from '../../records/writes/write.ts'
import { Refusal } from '../../refusal.ts'
import { addCounts, noteUntold, tellOfImport, type WrittenCounts } from './import-events.ts'
import { withImportLock } from './import-lock.ts'
import { findImport, type Image, type ImportRecord, isRecent, undoDays, undoneCounts } from './journal.ts'

/** A record that an undo left as it is. */
export type Kept = { resource: ResourceName; id: string; name: string | null; reason: string }

export type Undone = {
  id: string
  removed: number
  restored: number
  /** How many were kept; the first thousand are named. */
  keptCount: number
  kept: Kept[]
}

const batchSize = 1_000
const mostNamed = 1_000

type UndoOptions = { author?: Author; signal?: AbortSignal; onProgress?: (done: number) => void }

/** Former values are restored first, because records that the import created may refer to them. */
export const undoImport = (
  tenant: TenantDatabase,
  given: string,
  { author = operator, signal, onProgress }: UndoOptions = {},
): Promise<Undone> =>
  tenant.inBulk((_client, query) =>
    withImportLock(query, async () => {
      const { id } = await findUndoable(query, given)
      const undo: Undo = { query, id, author, signal, counts: await undoneCounts(query, id) }
      const undone: Undone = { id, removed: 0, restored: 0, keptCount: 0, kept: [] }
      await noteUntold(query, id, await changesCursorNow(tenant))
      const add = ({ restored = 0, removed = 0, kept = [] }: Done) => {
        undone.restored += restored
        undone.removed += removed
        undone.keptCount += kept.length
        undone.kept.push(...kept.slice(0, mostNamed - undone.kept.length))
        onProgress?.(undone.restored + undone.removed)
      }
      for (const resource of resourceNames) for await (const done of restoreChanged(undo, resource)) add(done)
      for (const resource of resourceNames.toReversed())
        for await (const done of removeCreated(undo, resource)) add(done)
      await endUndo(undo, () => tellOfImport(query, { type: 'import.undone', importId: id, counts: undo.counts }))
      return undone
    }),
  )

const findUndoable = async (query: Query, id: string): Promise<ImportRecord> => {
  const found = isUuid(id) ? await findImport(query, id) : undefined
  if (!found) throw new Refusal(`there is no import "${id}" in this tenant; \`masthead import list\` shows them`)
  if (found.undoneAt)
    throw new Refusal(
      `this import was undone on ${found.undoneAt.toISOString()}: import its files again to have it back`,
    )
  if (isRecent(found)) return found
  throw new Refusal(
    `an import can be undone for ${undoDays} days; this one began on ${found.startedAt.toISOString()}. Correct its records by another import`,
  )
}

type Done = { restored?: number; removed?: number; kept?: Kept[] }
type Chunk = { first: number; last: number }

type Undo = { query: Query; id: string; author: Author; signal: AbortSignal | undefined; counts: WrittenCounts }

async function* restoreChanged(undo: Undo, resource: ResourceName): AsyncGenerator<Done> {
  for (let after: string | null = beforeFirstId; after !== null; ) {
    const begin: string = after
    const done = await counted(undo, resource, () => restoreBatch(undo, resource, begin))
    yield done
    after = done.last
  }
}

async function* removeCreated(undo: Undo, resource: ResourceName): AsyncGenerator<Done> {
  const { query, id } = undo
  const chunks = await chunksOf(undo, resource)
  const kept = new Set<string>()
  const predecessor = predecessorOf(resource)
  if (predecessor) {
    const found = await query<{ id: string }>({ text: keptPredecessors(predecessor), values: [id] })
    for (const { id } of found) kept.add(id)
    for (const chunk of chunks) await underLocks(undo, resource, () => partSuccessors(undo, predecessor, chunk, kept))
  }
  for (const chunk of chunks) yield counted(undo, resource, () => removeChunk(undo, resource, chunk, kept))
}

/** What is done and its count commit together, so that an undo which continues knows what was done before. */
const counted = async <D extends Done>(undo: Undo, resource: ResourceName, work: () => Promise<D>): Promise<D> => {
  const { query, id } = undo
  let counts = undo.counts
  const done = await underLocks(undo, resource, async () => {
    const done = await work()
    const { restored = 0, removed = 0 } = done
    if (restored + removed === 0) return done
    counts = structuredClone(undo.counts)
    addCounts(counts, resource, { removed, restored })
    const text = 'update imports set undone_counts = $3 where tenant_id = $1 and id = $2'
    await query({ text, values: [id, JSON.stringify(counts)] })
    return done
  })
  undo.counts = counts
  return done
}

/** Splits the positions that the import gave to its records into short transactions. */
const chunksOf = async ({ query, id }: Undo, resource: ResourceName): Promise<Chunk[]> => {
  const ranges = await query<Chunk>({
    text: 'select first, last from import_creations where tenant_id = $1 and import_id = $2 and resource = $3 order by first',
    values: [id, resource],
  })
  return ranges.flatMap(({ first, last }) =>
    Array.from({ length: Math.ceil((last - first + 1) / batchSize) }, (_, index) => ({
      first: first + index * batchSize,
      last: Math.min(last, first + (index + 1) * batchSize - 1),
    })),
  )
}

const endUndo = async ({ query, id, author }: Undo, tell: () => Promise<unknown>) => {
  await query({ text: 'delete from import_changes where tenant_id = $1 and import_id = $2', values: [id] })
  await query({ text: 'delete from import_creations where tenant_id = $1 and import_id = $2', values: [id] })
  await inTransaction(query.withoutTenant, async () => {
    const text = 'update imports set undone_at = now() where tenant_id = $1 and id = $2'
    await query({ text, values: [id] })
    await audit(query, author, [{ action: 'undone', resource: 'imports', recordId: id }])
    await tell()
  })
}

/** A caller may refer to a record in the very moment in which it is removed, so the batch is retried. */
const underLocks = async <T>({ query, signal }: Undo, resource: ResourceName, work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await inTransaction(query.withoutTenant, async () => {
        // The locks also hold back callers of the API, who may add records that refer to those that are removed.
        const heads = [resource, ...referrersOf(resource).map((referrer) => referrer.resource)]
        for (const head of heads.toSorted()) await lockHead(query, head)
        return await work()
      })
    } catch (error) {
      const isReference = error instanceof pg.DatabaseError && error.code === '23503'
      if (!isReference || attempt === 5) throw error
    }
  }
}

/** An image is deleted with its restoration, so that an interrupted undo continues where it stopped. */
const restoreBatch = async ({ query, id, author }: Undo, resource: ResourceName, after: string) => {
  const images = await query<ImageFound>({ text: imagesAfter(resource), values: [id, resource, after, batchSize] })
  const changes = images.flatMap(({ before, current, isUntouched, obstacle }) =>
    current && isUntouched && !obstacle ? [{ before: current, after: before, author }] : [],
  )
  await writeRecords(query, resource, changes)
  await query({
    text: 'delete from import_changes where tenant_id = $1 and import_id = $2 and resource = $3 and record_id = any ($4::uuid[])',
    values: [id, resource, changes.map(({ after }) => after.id)],
  })
  const kept = images
    .filter(({ current, isUntouched, obstacle }) => current && (!isUntouched || obstacle))
    .map(({ before, isUntouched, obstacle }) =>
      keptRecord(resource, before, isUntouched && obstacle ? obstacle : 'changed since'),
    )
  return { restored: changes.length, kept, last: images.at(-1)?.before.id ?? null }
}

const removeChunk = async (
  { query, id, author }: Undo,
  resource: ResourceName,
  { first, last }: Chunk,
  keptPredecessors: ReadonlySet<string>,
) => {
  const found = await query<{ image: Image; isUntouched: boolean; isReferredTo: boolean }>({
    text: `select ${imageOf(resource, 'record')} as image, record.import_id is not distinct from $2 as "isUntouched",
        ${isReferredTo(resource)} as "isReferredTo"
      from ${created(resource)} order by record.position`,
    values: [id, first, last],
  })
  const rows = found.map(({ isReferredTo, ...row }) => ({
    ...row,
    isFree: !isReferredTo && !keptPredecessors.has(row.image.id),
  }))
  const free = rows.filter(({ isUntouched, isFree }) => isUntouched && isFree)
  const removals = free.map(({ image }) => ({ before: image, after: null, author }))
  const removed = await writeRecords(query, resource, removals)
  const kept = rows
    .filter(({ isUntouched, isFree }) => !isUntouched || !isFree)
    .map(({ image, isUntouched }) => keptRecord(resource, image, isUntouched ? 'others refer to it' : 'changed since'))
  return { removed: removed.length, kept }
}

/** A record stays when it is the predecessor of one that stays. The others drop their references, so that they can go. */
const partSuccessors = async (undo: Undo, predecessor: Predecessor, chunk: Chunk, kept: ReadonlySet<string>) => {
  const { resource, name, column } = predecessor
  const rows = await undo.query<{ image: Image }>({
    text: `select ${imageOf(resource, 'record')} as image from ${created(resource)} and record.import_id = $2
      and record.${column} is not null`,
    values: [undo.id, chunk.first, chunk.last],
  })
  const parted = rows.filter(({ image }) => !kept.has(image.id))
  const changes = parted.map(({ image }) => ({
    before: image,
    after: { ...image, [name]: null },
    author: null,
  }))
  return writeRecords(undo.query, resource, changes)
}

const keptRecord = (resource: ResourceName, image: Image, reason: string): Kept => {
  const key = importKeyOf(resource)
  const name = key && image[key.name]
  return { resource, id: image.id, name: typeof name === 'string' ? name : null, reason }
}

/** Records at the positions from $3 to $4, which are all of one import. The index holds positions by class. */
const created = (resource: ResourceName): string =>
  `${resource} as record
    where record.tenant_id = $1 and record.class = any (${classesOf(resource)})
      and record.position between $3 and $4`

const classesOf = (resource: ResourceName): string => {
  const classes = Array.from({ length: tables[resource].classCount }, (_, index) => index)
  return `array[${classes.join(', ')}]::smallint[]`
}

/** Records of the import ($2) that are predecessors of one that it did not create, or that changed since. */
const keptPredecessors = ({ resource, column }: Predecessor): string => `
  with recursive created as (
    select record.id, record.${column}
    from import_creations as creation join ${resource} as record
      on record.tenant_id = $1 and record.class = any (${classesOf(resource)}) and record.position between creation.first and creation.last
    where creation.tenant_id = $1 and creation.import_id = $2 and creation.resource = '${resource}'
      and record.import_id = $2
  ), kept as (
    select created.id, created.${column}
    from created join ${resource} as successor on successor.tenant_id = $1 and successor.${column} = created.id
    where not exists (select from created as other where other.id = successor.id)
    union
    select created.id, created.${column} from created join kept on created.id = kept.${column}
  )
  select id from kept`

/** Whether a record of another resource refers to it. Those of its own are found for all of them at once. */
const isReferredTo = (resource: ResourceName): string => {
  const key = identifiersOf(resource).canonical.column
  const references = referrersOf(resource).map(
    ({ resource: other, field: { column } }) =>
      `exists (select from ${other} as other where other.tenant_id = $1 and other.${column} = record.${key})`,
  )
  return `(${references.join(' or ') || 'false'})`
}

type ImageFound = {
  before: Image
  current: Image | null
  /** Nobody wrote the record since. */
  isUntouched: boolean
  /** Why the former values cannot come back. */
  obstacle: string | null
}

const imagesAfter = (resource: ResourceName): string => {
  const gone = storedFieldsOf(resource).flatMap(({ name, reference }) => {
    if (!reference) return []
    const { column, kind } = identifiersOf(reference).canonical
    const value = `(image.before ->> '${name}')::${kind}`
    return `when ${value} is not null and not exists (select from ${reference} as other where other.tenant_id = $1 and other.${column} = ${value}) then 'its \`${name}\` is gone'`
  })
  const key = importKeyOf(resource)
  const taken =
    key &&
    `when exists (select from ${resource} as other where other.tenant_id = $1 and other.${key.column} = image.before ->> '${key.name}'
      and other.id <> image.record_id) then 'its \`${key.name}\` belongs to another record'`
  const obstacles = taken ? [...gone, taken] : gone
  return `select image.before, case when record.id is not null then ${imageOf(resource, 'record')} end as current,
      record.import_id is not distinct from $2 as "isUntouched", ${obstacles.length > 0 ? `case ${obstacles.join(' ')} end` : 'null'} as obstacle
    from import_changes as image left join ${resource} as record on record.tenant_id = $1 and record.id = image.record_id
    where image.tenant_id = $1 and image.import_id = $2 and image.resource = $3 and image.record_id > $4::uuid
    order by image.record_id limit $5`
}
