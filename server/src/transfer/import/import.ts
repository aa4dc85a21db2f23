import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type ResourceName, resourceNames } from '@masthead/contract'
import type pg from 'pg'
import copyStreams from 'pg-copy-streams'
import { type Caller, importer, operator } from '../../audit/author.ts'
import type { Query } from '../../database/connections/statement.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { codeOf, messageOf } from '../../error-message.ts'
import { newId } from '../../records/identifiers.ts'
import { changesCursorNow } from '../../records/lists/changes-cursor.ts'
import { Refusal } from '../../refusal.ts'
import type { Bounds } from '../files/bounds.ts'
import { asRefusal } from '../files/byte-source.ts'
import { formatOfName, importedAs, resourceOfName } from '../files/file-names.ts'
import { beginPace, type Pace } from '../pace.ts'
import type { Mappings } from '../reading/mapping.ts'
import { openTables, type ReadingOptions, type Source, sourceOf } from '../reading/sources.ts'
import { LookAgain, readTable, refuseProblems } from '../reading/table-reading.ts'
import { applyChanges, applyCreations, applyLatePredecessors, applyPrune, type Batch } from './apply.ts'
import { addCounts, tellOfImport, type WrittenCounts } from './import-events.ts'
import { withImportLock } from './import-lock.ts'
import { beginImport, endImport, type FileSummary } from './journal.ts'
import { withCopies } from './staging/copied-records.ts'
import { type Counts, judge } from './staging/judgement.ts'
import { findMissing, type Missing, prunable, readHeads, refuseLargePrune } from './staging/prune.ts'
import { type RefusalGroup, refusalGroups } from './staging/refusal-groups.ts'
import { type Rejection, setRejectedAside, writeRejected } from './staging/rejections.ts'
import { createStagingTable, RowStager, stagingTable } from './staging/staged-rows.ts'
import { type UnknownStatus, unknownStatuses } from './staging/unknown-statuses.ts'

/** How far an import is. */
export type ImportProgress = {
  step: 'reading' | 'judging' | 'writing' | 'undoing'
  done: number
  of: number
  rows: number
}

export type ImportOptions = {
  mappings?: Mappings
  /** How the files are read, where that is not noticed. */
  reading?: ReadingOptions
  /** How single files of an archive are read; others are left out. */
  members?: readonly { reading: ReadingOptions; mappings: Mappings }[]
  /** Called for each file once it is known how it is read. */
  onUnderstood?: (source: Source) => void
  /** Called for each value that goes in and is no known status. */
  onUnknownStatus?: (status: UnknownStatus) => void
  /** Called before the first record is written. */
  onBegun?: (importId: string) => void
  dryRun?: boolean
  /** Writes the refused rows of a dry run, too. */
  keepsRejected?: boolean
  /** The operator who runs the command, unless a caller of the API imports. */
  author?: Caller
  /** Replaces the path of the file in the summary; of an archive, that is followed by the name of the file in it. */
  shownName?: string
  /** Limits what is read of a file, and written of its refused rows. */
  most?: Bounds & { rejectedBytes: number }
  strict?: boolean
  prune?: boolean
  force?: boolean
  signal?: AbortSignal
  onProgress?: (progress: ImportProgress & { what: string }) => void
  /** Called before records are marked as deleted. */
  onPrune?: (missing: Missing) => void
  /** Called for files in a folder that could hold records but are named after no resource. */
  onLeftOut?: (path: string) => void
}

export type ImportSummary = Awaited<ReturnType<typeof importFiles>>

/**
 * Everything is read and judged before anything is written. Returns the id that an undo takes, null when nothing was to
 * be written, the paths of the files of refused rows, the first refused rows, and all of them by reason.
 */
export const importFiles = async (tenant: TenantDatabase, paths: readonly string[], options: ImportOptions = {}) => {
  const sources = await openSources(paths, options)
  if (options.prune && !sources.some(({ resource }) => prunable.includes(resource))) {
    throw new Refusal(`--prune needs a file of ${prunable.join(' or of ')}`)
  }
  return tenant.inBulk((client, query) =>
    withImportLock(query, () =>
      untilStopped(client, options.signal, () => importOn(tenant, client, query, sources, options)),
    ),
  )
}

