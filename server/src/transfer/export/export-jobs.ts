import {
  type ExportFilters,
  type ExportFormat,
  type ExportState,
  exportLimits,
  type ListedName,
} from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import { totalLevel } from '../../database/tally-levels.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { isUuid, newId } from '../../records/identifiers.ts'

/** Files that somebody asked for, and how far they are. */
export type ExportJob = {
  id: string
  state: ExportState
  resources: ListedName[]
  filters: ExportFilters
  format: ExportFormat
  gzip: boolean
  spreadsheet: boolean
  records: number
  expected: number | null
  asOf: Date | null
  files: ExportedPart[]
  problem: string | null
  createdAt: Date
  expiresAt: Date
  /** The process that makes it has ended. */
  isAbandoned: boolean
}

export type ExportedPart = { name: string; resource: ListedName; records: number; bytes: number; sha256: string }

export type ExportProgress = { records: number; expected: number | null; asOf: string }

/** Of each chunk but the last of a file. */
export const chunkBytes = 262_144

/** The process that makes it reports each second. */
const isAbandoned = `state in ('waiting', 'running') and seen_at < now() - interval '15 seconds'`

const columns = `id, state, resources, filters, format, gzip, spreadsheet, records, expected, as_of as "asOf", files, problem,
  created_at as "createdAt", expires_at as "expiresAt", ${isAbandoned} as "isAbandoned"`

const isThere = 'tenant_id = $1 and expires_at > now()'

/** Until the transaction ends, nobody else creates an export of the tenant. */
const lockExports = (query: TenantQuery) =>
  query({ text: `select pg_advisory_xact_lock(hashtextextended('masthead export ' || $1::text, 0))` })

