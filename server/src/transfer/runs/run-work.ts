import { createWriteStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type ResourceName, resourceNames } from '@masthead/contract'
import { type Database, openDatabase, type TenantDatabase } from '../../database/database.ts'
import { messageOf } from '../../error-message.ts'
import { Refusal } from '../../refusal.ts'
import { membersAt, openSourceFile } from '../files/source-file.ts'
import { BrokenOff, importFiles } from '../import/import.ts'
import { isImportLocked } from '../import/import-lock.ts'
import { findImport } from '../import/journal.ts'
import { undoImport } from '../import/undo.ts'
import { inspectAgain, inspectTable, type TableInspection, unreadable } from '../reading/inspection.ts'
import type { Mappings } from '../reading/mapping.ts'
import { type FileOptions, headerKey, mappingOf, type RunOptions, readingOf } from '../reading/run-options.ts'
import { headerOf, noticeResource, type ReadingOptions, understood } from '../reading/sources.ts'
import type { Sight } from '../reading/table-reading.ts'
import type {
  Cancellation,
  ExportRunTask,
  FilesTask,
  ImportEvent,
  ImportTask,
  PlainError,
  RunTask,
  WorkerMessage,
  WorkerProgress,
} from './run-process.ts'
import { findMapping, partsOf, type RunResult, rememberMapping, storeRejectedRows } from './runs.ts'
import { rejectedRowsOf, type SentTable, sentTables } from './sent-tables.ts'
import { toldInConsole } from './told-in-console.ts'

/** A small compressed file may hold very much. A slow processor reads five million rows in less than two minutes. */
const mostSent = { bytes: 2_000_000_000, rows: 5_000_000, processorSeconds: 120, rejectedBytes: 8 * 1_024 * 1_024 }

/** A terminal shows the progress as it comes. */
const reportMilliseconds = 100

/** Only this process knows the folder once its parent has gone. */
let folder: string | null = null
process.once('exit', () => folder !== null && rmSync(folder, { recursive: true, force: true }))
process.once('disconnect', () => process.exit())
// A terminal sends its signals to all processes of a command. The parent decides what becomes of them.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})

/** Tasks that come one after another are of one database, but for tests. */
let opened: { address: string; database: Database } | undefined

const databaseAt = (connection: RunTask['connection']): Database => {
  const address = JSON.stringify(connection)
  if (opened?.address !== address) {
    void opened?.database.close()
    opened = { address, database: openDatabase(connection) }
  }
  return opened.database
}

/** Of the run that is at work. */
let cancellation = new AbortController()

process.on('message', async (message: RunTask | FilesTask | Cancellation) => {
  if ('cancel' in message) {
    cancellation.abort()
    return
  }
  const task = message
  if (!('run' in task) || seen?.runId !== task.run.id || task.work !== 'inspect') seen = null
  cancellation = new AbortController()
  const { signal } = cancellation
  let progress: Progress | null = null
  const report = () => {
    if (progress) send({ progress })
    progress = null
  }
  const reporting = setInterval(report, reportMilliseconds)
  const tenant = databaseAt(task.connection).forTenant(task.tenantId)
  const onProgress = (next: Progress) => {
    progress = next
  }
  try {
    send({ result: await resultOf(tenant, task, { signal, onProgress }) })
  } catch (error) {
    if ('paths' in task && signal.aborted) send({ stopped: true })
    else if (error instanceof BrokenOff) send({ refusal: error.message, cause: plain(error.cause) })
    else send(error instanceof Refusal ? { refusal: error.message } : { failure: plain(error) })
  } finally {
    clearInterval(reporting)
  }
})

type Progress = Extract<WorkerMessage, { progress: unknown }>['progress']
type Sending = { signal: AbortSignal; onProgress: (progress: Progress) => void }

const resultOf = (tenant: TenantDatabase, task: RunTask, sending: Sending) => {
  if ('paths' in task) return importPaths(tenant, task, sending)
  if ('export' in task) return exportRecords(tenant, task, sending).catch(ifCancelled(sending, null))
  folder = task.folder
  if (task.run.kind === 'undo') return undo(tenant, task, sending)
  if (task.work !== 'inspect') return runImport(tenant, task, sending)
  return inspect(tenant, task, sending).catch(ifCancelled(sending, { state: 'cancelled' } satisfies RunResult))
}

