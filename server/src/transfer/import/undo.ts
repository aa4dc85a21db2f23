import {
  identifiersOf,
  importKeyOf,
  type ResourceName,
  referrersOf,
  resourceNames,
  storedFieldsOf,
} from '@masthead/contract'
import pg from 'pg'
import { type Author, operator } from '../../audit/author.ts'
import { auditValues } from '../../audit/queries.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery as Query } from '../../database/tenant-query.ts'
import { isUuid } from '../../records/identifiers.ts'
import { imageOf } from '../../records/stored-record.ts'
import { tables } from '../../records/tables.ts'
import { lockHead, writeRecords } from '../../records/write.ts'
import { Refusal } from '../../refusal.ts'
import { withImportLock } from './import-lock.ts'
import { findImport, type Image, undoDays } from './journal.ts'

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

export type UndoOptions = { author?: Author; signal?: AbortSignal; onProgress?: (done: number) => void }

/** Takes back what an import wrote and nobody changed since: former values first, because what it made may refer to them. */
export const undoImport = (tenant: TenantDatabase, id: string, options: UndoOptions = {}): Promise<Undone> =>
  tenant.inBulk((_client, query) =>
    withImportLock(query, async () => {
      await requireUndoable(query, id)
      const undo = new Undo(query, id, options)
      for (const resource of resourceNames) await undo.restoreChanged(resource)
      for (const resource of [...resourceNames].reverse()) await undo.removeCreated(resource)
      return undo.end()
    }),
  )

const requireUndoable = async (query: Query, id: string): Promise<void> => {
  const found = isUuid(id) ? await findImport(query, id) : undefined
  if (!found) throw new Refusal(`there is no import "${id}" in this tenant; \`masthead import list\` shows them`)
  if (found.undoneAt) throw new Refusal(`this import was undone on ${found.undoneAt.toISOString()}`)
  if (found.startedAt.getTime() >= Date.now() - undoDays * 86_400_000) return
  throw new Refusal(`an import can be undone for ${undoDays} days; this one began on ${found.startedAt.toISOString()}`)
}

type Done = { restored?: number; removed?: number; kept?: Kept[] }
type Chunk = { first: number; last: number }

class Undo {
  readonly #query: Query
  readonly #id: string
  readonly #options: UndoOptions
  readonly #author: Author
  readonly #undone: Undone

  constructor(query: Query, id: string, options: UndoOptions) {
    this.#query = query
    this.#id = id
    this.#options = options
    this.#author = options.author ?? operator
    this.#undone = { id, removed: 0, restored: 0, keptCount: 0, kept: [] }
  }

  async restoreChanged(resource: ResourceName): Promise<void> {
    for (let after: string | null = '00000000-0000-0000-0000-000000000000'; after !== null; ) {
      const begin: string = after
      const done = await this.#inTransaction(resource, (query) =>
        restoreBatch(query, this.#author, this.#id, resource, begin),
      )
      this.#note(done)
      after = done.last
    }
  }

