import type { ResourceName } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { isUuid, newId } from '../../records/identifiers.ts'
import { Refusal } from '../../refusal.ts'
import type { ImportProgress } from '../import/import.ts'
import type { FileSummary } from '../import/journal.ts'
import type { RefusalGroup } from '../import/staging/refusal-groups.ts'
import type { Inspection } from '../reading/inspection.ts'
import type { RunOptions } from '../reading/run-options.ts'

/** A file that somebody sends to be imported, or an undo, and how far it is. */
export type ImportRun = {
  id: string
  kind: 'import' | 'undo'
  state: 'receiving' | 'running' | 'interrupted' | 'inspected' | 'checked' | 'done' | 'failed' | 'cancelled'
  fileName: string
  resource: ResourceName | ''
  options: RunOptions
  inspection: Inspection | null
  bytes: number
  progress: ImportProgress | null
  created: number
  changed: number
  unchanged: number
  refused: number
  refusals: { file: string; line: number; column: string; reason: string }[]
  groups: (RefusalGroup & { file: string })[]
  files: FileSummary[]
  removed: number
  restored: number
  kept: number
  hasRejectedRows: boolean
  importId: string | null
  problem: string | null
  createdAt: Date
}

/** The process that runs an import updates `seen_at` each second. */
const isAbandoned = `state = 'running' and seen_at < now() - interval '15 seconds'`

const columns = `id, kind, case when ${isAbandoned} then 'interrupted' else state end as state, file_name as "fileName",
  resource, options, inspection, (
    select coalesce(sum(length(content)), 0)::bigint from import_parts
    where tenant_id = $1 and run_id = import_runs.id
  ) as bytes, progress, created, changed, unchanged, refused, refusals, groups, files, removed, restored, kept,
  rejected_file is not null as "hasRejectedRows", import_id as "importId", problem, created_at as "createdAt"`