const ifCancelled =
  <R>({ signal }: Sending, result: R) =>
  (error: unknown): R => {
    if (signal.aborted) return result
    throw error
  }

/** Most processes never load it. */
const exportRecords = async (tenant: TenantDatabase, task: ExportRunTask, sending: Sending) =>
  (await import('../export/export-work.ts')).makeExport(tenant, task.export, sending)

type Following = { signal: AbortSignal; onProgress: (progress: WorkerProgress) => void }
type Work = (tenant: TenantDatabase, task: ImportTask, following: Following) => Promise<RunResult>

/** A parent that has gone is noticed by `disconnect`, and is no error here. */
const send = (message: WorkerMessage): void => {
  process.send?.(message, undefined, undefined, () => {})
}

const plain = (error: unknown): PlainError => {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, stack } = error
  return {
    name,
    message: messageOf(error),
    ...(stack && { stack }),
    ...('code' in error && { code: String(error.code) }),
  }
}

/** The file under a name that says what it holds, if that is known. */
const fetchFile = async (tenant: TenantDatabase, { run, folder }: ImportTask): Promise<string> => {
  const ending = (/(\.\w{1,6})?(\.gz)?$/i.exec(run.fileName)?.[0] ?? '').toLowerCase()
  const path = join(folder, `file${ending}`)
  await tenant.inBulk((_client, query) =>
    pipeline(partsOf(query, run.id), createWriteStream(path, { mode: 0o600, flags: 'w' })),
  )
  return path
}

/**
 * What was seen of the file that was looked at last. It does not change, so a decision about it needs not all rows again, unless a column is
 * to be read in another way.
 */
let seen: { runId: string; members: string[]; sights: Map<string, Sight> } | null = null

const seenOf = async (runId: string, path: () => Promise<string>) => {
  if (seen?.runId !== runId) seen = { runId, members: await membersAt(await path(), mostSent), sights: new Map() }
  return seen
}

/** What decides how a table is opened. */
const openingOf = ({ member, options: { encoding, escapes, sheet } }: SentTable): string =>
  JSON.stringify([member, encoding, escapes, sheet])

/** A table that nobody has decided about is read as the last one with the same header was. */
const inspect: Work = async (tenant, task, { signal }) => {
  const { run } = task
  let fetched: Promise<string> | undefined
  const path = () => {
    fetched ??= fetchFile(tenant, task)
    return fetched
  }
  const isNew = run.inspection === null && Object.keys(run.options).length === 0
  const { members, sights } = await seenOf(run.id, path)
  const tables = sentTables(members, run)
  const isArchive = tables.length > 1
  const shown =
    tables.find(({ member }) => member === run.options.member) ??
    tables.find(({ isLeftOut }) => !isLeftOut) ??
    tables[0]
  if (!shown) throw new Refusal(`${run.fileName} holds no file that can be imported`)
  let isRemembered = !isNew && (run.inspection?.isRemembered ?? false)
  const recall = async (table: SentTable, header: readonly string[]): Promise<SentTable> => {
    const known = await tenant.transaction((query) => findMapping(query, headerKey(header)))
    if (!known) return table
    isRemembered = true
    return { ...table, resource: table.resource || known.resource, options: known.options }
  }
  const asked = ({ member, options, resource }: SentTable) => ({
    name: member || run.fileName,
    options: readingOf(options, resource),
    mappings: mappingsOf(options),
  })
  const look = async (given: SentTable): Promise<LookedAt> => {
    const sight = isNew ? undefined : sights.get(openingOf(given))
    const again = sight && (await inspectAgain(sight, asked(given)))
    if (again) return { table: given, ...again }
    const open = async ({ member, options, resource }: SentTable) =>
      openSourceFile(await path(), { ...tableReading(member, options, resource), header: undefined, bounds: mostSent })
    let [table, file] = [given, await open(given)]
    if (isNew) {
      table = await recall(given, await headerOf(file))
      if (table !== given) file = await open(table)
    }
    return { table, ...(await inspectTable(file, asked(table), signal)) }
  }
  const looks: LookedAt[] = []
  for (const table of tables) {
    // What is left out is shown, but nobody waits for it.
    const isNeeded = table === shown || !table.isLeftOut
    const looked = isNeeded
      ? await look(table).catch(unlessWhole(isArchive, table, run.fileName))
      : { table, noticed: null, sight: null }
    signal.throwIfAborted()
    looks.push(looked)
    if (looked.sight) sights.set(openingOf(looked.table), looked.sight)
  }
  const noticed = looks[tables.indexOf(shown)]?.noticed
  if (!noticed) throw new Error('the table that is shown was not looked at')
  const inspection = {
    ...noticed,
    isRemembered,
    member: shown.member,
    members: shown.member === '' ? [] : looks.map(memberOf),
  }
  if (isArchive)
    return { state: 'inspected', inspection, options: isRemembered ? withMembers(run.options, looks) : run.options }
  return {
    state: 'inspected',
    inspection,
    options: looks[0]?.table.options ?? run.options,
    ...(noticed.resource && { resource: noticed.resource }),
  }
}

