import { createWriteStream, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type ResourceName, resourceNames } from '@masthead/contract'
import { type Database, openDatabase, type TenantDatabase } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import { openSourceFile } from '../files/source-file.ts'
import { inspectTable } from '../reading/inspection.ts'
import { headerKey, mappingOf, type RunOptions, readingOf } from '../reading/run-options.ts'
import { headerOf, noticeResource } from '../reading/sources.ts'
import { importFiles } from './import.ts'
import { isImportLocked } from './import-lock.ts'
import { findImport } from './journal.ts'
import type { Mappings } from './mapping.ts'
import type { Cancellation, RunTask, WorkerMessage } from './run-process.ts'
import { findMapping, partsOf, type RunProgress, type RunResult, rememberMapping, storeRejectedRows } from './runs.ts'
import { undoImport } from './undo.ts'

/** A small compressed file may hold very much. A slow processor reads five million rows in less than two minutes. */
const mostSent = { bytes: 2_000_000_000, rows: 5_000_000, processorSeconds: 120, rejectedBytes: 8 * 1_024 * 1_024 }

const reportMilliseconds = 1_000

/** Only this process knows the folder once its parent has gone. */
let folder: string | null = null
process.once('exit', () => folder !== null && rmSync(folder, { recursive: true, force: true }))
process.once('disconnect', () => process.exit())

let database: Database | undefined

/** Of the run that is at work. */
let cancellation = new AbortController()

process.on('message', async (message: RunTask | Cancellation) => {
  if ('cancel' in message) {
    cancellation.abort()
    return
  }
  const task = message
  folder = task.folder
  cancellation = new AbortController()
  const { signal } = cancellation
  let progress: RunProgress | null = null
  const reporting = setInterval(() => progress && send({ progress }), reportMilliseconds)
  database ??= openDatabase(task.connection)
  try {
    const tenant = database.forTenant(task.tenantId)
    const onProgress = (next: RunProgress) => {
      progress = next
    }
    send({ result: await workOf(task)(tenant, task, { signal, onProgress }) })
  } catch (error) {
    if (signal.aborted) send({ result: { state: 'cancelled' } })
    else send(error instanceof Refusal ? { refusal: error.message } : { failure: plain(error) })
  } finally {
    clearInterval(reporting)
  }
})

type Following = { signal: AbortSignal; onProgress: (progress: RunProgress) => void }
type Work = (tenant: TenantDatabase, task: RunTask, following: Following) => Promise<RunResult>

const workOf = ({ run, work }: RunTask): Work => {
  if (run.kind === 'undo') return undo
  return work === 'inspect' ? inspect : runImport
}

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

/** The file under a name that says what it holds, if that is known. */
const fetchFile = async (tenant: TenantDatabase, { run, folder }: RunTask): Promise<string> => {
  const ending = (/(\.\w{1,6})?(\.gz)?$/i.exec(run.fileName)?.[0] ?? '').toLowerCase()
  const path = join(folder, `file${ending}`)
  await tenant.inBulk((_client, query) =>
    pipeline(partsOf(query, run.id), createWriteStream(path, { mode: 0o600, flags: 'w' })),
  )
  return path
}

/** A file that nobody has decided about is read as the last one with the same header was. */
const inspect: Work = async (tenant, task, { signal }) => {
  const { run } = task
  const path = await fetchFile(tenant, task)
  const isNew = run.inspection === null && Object.keys(run.options).length === 0
  let [options, resource, isRemembered]: [RunOptions, ResourceName | '', boolean] = [run.options, run.resource, false]
  const open = () => openSourceFile(path, { ...readingOf(options, resource), header: undefined, bounds: mostSent })
  let file = await open()
  if (isNew) {
    const known = await tenant.transaction(async (query) => findMapping(query, headerKey(await headerOf(file))))
    if (known) {
      ;[options, resource, isRemembered] = [known.options, resource || known.resource, true]
      file = await open()
    }
  }
  const mappings = mappingsOf(options)
  const name = run.fileName
  const noticed = await inspectTable(file, { name, options: readingOf(options, resource), mappings }, signal)
  const inspection = { ...noticed, isRemembered: isRemembered || (!isNew && (run.inspection?.isRemembered ?? false)) }
  signal.throwIfAborted()
  return { state: 'inspected', inspection, options, ...(noticed.resource && { resource: noticed.resource }) }
}