export const createRun = async (
  query: TenantQuery,
  given: Pick<ImportRun, 'kind' | 'fileName' | 'resource'> & { importId?: string },
): Promise<ImportRun> => {
  const id = newId()
  await query({
    text: `insert into import_runs (tenant_id, id, kind, file_name, resource, import_id)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [id, given.kind, given.fileName, given.resource, given.importId ?? null],
  })
  const run = await findRun(query, id)
  if (!run) throw new Error('the run was not stored')
  return run
}

export const findRun = async (query: TenantQuery, id: string): Promise<ImportRun | null> => {
  if (!isUuid(id)) return null
  const text = `select ${columns} from import_runs where tenant_id = $1 and id = $2`
  const [run] = await query<ImportRun>({ text, values: [id] })
  return run ?? null
}

/** A part may be sent again, but not added to a file that is being read. */
export const addPart = async (query: TenantQuery, runId: string, number: number, content: Buffer): Promise<boolean> => {
  const added = await query({
    text: `insert into import_parts (tenant_id, run_id, number, content)
      select $1::uuid, id, $3, $4 from import_runs where tenant_id = $1 and id = $2 and state = 'receiving' for share
      on conflict (tenant_id, run_id, number) do update set content = excluded.content returning number`,
    values: [runId, number, content],
  })
  return added.length > 0
}

/** Options replace all former ones. What is being read is not changed. */
export const changeRun = async (
  query: TenantQuery,
  id: string,
  { resource, options }: { resource?: ResourceName | undefined; options?: RunOptions | undefined },
): Promise<boolean> => {
  const changed = await query({
    text: `update import_runs set resource = coalesce($3, resource), options = coalesce($4, options)
      where tenant_id = $1 and id = $2 and kind = 'import'
        and (state in ('receiving', 'inspected', 'checked', 'failed', 'cancelled') or ${isAbandoned}) returning id`,
    values: [id, resource ?? null, options ? JSON.stringify(options) : null],
  })
  return changed.length > 0
}

/** The process that runs the import sees it within a second. */
export const cancelRun = async (query: TenantQuery, id: string): Promise<boolean> => {
  const text = `update import_runs set is_cancelled = true
    where tenant_id = $1 and id = $2 and kind = 'import' and state = 'running' and not (${isAbandoned}) returning id`
  return (await query({ text, values: [id] })).length > 0
}

/** At most one process takes a run; it may be taken again unless it is complete, or when its process is gone. */
export const takeRun = async (query: TenantQuery, id: string): Promise<ImportRun | null> => {
  const taken = await query({
    text: `update import_runs set state = 'running', seen_at = now(), progress = null, problem = null, is_cancelled = false
      where tenant_id = $1 and id = $2 and (state in ('receiving', 'inspected', 'checked', 'failed', 'cancelled') or ${isAbandoned}) returning id`,
    values: [id],
  })
  // Apart from the update, because what is returned where tables are sharded must not depend on the clock.
  return taken.length > 0 ? findRun(query, id) : null
}

const mostWaiting = 20

/** Files that wait to be imported take room in the database. */
export const mayAnnounce = async (query: TenantQuery): Promise<boolean> => {
  const text = `select from import_runs where tenant_id = $1 and kind = 'import' and state <> 'done' limit ${mostWaiting}`
  return (await query({ text })).length < mostWaiting
}

/** Returns whether somebody has cancelled the run. */
export const storeProgress = async (
  query: TenantQuery,
  id: string,
  progress: ImportProgress | null,
): Promise<boolean> => {
  const text = `update import_runs set seen_at = now(), progress = coalesce($3, progress)
    where tenant_id = $1 and id = $2 returning is_cancelled as "isCancelled"`
  const [run] = await query<{ isCancelled: boolean }>({ text, values: [id, progress && JSON.stringify(progress)] })
  return run?.isCancelled ?? false
}

export type RunResult = Partial<
  Pick<
    ImportRun,
    'created' | 'changed' | 'unchanged' | 'refused' | 'refusals' | 'groups' | 'files' | 'removed' | 'restored' | 'kept'
  >
> & {
  state: 'inspected' | 'checked' | 'done' | 'cancelled'
  importId?: string | null
  /** What was noticed stays until somebody looks again. */
  inspection?: Inspection
  /** What was noticed, where nobody had said it. */
  resource?: ResourceName
  options?: RunOptions
}

export const endRun = async (query: TenantQuery, id: string, result: RunResult): Promise<void> => {
  const { created = 0, changed = 0, unchanged = 0, refused = 0, removed = 0, restored = 0, kept = 0 } = result
  const [refusals, groups, files] = [result.refusals, result.groups, result.files].map((list) =>
    JSON.stringify(list ?? []),
  )
  const { importId = null, resource = null } = result
  const [inspection, options] = [result.inspection, result.options].map((one) => (one ? JSON.stringify(one) : null))
  await query({
    text: `update import_runs set state = $3, created = $4, changed = $5, unchanged = $6, refused = $7, refusals = $8,
        removed = $9, restored = $10, kept = $11, import_id = coalesce($12, import_id), groups = $13,
        inspection = coalesce($14, inspection), resource = coalesce($15, resource), options = coalesce($16, options), files = $17
      where tenant_id = $1 and id = $2`,
    values: [
      id,
      result.state,
      created,
      changed,
      unchanged,
      refused,
      refusals,
      removed,
      restored,
      kept,
      importId,
      groups,
      inspection,
      resource,
      options,
      files,
    ],
  })
  // The file of a complete import is not needed any longer.
  if (result.state !== 'done') return
  await query({ text: 'delete from import_parts where tenant_id = $1 and run_id = $2', values: [id] })
}

export const failRun = async (query: TenantQuery, id: string, problem: string): Promise<void> => {
  const text = `update import_runs set state = 'failed', problem = $3 where tenant_id = $1 and id = $2`
  await query({ text, values: [id, problem] })
}

/** Yields the file part by part. */
export async function* partsOf(query: TenantQuery, runId: string): AsyncGenerator<Buffer> {
  const text = `select content, (select max(number) from import_parts where tenant_id = $1 and run_id = $2) as last
    from import_parts where tenant_id = $1 and run_id = $2 and number = $3`
  for (let number = 1; ; number++) {
    const [part] = await query<{ content: Buffer; last: number }>({ text, values: [runId, number] })
    if (!part) throw new Refusal('the file has not arrived as a whole: send it again')
    yield part.content
    if (part.last === number) return
  }
}

/** The refused rows as a file, in the encoding of the one that came. */
export type RejectedRows = { name: string; file: Buffer }

export const storeRejectedRows = async (query: TenantQuery, id: string, rows: RejectedRows | null): Promise<void> => {
  const text = 'update import_runs set rejected_name = $3, rejected_file = $4 where tenant_id = $1 and id = $2'
  await query({ text, values: [id, rows?.name ?? null, rows?.file ?? null] })
}

export const readRejectedRows = async (query: TenantQuery, id: string): Promise<RejectedRows | null> => {
  const text = `select rejected_name as name, rejected_file as file from import_runs
    where tenant_id = $1 and id = $2 and rejected_file is not null`
  const [run] = await query<RejectedRows>({ text, values: [id] })
  return run ?? null
}

type RememberedMapping = { resource: ResourceName; options: RunOptions }

/** What was decided about the last file with this header. */
export const findMapping = async (query: TenantQuery, header: string): Promise<RememberedMapping | undefined> => {
  const text = 'select resource, options from import_mappings where tenant_id = $1 and header = $2'
  const [found] = await query<RememberedMapping>({ text, values: [header] })
  return found
}

const mostMappings = 1_000

export const rememberMapping = async (
  query: TenantQuery,
  header: string,
  { resource, options }: RememberedMapping,
): Promise<void> => {
  await query({
    text: `insert into import_mappings (tenant_id, header, resource, options) values ($1, $2, $3, $4)
      on conflict (tenant_id, header) do update set resource = excluded.resource, options = excluded.options, used_at = excluded.used_at`,
    values: [header, resource, JSON.stringify(options)],
  })
  await query({
    text: `delete from import_mappings where tenant_id = $1 and header in (
      select header from import_mappings where tenant_id = $1 order by used_at desc offset ${mostMappings})`,
  })
}

/** Uploaded files may hold anybody's data, so an erasure deletes all that are not being imported. */
export const deleteRuns = async (query: TenantQuery): Promise<void> => {
  await query({ text: `delete from import_runs where tenant_id = $1 and (state <> 'running' or ${isAbandoned})` })
}

/** Uploaded files hold personal data, and are stored no longer than a day. */
export const deleteOldRuns = async (tenant: TenantDatabase): Promise<void> => {
  const old = `tenant_id = $1 and created_at < now() - interval '1 day' and (state <> 'running' or ${isAbandoned})`
  if ((await tenant.read({ text: `select 1 from import_runs where ${old} limit 1` })).length === 0) return
  await tenant.transaction((query) => query({ text: `delete from import_runs where ${old}` }))
}
