import { createWriteStream, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Database, openDatabase, type TenantDatabase } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import { importFiles } from './import.ts'
import type { RunTask, WorkerMessage } from './run-process.ts'
import { partsOf, type RunProgress, type RunResult, storeRejectedRows } from './runs.ts'
import { undoImport } from './undo.ts'

/** A small compressed file may hold very much. A slow processor reads five million rows in less than two minutes. */
const mostSent = { bytes: 2_000_000_000, rows: 5_000_000, processorSeconds: 120, rejectedBytes: 8 * 1_024 * 1_024 }

const reportMilliseconds = 1_000

/** Only this process knows the folder once its parent has gone. */
let folder: string | null = null
process.once('exit', () => folder !== null && rmSync(folder, { recursive: true, force: true }))
process.once('disconnect', () => process.exit())

let database: Database | undefined

process.on('message', async (task: RunTask) => {
  folder = task.folder
  let progress: RunProgress | null = null
  const reporting = setInterval(() => progress && send({ progress }), reportMilliseconds)
  database ??= openDatabase(task.connection)
  try {
    const tenant = database.forTenant(task.tenantId)
    const onProgress = (next: RunProgress) => {
      progress = next
    }
    send({
      result: await (task.run.kind === 'undo' ? undo : runImport)(tenant, task, onProgress),
    })
  } catch (error) {
    send(error instanceof Refusal ? { refusal: error.message } : { failure: plain(error) })
  } finally {
    clearInterval(reporting)
  }
})

/** A parent that has gone is noticed by `disconnect`, and is no error here. */
const send = (message: WorkerMessage): void => {
  process.send?.(message, undefined, undefined, () => {})
}

/** The log needs no more of an error. */
const plain = (error: unknown): Extract<WorkerMessage, { failure: unknown }>['failure'] => {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, message, stack } = error
  return { name, message, ...(stack && { stack }), ...('code' in error && { code: String(error.code) }) }
}

const runImport = async (
  tenant: TenantDatabase,
  { run: { id: runId, fileName, resource }, folder, isTrial, author }: RunTask,
  onProgress: (progress: RunProgress) => void,
): Promise<RunResult> => {
  // The name of a file says what it holds.
  const ending = (/\.(csv|tsv|txt|ndjson|jsonl)(\.gz)?$/i.exec(fileName)?.[0] ?? '.csv').toLowerCase()
  const path = join(folder, resource + ending)
  await tenant.inBulk((_client, query) =>
    pipeline(partsOf(query, runId), createWriteStream(path, { mode: 0o600, flags: 'wx' })),
  )
  const { id, files, refusals, rejected } = await importFiles(tenant, [path], {
    dryRun: isTrial,
    author,
    shownName: fileName,
    most: mostSent,
    onProgress: ({ step, done, of, rows }) => onProgress({ step, done, of, rows }),
  })
  // A text of the database holds no NUL.
  const rows = rejected[0] === undefined ? null : (await readFile(rejected[0], 'utf8')).replaceAll('\0', '\uFFFD')
  await tenant.inBulk((_client, query) => storeRejectedRows(query, runId, rows))
  const { created = 0, changed = 0, unchanged = 0, refused = 0 } = files[0] ?? {}
  const shown = refusals.map(({ line, column, reason }) => ({ line, column, reason }))
  const state = isTrial ? 'checked' : 'done'
  return { state, created, changed, unchanged, refused, importId: id, refusals: shown }
}

const undo = async (
  tenant: TenantDatabase,
  { run: { importId }, author }: RunTask,
  onProgress: (progress: RunProgress) => void,
): Promise<RunResult> => {
  const { removed, restored, keptCount } = await undoImport(tenant, importId ?? '', {
    author,
    onProgress: (rows) => onProgress({ step: 'undoing', done: rows, of: 0, rows }),
  })
  return { state: 'done', removed, restored, kept: keptCount }
}