type LookedAt = { table: SentTable; noticed: TableInspection | null; sight: Sight | null }

/** Of an archive, a file that cannot be read can be left out. */
const unlessWhole = (isArchive: boolean, table: SentTable, fileName: string) => (error: unknown) => {
  if (!isArchive || !(error instanceof Refusal)) throw error
  return { table, noticed: unreadable(toldInConsole(new Refusal(error.message), fileName)), sight: null }
}

const memberOf = ({ table, noticed }: LookedAt) => ({
  name: table.member,
  resource: table.isLeftOut ? null : (noticed?.resource ?? null),
  isLeftOut: table.isLeftOut,
  rows: table.isLeftOut ? 0 : (noticed?.rows ?? 0),
  problems: table.isLeftOut ? 0 : (noticed?.problems.length ?? 0),
})

/** What was remembered about files of an archive is shown as if it had been chosen. */
const withMembers = (options: RunOptions, looks: readonly { table: SentTable }[]): RunOptions => ({
  ...options,
  members: looks.map(({ table: { member: name, isLeftOut, resource, options } }) => ({
    name,
    isLeftOut,
    options,
    ...(resource && { resource }),
  })),
})

const tableReading = (member: string, options: FileOptions, resource: ResourceName | ''): ReadingOptions => ({
  ...readingOf(options, resource),
  ...(member !== '' && { member }),
})

const mappingsOf = (options: FileOptions): Mappings =>
  Object.fromEntries(resourceNames.map((resource) => [resource, mappingOf(options, resource)]))

/** What the command line is to say goes to it at once. */
const importPaths = (tenant: TenantDatabase, { paths, options }: FilesTask, following: Following) => {
  const tell = (event: ImportEvent) => send({ event })
  return importFiles(tenant, paths, {
    ...options,
    ...following,
    onUnderstood: (source) => tell({ understood: understood(source) }),
    onUnknownStatus: (unknownStatus) => tell({ unknownStatus }),
    onLeftOut: (leftOut) => tell({ leftOut }),
    onPrune: (missing) => tell({ missing }),
  })
}

/** The tables that are imported, each with its header and with what it holds. */
const importedTables = async (path: string, run: ImportTask['run']) => {
  const tables = sentTables(await membersAt(path, mostSent), run)
  const imported = []
  for (const table of tables.filter(({ isLeftOut }) => !isLeftOut)) {
    const reading = tableReading(table.member, table.options, table.resource)
    const file = await openSourceFile(path, { ...reading, header: undefined, bounds: mostSent })
    const { resource } = await noticeResource(file, reading, {}, table.member || run.fileName)
    if (!resource) {
      const which = tables.length > 1 ? `${table.member}: ` : ''
      throw new Refusal(`${which}the columns do not tell what the file holds: choose it`)
    }
    imported.push({ ...table, resource, header: file.header })
  }
  if (imported.length === 0) throw new Refusal('all files of the archive are left out: take one')
  return { isArchive: tables.length > 1, imported }
}