const mappingsOf = (options: RunOptions): Mappings =>
  Object.fromEntries(resourceNames.map((resource) => [resource, mappingOf(options, resource)]))

const runImport: Work = async (tenant, task, { signal, onProgress }) => {
  const { run, work, author } = task
  const { id: runId, fileName, options } = run
  const path = await fetchFile(tenant, task)
  const first = await openSourceFile(path, { ...readingOf(options, run.resource), header: undefined, bounds: mostSent })
  const mappings = mappingsOf(options)
  const { resource } = await noticeResource(first, readingOf(options, run.resource), {}, first.member || fileName)
  if (!resource) throw new Refusal('the columns do not tell what the file holds: choose it')
  let importId: string | null = null
  const undone = async (): Promise<RunResult> => {
    const taken = importId && (await takeBack(tenant, importId, author, onProgress))
    return { state: 'cancelled', importId, ...(taken || {}) }
  }
  try {
    const { id, files, refusals, groups, rejected } = await importFiles(tenant, [path], {
      dryRun: work === 'check',
      keepsRejected: true,
      author,
      signal,
      mappings,
      // One file of an archive is imported at a time.
      reading: { ...readingOf(options, resource), ...(first.member !== '' && { member: first.member }) },
      shownName: fileName,
      most: mostSent,
      onBegun: (id) => {
        importId = id
      },
      onProgress: ({ step, done, of, rows }) => onProgress({ step, done, of, rows }),
    })
    if (signal.aborted) return await undone()
    const [rejectedPath] = rejected
    const rows =
      rejectedPath === undefined ? null : { name: `${fileName}.rejected.csv`, file: await readFile(rejectedPath) }
    await tenant.inBulk((_client, query) => storeRejectedRows(query, runId, rows))
    if (work === 'import')
      await tenant.transaction((query) => rememberMapping(query, headerKey(first.header), { resource, options }))
    const { created = 0, changed = 0, unchanged = 0, refused = 0 } = files[0] ?? {}
    const shown = refusals.map(({ line, column, reason }) => ({ line, column, reason }))
    const state = work === 'check' ? 'checked' : 'done'
    const grouped = groups.map(({ file: _, ...group }) => group)
    return { state, resource, created, changed, unchanged, refused, importId: id, refusals: shown, groups: grouped }
  } catch (error) {
    if (!signal.aborted) throw error
    return await undone()
  }
}

const lockMilliseconds = 500
const mostAttempts = 240

/** The connection of the import may be at a statement that it cannot leave at once, and has the lock until then. */
const takeBack = async (
  tenant: TenantDatabase,
  importId: string,
  author: RunTask['author'],
  onProgress: Following['onProgress'],
): Promise<Partial<RunResult> | null> => {
  for (let attempt = 1; ; attempt++) {
    const isFree = await tenant.transaction(async (query) => !(await isImportLocked(query)))
    if (isFree) break
    if (attempt === mostAttempts) throw new Refusal('the import could not be taken back: undo it')
    await delay(lockMilliseconds)
  }
  if (!(await tenant.transaction((query) => findImport(query, importId)))) return null
  const { removed, restored, keptCount } = await undoImport(tenant, importId, {
    author,
    onProgress: (rows) => onProgress({ step: 'undoing', done: rows, of: 0, rows }),
  })
  return { removed, restored, kept: keptCount }
}

const undo: Work = async (tenant, { run: { importId }, author }, { onProgress }) => {
  const { removed, restored, keptCount } = await undoImport(tenant, importId ?? '', {
    author,
    onProgress: (rows) => onProgress({ step: 'undoing', done: rows, of: 0, rows }),
  })
  return { state: 'done', removed, restored, kept: keptCount }
}
