import type { ResourceName } from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { audit } from '../../audit/queries.ts'
import { inTransaction } from '../../database/connections/statement.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { noteUntold, type WrittenCounts } from './import-events.ts'

/** What an import did to the files it was given. */
export type FileSummary = {
  file: string
  resource: ResourceName
  created: number
  changed: number
  unchanged: number
  refused: number
}

export type ImportRecord = {
  id: string
  startedAt: Date
  endedAt: Date | null
  undoneAt: Date | null
  files: FileSummary[]
}

const columns = `id, started_at as "startedAt", ended_at as "endedAt", undone_at as "undoneAt", files`

/** What undos of the import have done that were interrupted. */
export const undoneCounts = async (query: TenantQuery, id: string): Promise<WrittenCounts> => {
  const text = 'select undone_counts as counts from imports where tenant_id = $1 and id = $2'
  const [found] = await query<{ counts: WrittenCounts }>({ text, values: [id] })
  return found?.counts ?? {}
}

/** How long an import can be undone. */
export const undoDays = 30

export const isRecent = ({ startedAt }: ImportRecord): boolean =>
  startedAt.getTime() >= Date.now() - undoDays * 86_400_000

const tooOld = `tenant_id = $1 and import_id in (
  select id from imports where tenant_id = $1 and started_at < now() - interval '${undoDays} days')`

/** Former values are personal data, and are stored no longer than an undo can use them. */
export const deleteExpired = async (query: TenantQuery): Promise<void> => {
  await query({ text: `delete from import_changes where ${tooOld}` })
  await query({ text: `delete from import_creations where ${tooOld}` })
}

/** There may be so many that it takes long, so a read looks first whether there are any. */
export const deleteOldImages = async (tenant: TenantDatabase): Promise<void> => {
  const found = await tenant.read({
    text: `(select 1 from import_changes where ${tooOld} limit 1) union all (select 1 from import_creations where ${tooOld} limit 1)`,
  })
  if (found.length > 0) await tenant.inBulk((_client, query) => deleteExpired(query))
}

export const deleteImages = async (query: TenantQuery, resource: ResourceName, id: string): Promise<number> => {
  const text = 'delete from import_changes where tenant_id = $1 and resource = $2 and record_id = $3 returning 1'
  return (await query({ text, values: [resource, id] })).length
}

/** `cursor` is that of `/changes` from before it. */
export const beginImport = async (
  query: TenantQuery,
  author: Author,
  id: string,
  files: readonly FileSummary[],
  cursor: string,
) => {
  await deleteExpired(query)
  const after = JSON.stringify(files)
  await inTransaction(query.withoutTenant, async () => {
    const text = 'insert into imports (tenant_id, id, files) values ($1, $2, $3)'
    await query({ text, values: [id, after] })
    await noteUntold(query, id, cursor)
    await audit(query, author, [{ action: 'begun', resource: 'imports', recordId: id, after }])
  })
}

/** `tell` belongs to the same transaction. */
export const endImport = async (
  query: TenantQuery,
  author: Author,
  id: string,
  files: readonly FileSummary[],
  tell: () => Promise<unknown>,
) => {
  const after = JSON.stringify(files)
  await inTransaction(query.withoutTenant, async () => {
    const text = 'update imports set ended_at = now(), files = $3 where tenant_id = $1 and id = $2'
    await query({ text, values: [id, after] })
    await audit(query, author, [{ action: 'ended', resource: 'imports', recordId: id, after }])
    await tell()
  })
}

export const listImports = (query: TenantQuery): Promise<(ImportRecord & { runId: string | null })[]> =>
  query<ImportRecord & { runId: string | null }>({
    text: `select ${columns}, (
        select id from import_runs where tenant_id = $1 and import_id = imports.id and kind = 'import' limit 1
      ) as "runId"
      from imports where tenant_id = $1 order by started_at desc, id desc limit 1000`,
  })

export const findImport = async (query: TenantQuery, id: string): Promise<ImportRecord | undefined> => {
  const text = `select ${columns} from imports where tenant_id = $1 and id = $2`
  const [found] = await query<ImportRecord>({ text, values: [id] })
  return found
}

export const storeCreations = (
  query: TenantQuery,
  importId: string,
  resource: ResourceName,
  first: number,
  last: number,
): Promise<unknown> =>
  query({
    text: 'insert into import_creations (tenant_id, import_id, resource, first, last) values ($1, $2, $3, $4, $5)',
    values: [importId, resource, first, last],
  })

export type Image = Record<string, unknown> & { id: string }

/** What the records were before the import changed them; of a record that it changes twice, the first image counts. */
export const storeChanges = (
  query: TenantQuery,
  importId: string,
  resource: ResourceName,
  images: readonly Image[],
): Promise<unknown> =>
  query({
    text: `insert into import_changes (tenant_id, import_id, resource, record_id, before)
      select $1::uuid, $2, $3, (image ->> 'id')::uuid, image from json_array_elements($4::json) as image
      on conflict do nothing`,
    values: [importId, resource, JSON.stringify(images)],
  })