const importOn = async (
  tenant: TenantDatabase,
  client: pg.Client,
  query: TenantQuery,
  sources: Source[],
  options: ImportOptions,
) => {
  const { isSharded = false } = tenant.connection
  const now = new Date().toISOString()
  const heads = options.prune ? await readHeads(query) : new Map<string, number>()
  const pace = await beginPace(query.withoutTenant, options.signal)
  const staged = resourceNames.filter((resource) => sources.some((source) => source.resource === resource))
  const rows = new Map<ResourceName, number>()
  for (const resource of staged) rows.set(resource, await stage(client, pace, resource, sources, now, options))
  const byRecords = <T>(work: () => Promise<T>) => (isSharded ? withCopies(query, staged, work) : work())
  options.onProgress?.({ step: 'judging', what: 'rows', done: 0, of: 0, rows: 0 })
  const { counts, pruned } = await byRecords(async () => ({
    counts: await judge(query, pace, rows),
    pruned: options.prune ? await findAllMissing(query, staged, heads, options) : [],
  }))
  const files = summarise(counts, sources, options)
  for (const resource of staged)
    for (const status of await unknownStatuses(query.withoutTenant, resource)) options.onUnknownStatus?.(status)
  const refusals = await firstRefusals(query.withoutTenant, sources, files)
  const groups = await groupsOf(query.withoutTenant, sources, files)
  const rejected =
    options.dryRun && !options.keepsRejected
      ? []
      : await writeAllRejected(query.withoutTenant, sources, files, options.most?.rejectedBytes)
  const summary = { files, rejected, refusals, groups, pruned }
  const isRefused = options.strict && files.some(({ refused }) => refused > 0)
  if (options.dryRun || isRefused) return { id: null, ...summary }
  const [id, author] = [newId(), options.author ?? operator]
  const cursor = await changesCursorNow(tenant)
  options.onBegun?.(id)
  await beginImport(query, author, id, files, cursor)
  await apply(query, pace, staged, { id, now, pruned, files }, options)
  await endImport(query, author, id, files, () =>
    tellOfImport(query, { type: 'import.completed', importId: id, counts: countsOf(files, pruned) }),
  )
  return { id, ...summary }
}

/** A record that a full file no longer holds is changed, too. */
const countsOf = (files: readonly FileSummary[], pruned: readonly Missing[]): WrittenCounts => {
  const counts: WrittenCounts = {}
  for (const { resource, created, changed } of files) addCounts(counts, resource, { created, changed })
  for (const { resource, missing } of pruned) addCounts(counts, resource, { created: 0, changed: missing })
  return counts
}

/** A statement may take long, so an abort ends the connection in the middle of one. */
const untilStopped = async <T>(client: pg.Client, signal: AbortSignal | undefined, work: () => Promise<T>) => {
  const end = () => void client.end().catch(() => {})
  signal?.addEventListener('abort', end, { once: true })
  try {
    return await work()
  } finally {
    signal?.removeEventListener('abort', end)
  }
}

const openSources = async (paths: readonly string[], options: ImportOptions): Promise<Source[]> => {
  const { mappings = {}, reading = {}, members = [{ reading, mappings }], most, signal } = options
  const { onLeftOut, onUnderstood } = options
  const files = new Set((await Promise.all(paths.map((path) => filesAt(path, onLeftOut)))).flat())
  const sources: Source[] = []
  for (const path of files)
    for (const { reading, mappings } of members) {
      const { imported, leftOut } = await openTables(path, reading, most)
      for (const { path } of leftOut) onLeftOut?.(path)
      for (const file of imported) {
        const source = await sourceOf(file, reading, mappings, signal)
        refuseProblems(source.reading)
        onUnderstood?.(source)
        sources.push(source)
      }
    }
  return sources
}