/** What an import that is cancelled has written is taken back. */
const runImport: Work = async (tenant, task, following) => {
  let importId: string | null = null
  try {
    return await importSent(tenant, task, following, (id) => {
      importId = id
    })
  } catch (error) {
    if (!following.signal.aborted) throw error
  }
  const taken = importId && (await takeBack(tenant, importId, task.author, following).catch(throwNotTakenBack))
  return { state: 'cancelled', importId, ...(taken || {}) }
}

const throwNotTakenBack = (error: unknown): never => {
  throw new BrokenOff('the import could not be taken back; what went in stays: undo it', { cause: error })
}

const importSent = async (
  tenant: TenantDatabase,
  task: ImportTask,
  { signal, onProgress }: Following,
  onBegun: (importId: string) => void,
): Promise<RunResult> => {
  const { run, work, author } = task
  const { id: runId, fileName } = run
  const path = await fetchFile(tenant, task)
  const { isArchive, imported } = await importedTables(path, run)
  const { id, files, refusals, groups, rejected } = await importFiles(tenant, [path], {
    dryRun: work === 'check',
    keepsRejected: true,
    author,
    signal,
    members: imported.map(({ member, options, resource }) => ({
      reading: tableReading(member, options, resource),
      mappings: { [resource]: mappingOf(options, resource) },
    })),
    shownName: fileName,
    most: mostSent,
    onBegun,
    onProgress,
  })
  signal.throwIfAborted()
  // A file with too many of them has none written, so the rows of an archive would not be complete.
  const areWritten = rejected.length === files.filter(({ refused }) => refused > 0).length
  const rows = areWritten
    ? await rejectedRowsOf(rejected, { path, fileName, isArchive, mostBytes: mostSent.rejectedBytes })
    : null
  await tenant.inBulk((_client, query) => storeRejectedRows(query, runId, rows))
  if (work === 'import')
    await tenant.transaction(async (query) => {
      for (const { header, resource, options } of imported)
        await rememberMapping(query, headerKey(header), { resource, options })
    })
  const memberOf = (file: string) => (isArchive ? file.slice(path.length + 1) : '')
  const sum = (count: 'created' | 'changed' | 'unchanged' | 'refused') =>
    files.reduce((total, file) => total + file[count], 0)
  return {
    state: work === 'check' ? 'checked' : 'done',
    ...(!isArchive && imported[0] && { resource: imported[0].resource }),
    created: sum('created'),
    changed: sum('changed'),
    unchanged: sum('unchanged'),
    refused: sum('refused'),
    importId: id,
    refusals: refusals.map(({ file, line, column, reason }) => ({ file: memberOf(file), line, column, reason })),
    groups: groups.map((group) => ({ ...group, file: memberOf(group.file) })),
    files: files.map((file) => ({ ...file, file: isArchive ? file.file.slice(fileName.length + 1) : file.file })),
  }
}

const lockMilliseconds = 500
const mostAttempts = 240

/** The connection of the import may be at a statement that it cannot leave at once, and has the lock until then. */
const takeBack = async (
  tenant: TenantDatabase,
  importId: string,
  author: ImportTask['author'],
  following: Following,
): Promise<Partial<RunResult> | null> => {
  for (let attempt = 1; ; attempt++) {
    const isFree = await tenant.transaction(async (query) => !(await isImportLocked(query)))
    if (isFree) break
    if (attempt === mostAttempts) throw new Error('the lock of the import was not released')
    await delay(lockMilliseconds)
  }
  const found = await tenant.transaction((query) => findImport(query, importId))
  if (!found || found.undoneAt) return null
  return undone(tenant, importId, author, following)
}

const undo: Work = async (tenant, { run: { importId }, author }, following) => ({
  state: 'done',
  ...(await undone(tenant, importId ?? '', author, following)),
})

const undone = async (
  tenant: TenantDatabase,
  importId: string,
  author: ImportTask['author'],
  { onProgress }: Following,
) => {
  const { removed, restored, keptCount } = await undoImport(tenant, importId, {
    author,
    onProgress: (rows) => onProgress({ step: 'undoing', what: 'undo', done: rows, of: 0, rows }),
  })
  return { removed, restored, kept: keptCount }
}