export const createExport = async (
  query: TenantQuery,
  given: Pick<ExportJob, 'resources' | 'filters' | 'format' | 'gzip' | 'spreadsheet'>,
): Promise<ExportJob | 'too many at once' | 'too many kept'> => {
  // Two that count at the same moment would both find room.
  await lockExports(query)
  // Nobody makes an abandoned one: those of a node that has stopped would keep the tenant from asking.
  const text = `select count(*) filter (where state in ('waiting', 'running') and not (${isAbandoned})) as running,
    count(*) filter (where state in ('waiting', 'running', 'done')) as kept from exports where ${isThere}`
  const [counts] = await query<{ running: number; kept: number }>({ text })
  if (counts && counts.running >= exportLimits.atOnce) return 'too many at once'
  if (counts && counts.kept >= exportLimits.kept) return 'too many kept'
  if ((await countBytes(query)) >= exportLimits.keptBytes) return 'too many kept'
  const { resources, filters, format, gzip, spreadsheet } = given
  const id = newId()
  await query({
    text: `insert into exports (tenant_id, id, resources, filters, format, gzip, spreadsheet)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [id, JSON.stringify(resources), JSON.stringify(filters), format, gzip, spreadsheet],
  })
  const job = await findExport(query, id)
  if (!job) throw new Error('the export was not stored')
  return job
}

/** How much the exports of the tenant take, with what those that are being made have written so far. */
export const countBytes = async (query: TenantQuery): Promise<number> => {
  const text = `select coalesce(sum(case
      when state = 'done' then (select sum((file ->> 'bytes')::bigint) from json_array_elements(files) as file)
      when state in ('waiting', 'running') then (select count(*) * ${chunkBytes} from export_chunks
        where export_chunks.tenant_id = $1 and export_chunks.export_id = exports.id)
    end), 0)::bigint as bytes from exports where ${isThere}`
  const [row] = await query<{ bytes: number }>({ text })
  return row?.bytes ?? 0
}

export const findExport = async (query: TenantQuery, id: string): Promise<ExportJob | null> => {
  if (!isUuid(id)) return null
  const text = `select ${columns} from exports where ${isThere} and id = $2`
  const [job] = await query<ExportJob>({ text, values: [id] })
  return job ?? null
}

/** Lists the exports of resources that the caller may read. There are never more than a hundred that have files or will have. */
export const listExports = (query: TenantQuery, readable: readonly ListedName[]): Promise<ExportJob[]> =>
  query<ExportJob>({
    text: `select ${columns} from exports where ${isThere} and resources::jsonb <@ $2::jsonb
      order by state in ('failed', 'deleted'), created_at desc, id limit ${exportLimits.kept}`,
    values: [JSON.stringify(readable)],
  })

export const listAbandoned = (query: TenantQuery): Promise<ExportJob[]> =>
  query<ExportJob>({
    text: `select ${columns} from exports where ${isThere} and ${isAbandoned} order by created_at, id`,
  })

const mostAttempts = 3

/** Returns the number of the attempt; null where another process has it, or where too many have tried. */
export const takeExport = async (query: TenantQuery, id: string): Promise<number | null> => {
  const taken = await query({
    text: `update exports set attempt = attempt + 1, state = 'running', seen_at = now(), records = 0
      where ${isThere} and id = $2 and attempt < ${mostAttempts} and (state = 'waiting' and attempt = 0 or ${isAbandoned}) returning id`,
    values: [id],
  })
  if (taken.length > 0) {
    const [row] = await query<{ attempt: number }>({
      text: 'select attempt from exports where tenant_id = $1 and id = $2',
      values: [id],
    })
    return row?.attempt ?? null
  }
  const failed = await query({
    text: `update exports set state = 'failed', problem = $3 where tenant_id = $1 and id = $2 and ${isAbandoned} returning id`,
    values: [id, `The servers that made this export have stopped ${mostAttempts} times. Ask for it again.`],
  })
  if (failed.length > 0) await deleteChunks(query, id)
  return null
}

/** How many records the lists hold, whichever of them the export takes. */
export const countRecords = async (query: TenantQuery, resources: readonly ListedName[]): Promise<number> => {
  const text = `select coalesce(sum(count), 0)::bigint as count from tallies
    where tenant_id = $1 and resource = any ($2) and facet = '' and level = ${totalLevel}`
  const [row] = await query<{ count: number }>({ text, values: [resources] })
  return row?.count ?? 0
}

/** An attempt of a process. Whatever it does has no effect once the export was deleted, or another process has it. */
export type Attempt = { id: string; attempt: number }

const isCurrent = `tenant_id = $1 and id = $2 and attempt = $3 and state = 'running'`

/** Returns whether the attempt still counts. */
export const storeProgress = async (
  query: TenantQuery,
  { id, attempt }: Attempt,
  progress: ExportProgress | null,
): Promise<boolean> => {
  const text = `update exports set seen_at = now(), records = coalesce($4, records), expected = coalesce($5, expected),
      as_of = coalesce($6, as_of) where ${isCurrent} returning id`
  const { records = null, expected = null, asOf = null } = progress ?? {}
  return (await query({ text, values: [id, attempt, records, expected, asOf] })).length > 0
}

/** Removes what an earlier attempt has written. */
export const deleteChunks = async (query: TenantQuery, id: string): Promise<void> => {
  await query({ text: 'delete from export_chunks where tenant_id = $1 and export_id = $2', values: [id] })
}

/** Returns whether the attempt still counts. The lock keeps the export from being deleted meanwhile. */
export const addChunk = async (
  query: TenantQuery,
  { id, attempt }: Attempt,
  { file, number, content }: { file: string; number: number; content: Buffer },
): Promise<boolean> => {
  const text = `insert into export_chunks (tenant_id, export_id, file, number, content)
    select $1::uuid, id, $4, $5, $6 from exports where ${isCurrent} for share returning number`
  return (await query({ text, values: [id, attempt, file, number, content] })).length > 0
}

/** Shows the files, if the attempt still counts. */
export const endExport = async (
  query: TenantQuery,
  { id, attempt }: Attempt,
  { files, asOf }: { files: ExportedPart[]; asOf: string },
): Promise<void> => {
  const records = files.reduce((sum, file) => sum + file.records, 0)
  await query({
    text: `update exports set state = 'done', files = $4, records = $5, expected = $5, as_of = $6,
        expires_at = now() + interval '${exportLimits.keptHours} hours' where ${isCurrent} returning id`,
    values: [id, attempt, JSON.stringify(files), records, asOf],
  })
}

export const failExport = async (query: TenantQuery, { id, attempt }: Attempt, problem: string): Promise<void> => {
  const text = `update exports set state = 'failed', problem = $4 where ${isCurrent} returning id`
  const failed = await query({ text, values: [id, attempt, problem] })
  if (failed.length > 0) await deleteChunks(query, id)
}

/** Returns whether there was something to delete. The process that makes it notices within a second. */
export const deleteExport = async (query: TenantQuery, id: string): Promise<boolean> => {
  const deleted = await query({
    text: `update exports set state = 'deleted', files = '[]'
      where tenant_id = $1 and id = $2 and state not in ('failed', 'deleted') returning id`,
    values: [id],
  })
  await deleteChunks(query, id)
  return deleted.length > 0
}

export const readChunk = async (
  query: TenantQuery,
  id: string,
  file: string,
  number: number,
): Promise<Buffer | null> => {
  const text = `select content from export_chunks where tenant_id = $1 and export_id = $2 and file = $3 and number = $4`
  const [chunk] = await query<{ content: Buffer }>({ text, values: [id, file, number] })
  return chunk?.content ?? null
}

/**
 * Ends every export that holds records of a list, or would: an erasure takes a record of it away. Its filters may name the record, so
 * all exports of the list are returned, also those that had ended before: answers about them are to be forgotten.
 */
export const withdrawExports = async (
  query: TenantQuery,
  resource: ListedName,
): Promise<{ ids: string[]; withdrawn: number }> => {
  // One that is not committed yet would not be found, and would begin with a snapshot of before the erasure.
  await lockExports(query)
  const withdrawn = await query<{ id: string }>({
    text: `update exports set state = 'failed', files = '[]', problem = $3
      where tenant_id = $1 and state in ('waiting', 'running', 'done') and resources::jsonb ? $2 returning id`,
    values: [resource, 'A record of it was erased meanwhile. Ask for it again.'],
  })
  for (const { id } of withdrawn) await deleteChunks(query, id)
  const all = await query<{ id: string }>({
    text: `update exports set filters = '{}' where tenant_id = $1 and resources::jsonb ? $2 returning id`,
    values: [resource],
  })
  return { ids: all.map(({ id }) => id), withdrawn: withdrawn.length }
}

/** Files of an export hold personal data, and are kept no longer than a day. */
export const deleteOldExports = async (tenant: TenantDatabase): Promise<void> => {
  const old = 'tenant_id = $1 and expires_at <= now()'
  if ((await tenant.read({ text: `select 1 from exports where ${old} limit 1` })).length === 0) return
  await tenant.transaction((query) => query({ text: `delete from exports where ${old}` }))
}