/** A folder stands for its files that are named after a resource, without rejected rows of an earlier import. */
const filesAt = async (path: string, onLeftOut: ImportOptions['onLeftOut']): Promise<string[]> => {
  const found = await stat(path).catch((error) => {
    throw asRefusal(path, error)
  })
  if (!found.isDirectory()) return [path]
  const all = (await readdir(path)).sort()
  for (const name of all) if (formatOfName(name) && !resourceOfName(name)) onLeftOut?.(join(path, name))
  const names = all.filter(importedAs)
  if (names.length > 0) return names.map((name) => join(path, name))
  throw new Refusal(`the folder ${path} holds nothing to import: name files like contacts.csv or invoices.ndjson.gz`)
}

/** Returns how many rows there are. Rows that are written in another way than the first ones make it begin again. */
const stage = async (
  client: pg.Client,
  pace: Pace,
  resource: ResourceName,
  sources: Source[],
  now: string,
  options: ImportOptions,
): Promise<number> => {
  await client.query(createStagingTable(resource))
  for (;;) {
    const staged = await stageRows(client, pace, resource, sources, now, options)
    if (typeof staged === 'number') return staged
    const { signal, onUnderstood } = options
    staged.reading = await readTable(staged.file, resource, staged.options, { isWhole: true, signal })
    refuseProblems(staged.reading)
    onUnderstood?.(staged)
    await client.query(`truncate ${stagingTable(resource)}`)
  }
}

/** Returns how many rows there are, or the source that must be looked at again. */
const stageRows = async (
  client: pg.Client,
  pace: Pace,
  resource: ResourceName,
  sources: readonly Source[],
  now: string,
  { signal, onProgress }: ImportOptions,
): Promise<number | Source> => {
  const stager = new RowStager(resource, now)
  const copy = async (text: string) => {
    await pipeline([text], client.query(copyStreams.from(`copy ${stagingTable(resource)} from stdin`)))
    await pace.rest()
  }
  let copying = Promise.resolve()
  let text = ''
  let count = 0
  const flush = async () => {
    await copying
    copying = copy(text)
    copying.catch(() => {})
    text = ''
    count = 0
    // The next rows are read meanwhile, unless others need the second processor.
    if (pace.isShared()) await copying
  }
  let current: Source | undefined
  try {
    for (const [index, source] of sources.entries()) {
      if (source.resource !== resource) continue
      current = source
      const before = stager.count
      const { file, reading } = source
      for await (const rows of file.rows()) {
        signal?.throwIfAborted()
        if (rows.length === 0) await pace.rest()
        for (const row of rows) {
          text += stager.line(index, reading.read(row), !reading.isComplete)
          if (++count >= pace.portion(2_500)) await flush()
        }
        const { path, size, bytes } = file
        onProgress?.({ step: 'reading', what: path, done: bytes(), of: size, rows: stager.count - before })
      }
    }
    await flush()
  } catch (error) {
    if (error instanceof LookAgain && current) return current
    throw error
  } finally {
    // What the connection is at must end before it is asked for something else.
    await copying
  }
  return stager.count
}

const findAllMissing = async (
  query: TenantQuery,
  staged: readonly ResourceName[],
  heads: ReadonlyMap<string, number>,
  { force, dryRun, onPrune }: ImportOptions,
): Promise<Missing[]> => {
  const found: Missing[] = []
  for (const resource of staged.filter((name) => prunable.includes(name))) {
    const missing = await findMissing(query, resource, heads.get(resource) ?? 0)
    if (!force && !dryRun) refuseLargePrune(missing)
    onPrune?.(missing)
    found.push(missing)
  }
  return found
}

const summarise = (
  counts: ReadonlyMap<number, Counts>,
  sources: readonly Source[],
  { shownName }: ImportOptions,
): FileSummary[] =>
  sources.map(({ file, resource }, index) => {
    const { create = 0, change = 0, same = 0, refused = 0 } = counts.get(index) ?? {}
    const name = shownName !== undefined && file.members.length > 1 ? `${shownName}/${file.member}` : shownName
    return { file: name ?? file.path, resource, created: create, changed: change, unchanged: same, refused }
  })

