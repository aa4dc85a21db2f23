import type { ResourceName } from '@masthead/contract'
import type { Query } from '../../database/connection.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { isUuid, newId } from '../../records/identifiers.ts'

/** A file that somebody sends to be imported, or an undo, and how far it is. */
export type ImportRun = {
  id: string
  kind: 'import' | 'undo'
  state: 'receiving' | 'running' | 'interrupted' | 'checked' | 'done' | 'failed'
  fileName: string
  resource: ResourceName | ''
  bytes: number
  progress: RunProgress | null
  created: number
  changed: number
  unchanged: number
  refused: number
  refusals: { line: number; column: string; reason: string }[]
  removed: number
  restored: number
  kept: number
  hasRejectedRows: boolean
  importId: string | null
  problem: string | null
  createdAt: Date
}
export type RunProgress = {
  step: 'reading' | 'judging' | 'writing' | 'undoing'
  done: number
  of: number
  rows: number
}

/** SQL: whoever does it says so each second. */
const isAbandoned = `state = 'running' and seen_at < now() - interval '15 seconds'`

const columns = `id, kind, case when ${isAbandoned} then 'interrupted' else state end as state, file_name as "fileName",
  resource, (
    select coalesce(sum(length(content)), 0)::bigint from import_parts where run_id = import_runs.id
  ) as bytes, progress, created, changed, unchanged, refused, refusals, removed, restored, kept,
  rejected_rows is not null as "hasRejectedRows", import_id as "importId", problem, created_at as "createdAt"`

export const createRun = async (
  query: Query,
  given: Pick<ImportRun, 'kind' | 'fileName' | 'resource'> & { importId?: string },
): Promise<ImportRun> => {
  const [run] = await query<ImportRun>({
    text: `insert into import_runs (id, kind, file_name, resource, import_id) values ($1, $2, $3, $4, $5) returning ${columns}`,
    values: [newId(), given.kind, given.fileName, given.resource, given.importId ?? null],
  })
  if (!run) throw new Error('the run was not stored')
  return run
}

export const findRun = async (query: Query, id: string): Promise<ImportRun | null> => {
  if (!isUuid(id)) return null
  const [run] = await query<ImportRun>({ text: `select ${columns} from import_runs where id = $1`, values: [id] })
  return run ?? null
}

/** A part that is sent again replaces itself. Nobody adds to a file that is being read. */
export const addPart = async (query: Query, runId: string, number: number, content: Buffer): Promise<boolean> => {
  const added = await query({
    text: `insert into import_parts (run_id, number, content)
      select id, $2, $3 from import_runs where id = $1 and state = 'receiving' for share
      on conflict (tenant_id, run_id, number) do update set content = excluded.content returning number`,
    values: [runId, number, content],
  })
  return added.length > 0
}

/** At most one process takes it; again when it was only checked, failed, or the process that had it is gone. */
export const takeRun = async (query: Query, id: string): Promise<ImportRun | null> => {
  const [run] = await query<ImportRun>({
    text: `update import_runs set state = 'running', seen_at = now(), progress = null, problem = null
      where id = $1 and (state in ('receiving', 'checked', 'failed') or ${isAbandoned}) returning ${columns}`,
    values: [id],
  })
  return run ?? null
}

const mostWaiting = 20

/** Files that wait to be imported take room in the database. */
export const mayAnnounce = async (query: Query): Promise<boolean> => {
  const waiting = await query({
    text: `select from import_runs where kind = 'import' and state <> 'done' limit ${mostWaiting}`,
  })
  return waiting.length < mostWaiting
}

export const noteProgress = async (query: Query, id: string, progress: RunProgress | null): Promise<void> => {
  await query({
    text: `update import_runs set seen_at = now(), progress = coalesce($2, progress) where id = $1`,
    values: [id, progress && JSON.stringify(progress)],
  })
}

export type RunResult = Partial<
  Pick<ImportRun, 'created' | 'changed' | 'unchanged' | 'refused' | 'refusals' | 'removed' | 'restored' | 'kept'>
> & { state: 'checked' | 'done'; importId?: string | null }

export const endRun = async (query: Query, id: string, result: RunResult): Promise<void> => {
  const { created = 0, changed = 0, unchanged = 0, refused = 0, removed = 0, restored = 0, kept = 0 } = result
  await query({
    text: `update import_runs set state = $2, created = $3, changed = $4, unchanged = $5, refused = $6, refusals = $7,
        removed = $8, restored = $9, kept = $10, import_id = coalesce($11, import_id)
      where id = $1`,
    values: [
      ...[id, result.state, created, changed, unchanged, refused, JSON.stringify(result.refusals ?? [])],
      ...[removed, restored, kept, result.importId ?? null],
    ],
  })
  // What was imported is not needed any longer.
  if (result.state === 'done') await query({ text: 'delete from import_parts where run_id = $1', values: [id] })
}

export const failRun = async (query: Query, id: string, problem: string): Promise<void> => {
  await query({
    text: `update import_runs set state = 'failed', problem = $2 where id = $1`,
    values: [id, problem],
  })
}

/** The file, part by part; null where one is missing. */
export async function* partsOf(query: Query, runId: string): AsyncGenerator<Buffer | null> {
  for (let number = 1; ; number++) {
    const [part] = await query<{ content: Buffer; last: number }>({
      text: `select content, (select max(number) from import_parts where run_id = $1) as last
        from import_parts where run_id = $1 and number = $2`,
      values: [runId, number],
    })
    yield part?.content ?? null
    if (!part || part.last === number) return
  }
}

export const storeRejectedRows = async (query: Query, id: string, rows: string | null): Promise<void> => {
  await query({ text: 'update import_runs set rejected_rows = $2 where id = $1', values: [id, rows] })
}

export const readRejectedRows = async (query: Query, id: string): Promise<string | null> => {
  const [run] = await query<{ rows: string | null }>({
    text: 'select rejected_rows as rows from import_runs where id = $1',
    values: [id],
  })
  return run?.rows ?? null
}

/** Files that were sent may hold anybody: of an erasure, all go that are not being imported. */
export const forgetRuns = async (query: Query): Promise<void> => {
  await query({ text: `delete from import_runs where state <> 'running' or ${isAbandoned}` })
}

/** They hold personal data, and are kept no longer than a day. */
export const forgetOldRuns = async (tenant: TenantDatabase): Promise<void> => {
  const old = `created_at < now() - interval '1 day' and (state <> 'running' or ${isAbandoned})`
  if ((await tenant.read({ text: `select 1 from import_runs where ${old} limit 1` })).length === 0) return
  await tenant.transaction((query) => query({ text: `delete from import_runs where ${old}` }))
}