  async removeCreated(resource: ResourceName): Promise<void> {
    const chunks = await this.#chunks(resource)
    if (resource === 'subscriptions') {
      await this.#query.withoutTenant({ text: 'create temp table kept_predecessors (id uuid)' })
      await this.#query({ text: keptPredecessors(), values: [this.#id] })
      for (const chunk of chunks) await this.#inTransaction(resource, (query) => partRenewals(query, this.#id, chunk))
    }
    for (const chunk of chunks) {
      this.#note(
        await this.#inTransaction(resource, (query) => removeChunk(query, this.#author, this.#id, resource, chunk)),
      )
    }
  }

  /** The positions that the import gave to what it created, in parts that are quickly gone through. */
  async #chunks(resource: ResourceName): Promise<Chunk[]> {
    const ranges = await this.#query<Chunk>({
      text: 'select first, last from import_creations where tenant_id = $1 and import_id = $2 and resource = $3 order by first',
      values: [this.#id, resource],
    })
    return ranges.flatMap(({ first, last }) =>
      Array.from({ length: Math.ceil((last - first + 1) / batchSize) }, (_, index) => ({
        first: first + index * batchSize,
        last: Math.min(last, first + (index + 1) * batchSize - 1),
      })),
    )
  }

  async end(): Promise<Undone> {
    const query = this.#query
    await query({ text: 'delete from import_changes where tenant_id = $1 and import_id = $2', values: [this.#id] })
    await query({ text: 'delete from import_creations where tenant_id = $1 and import_id = $2', values: [this.#id] })
    await query({
      text: `with undone as (update imports set undone_at = now() where tenant_id = $1 and id = $2 returning id)
        select append_to_audit($1, $3, $4) from undone`,
      values: [this.#id, ...auditValues(this.#author, [{ action: 'undone', resource: 'imports', recordId: this.#id }])],
    })
    return this.#undone
  }

  #note({ restored = 0, removed = 0, kept = [] }: Done): void {
    this.#undone.restored += restored
    this.#undone.removed += removed
    this.#undone.keptCount += kept.length
    this.#undone.kept.push(...kept.slice(0, mostNamed - this.#undone.kept.length))
    this.#options.onProgress?.(this.#undone.restored + this.#undone.removed)
  }

  /** A caller may refer to a record in the very moment in which it is removed: then the batch is judged again. */
  async #inTransaction<T>(resource: ResourceName, work: (query: Query) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      this.#options.signal?.throwIfAborted()
      const query = this.#query
      await query.withoutTenant({ text: 'begin' })
      try {
        // Whoever could come to refer to what is removed waits, too: callers of the API may add contacts and tasks at any time.
        const heads = [resource, ...referrersOf(resource).map((referrer) => referrer.resource)]
        for (const head of heads.toSorted()) await lockHead(query, head)
        const result = await work(query)
        await query.withoutTenant({ text: 'commit' })
        return result
      } catch (error) {
        await query.withoutTenant({ text: 'rollback' }).catch(() => {})
        const isReference = error instanceof pg.DatabaseError && error.code === '23503'
        if (!isReference || attempt === 5) throw error
      }
    }
  }
}

/** An image goes with its restoration, so that an undo that was interrupted goes on where it stopped. */
const restoreBatch = async (
  query: Query,
  author: Author,
  importId: string,
  resource: ResourceName,
  after: string,
): Promise<Done & { last: string | null }> => {
  const images = await query<ImageFound>({
    text: imagesAfter(resource),
    values: [importId, resource, after, batchSize],
  })
  const changes = images.flatMap(({ before, current, isUntouched, obstacle }) =>
    current && isUntouched && !obstacle ? [{ before: current, after: before }] : [],
  )
  await writeRecords(
    query,
    resource,
    changes.map((change) => ({ ...change, author })),
  )
  await query({
    text: 'delete from import_changes where tenant_id = $1 and import_id = $2 and resource = $3 and record_id = any ($4::uuid[])',
    values: [importId, resource, changes.map(({ after }) => after.id)],
  })
  const kept = images
    .filter(({ current, isUntouched, obstacle }) => current && (!isUntouched || obstacle))
    .map(({ before, isUntouched, obstacle }) =>
      keptRecord(resource, before, isUntouched && obstacle ? obstacle : 'changed since'),
    )
  return { restored: changes.length, kept, last: images.at(-1)?.before.id ?? null }
}

/** What is left of the chunk then is kept. */
const removeChunk = async (
  query: Query,
  author: Author,
  importId: string,
  resource: ResourceName,
  { first, last }: Chunk,
): Promise<Done> => {
  const rows = await query<{ image: Image; isUntouched: boolean; isFree: boolean }>({
    text: `select ${imageOf(resource, 'record')} as image, record.import_id is not distinct from $2 as "isUntouched",
        not (${isReferredTo(resource)}) as "isFree"
      from ${created(resource)} order by record.position`,
    values: [importId, first, last],
  })
  const free = rows.filter(({ isUntouched, isFree }) => isUntouched && isFree)
  const removed = await writeRecords(
    query,
    resource,
    free.map(({ image }) => ({ before: image, after: null, author })),
  )
  const kept = rows
    .filter(({ isUntouched, isFree }) => !isUntouched || !isFree)
    .map(({ image, isUntouched }) => keptRecord(resource, image, isUntouched ? 'others refer to it' : 'changed since'))
  return { removed: removed.length, kept }
}

/** A subscription stays when one that stays was renewed from it. The others let go of each other, so that they can go. */
const partRenewals = async (query: Query, importId: string, { first, last }: Chunk): Promise<unknown> => {
  const rows = await query<{ image: Image }>({
    text: `select ${imageOf('subscriptions', 'record')} as image from ${created('subscriptions')} and record.import_id = $2
      and record.renewed_from_subs_id is not null and not ${isKept('record')}`,
    values: [importId, first, last],
  })
  const changes = rows.map(({ image }) => ({
    before: image,
    after: { ...image, renewedFromSubsId: null },
    author: null,
  }))
  return writeRecords(query, 'subscriptions', changes)
}

const keptRecord = (resource: ResourceName, image: Image, reason: string): Kept => {
  const key = importKeyOf(resource)
  const name = key && image[key.name]
  return { resource, id: image.id, name: typeof name === 'string' ? name : null, reason }
}

/** What is still there of the positions from $3 to $4, which are all of one import. The index holds them by class. */
const created = (resource: ResourceName): string => {
  const classes = Array.from({ length: tables[resource].classCount }, (_, index) => index)
  return `${resource} as record
    where record.tenant_id = $1 and record.class = any (array[${classes.join(', ')}]::smallint[])
      and record.position between $3 and $4`
}

/** Subscriptions of the import ($2) from which one was renewed that it did not create, or that changed since. */
const keptPredecessors = () => `
  insert into kept_predecessors
  with recursive created as (
    select record.id, record.renewed_from_subs_id
    from import_creations as creation join subscriptions as record
      on record.tenant_id = $1 and record.class = any (array[0, 1]::smallint[]) and record.position between creation.first and creation.last
    where creation.tenant_id = $1 and creation.import_id = $2 and creation.resource = 'subscriptions'
      and record.import_id = $2
  ), kept as (
    select created.id, created.renewed_from_subs_id
    from created join subscriptions as follower on follower.tenant_id = $1 and follower.renewed_from_subs_id = created.id
    where not exists (select from created as other where other.id = follower.id)
    union
    select created.id, created.renewed_from_subs_id from created join kept on created.id = kept.renewed_from_subs_id
  )
  select id from kept`

const isKept = (row: string): string => `exists (select from kept_predecessors as kept where kept.id = ${row}.id)`

const isReferredTo = (resource: ResourceName): string => {
  if (resource === 'subscriptions') return isKept('record')
  return othersReferTo(resource)
}

const othersReferTo = (resource: ResourceName): string =>
  referrersOf(resource)
    .map(({ resource: other, field: { column } }) => {
      const { canonical } = identifiersOf(resource)
      return `exists (select from ${other} as other where other.tenant_id = $1 and other.${column} = record.${canonical.column})`
    })
    .join(' or ') || 'false'

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
    key === null
      ? []
      : [
          `when exists (select from ${resource} as other where other.tenant_id = $1 and other.${key.column} = image.before ->> '${key.name}'
            and other.id <> image.record_id) then 'its \`${key.name}\` belongs to another record'`,
        ]
  const obstacles = [...gone, ...taken]
  return `select image.before, case when record.id is not null then ${imageOf(resource, 'record')} end as current,
      record.import_id is not distinct from $2 as "isUntouched", ${obstacles.length > 0 ? `case ${obstacles.join(' ')} end` : 'null'} as obstacle
    from import_changes as image left join ${resource} as record on record.tenant_id = $1 and record.id = image.record_id
    where image.tenant_id = $1 and image.import_id = $2 and image.resource = $3 and image.record_id > $4::uuid
    order by image.record_id limit $5`
}