/** A file without refused rows has no file of rejected rows, even when an earlier import left one. */
const writeAllRejected = async (
  query: Query,
  sources: readonly Source[],
  files: readonly FileSummary[],
  mostBytes?: number,
): Promise<string[]> => {
  const written: string[] = []
  for (const [index, { resource, file, reading }] of sources.entries()) {
    if ((files[index]?.refused ?? 0) > 0) {
      const path = await writeRejected(reading, readRejections(query, resource, index), mostBytes)
      if (path !== null) written.push(path)
    } else {
      await setRejectedAside(file)
    }
  }
  return written
}

const mostShown = 20

const firstRefusals = async (query: Query, sources: readonly Source[], files: readonly FileSummary[]) => {
  const first: { file: string; line: number; column: string; reason: string }[] = []
  for (const [index, { resource, file }] of sources.entries()) {
    if ((files[index]?.refused ?? 0) === 0) continue
    for await (const { line, field, reason } of readRejections(query, resource, index)) {
      if (first.length >= mostShown) return first
      first.push({ file: file.path, line, column: field, reason })
    }
  }
  return first
}

const groupsOf = async (query: Query, sources: readonly Source[], files: readonly FileSummary[]) => {
  const groups: (RefusalGroup & { file: string })[] = []
  for (const [index, { resource, file }] of sources.entries()) {
    if ((files[index]?.refused ?? 0) === 0) continue
    groups.push(...(await refusalGroups(query, resource, index)).map((group) => ({ file: file.path, ...group })))
  }
  return groups
}

async function* readRejections(query: Query, resource: ResourceName, file: number): AsyncGenerator<Rejection> {
  const text = `select number, line, field, reason from ${stagingTable(resource)}
    where file = $1 and reason is not null and number > $2 order by number limit 1000`
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows: (Rejection & { number: number })[] = await query({ text, values: [file, after] })
    yield* rows
    after = rows.at(-1)?.number
  }
}

/** New records come first, because changed ones may refer to them. */
const apply = async (
  query: TenantQuery,
  pace: Pace,
  staged: readonly ResourceName[],
  { id, now, pruned, files }: { id: string; now: string; pruned: readonly Missing[]; files: readonly FileSummary[] },
  { author, signal = new AbortController().signal, onProgress }: ImportOptions,
): Promise<void> => {
  const of =
    files.reduce((sum, { created, changed }) => sum + created + changed, 0) +
    pruned.reduce((sum, { missing }) => sum + missing, 0)
  let done = 0
  const batchOf = (what: string): Batch => ({
    importId: id,
    author: author ? { ...author, import: id } : importer(id),
    now,
    signal,
    pace,
    onRows: (count) => {
      done += count
      onProgress?.({ step: 'writing', what, done, of, rows: done })
    },
  })
  try {
    for (const resource of staged) await applyCreations(query, resource, batchOf(resource))
    for (const resource of staged) await applyChanges(query, resource, batchOf(resource))
    for (const resource of staged) await applyLatePredecessors(query, resource, { ...batchOf(''), onRows: () => {} })
    for (const { resource } of pruned) await applyPrune(query, resource, batchOf(resource))
  } catch (error) {
    if (signal.aborted) throw error
    const remedy = `what went in stays; the same command completes it, \`masthead import undo ${id}\` takes it back`
    if (isConflict(error)) throw new Refusal(`somebody else changed these records at the same time; ${remedy}`)
    throw new BrokenOff(`${reasonOf(error)}; ${remedy}`, { cause: error })
  }
}

/** An import that failed for a reason that neither the file nor the user has caused. Its cause is logged for the operator. */
export class BrokenOff extends Refusal {}

const isConflict = (error: unknown): boolean => ['23505', '23503'].includes(codeOf(error))

const reasonOf = (error: unknown): string =>
  ['53100', '58030'].includes(codeOf(error))
    ? 'the disk of the database is full'
    : `the import broke off: ${messageOf(error)}`
