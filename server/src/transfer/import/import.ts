import { readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ResourceName } from '@masthead/contract'
import pg from 'pg'
import copyStreams from 'pg-copy-streams'
import { unpreparedOn } from '../../database/connection.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { newId } from '../../records/identifiers.ts'
import { Refusal } from '../../refusal.ts'
import { transferOrder } from '../columns.ts'
import { importedAs, resourceOfName } from '../files/file-names.ts'
import { openSourceFile, type SourceFile } from '../files/source-file.ts'
import { applyChanges, applyCreations, applyLatePredecessors, applyPrune, type Batch } from './application.ts'
import { type GivenRow, givenRows } from './given-rows.ts'
import { beginImport, endImport, type FileSummary } from './journal.ts'
import { type Action, judge, judgementTable } from './judgement.ts'
import { hint, type Mappings } from './mapping.ts'
import { findMissing, type Missing, prunable, readHeads, refuseLargePrune } from './prune.ts'
import { type Rejection, rejectedFileOf, writeRejected } from './rejections.ts'
import { copyIntoStaging, createStagingTable, RowStager, stagingTable } from './staged-rows.ts'
import { whileAlone } from './turn.ts'

export type ImportOptions = {
  mappings?: Mappings
  dryRun?: boolean
  strict?: boolean
  prune?: boolean
  force?: boolean
  signal?: AbortSignal
  onProgress?: (progress: ImportProgress) => void
  /** Told how many records will be marked as deleted, before they are. */
  onPrune?: (missing: Missing) => void
}

export type ImportProgress = {
  step: 'reading' | 'judging' | 'writing'
  what: string
  done: number
  of: number
  rows: number
}

export type ImportSummary = {
  /** By which it can be undone; null when nothing was to be written. */
  id: string | null
  files: FileSummary[]
  /** Where the refused rows are. */
  rejected: string[]
  pruned: Missing[]
}

/** Rows of one resource, and the name under which the summary shows them. */
export type Source = {
  name: string
  resource: ResourceName
  file: SourceFile | null
  rows: () => AsyncIterable<GivenRow[]>
}

export const importFiles = async (
  tenant: TenantDatabase,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<ImportSummary> => importRows(tenant, await openSources(paths, options.mappings ?? {}), options)

/** Everything is read and judged before anything is written. */
export const importRows = (
  tenant: TenantDatabase,
  sources: readonly Source[],
  options: ImportOptions = {},
): Promise<ImportSummary> =>
  tenant.inBulk((client) =>
    whileAlone(client, async () => {
      const now = new Date().toISOString()
      const heads = options.prune ? await readHeads(client) : new Map<string, number>()
      const staged = transferOrder.filter((resource) => sources.some((source) => source.resource === resource))
      for (const resource of staged) await stage(client, resource, sources, now, options)
      options.onProgress?.({ step: 'judging', what: 'rows', done: 0, of: 0, rows: 0 })
      await judge(client, staged)
      const pruned = options.prune ? await findAllMissing(client, staged, heads, options) : []
      const files = await summarise(client, sources)
      const rejected = await writeAllRejected(client, sources)
      const isRefused = options.strict && files.some(({ refused }) => refused > 0)
      if (options.dryRun || isRefused) return { id: null, files, rejected, pruned }
      const id = newId()
      await beginImport(unpreparedOn(client), id, files)
      await apply(client, staged, { id, now, pruned, files }, options)
      await endImport(unpreparedOn(client), id, files)
      return { id, files, rejected, pruned }
    }),
  )

const openSources = async (paths: readonly string[], mappings: Mappings): Promise<Source[]> => {
  const files = (await Promise.all(paths.map(filesAt))).flat()
  const sources: Source[] = []
  for (const path of files) {
    const resource = resourceOf(path)
    const file = await openSourceFile(path)
    sources.push({ name: path, resource, file, rows: givenRows(file, resource, mappings[resource]) })
  }
  return sources
}

/** Of a folder, the files that are named after a resource; rejected rows of an earlier import are not among them. */
const filesAt = async (path: string): Promise<string[]> => {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return [path]
  const names = (await readdir(path)).sort().filter(importedAs)
  if (names.length > 0) return names.map((name) => join(path, name))
  throw new Refusal(`the folder ${path} holds nothing to import: name files like contacts.csv or invoices.ndjson.gz`)
}

const resourceOf = (path: string): ResourceName => {
  const resource = resourceOfName(path)
  if (resource) return resource
  const [word = ''] = /^[a-z]*/i.exec(basename(path)) ?? []
  throw new Refusal(`${path} must be named after what it holds, like contacts.csv. ${hint(word, transferOrder)}`)
}

const stage = async (
  client: pg.Client,
  resource: ResourceName,
  sources: readonly Source[],
  now: string,
  { signal, onProgress }: ImportOptions,
): Promise<void> => {
  await client.query(createStagingTable(resource))
  const stager = new RowStager(resource, now)
  const lines = async function* () {
    for (const [index, source] of sources.entries()) {
      if (source.resource !== resource) continue
      const before = stager.count
      for await (const rows of source.rows()) {
        signal?.throwIfAborted()
        let text = ''
        for (const row of rows) text += stager.line(index, row)
        yield text
        const { file } = source
        const [done, of] = file ? [file.bytes(), file.size] : [0, 0]
        onProgress?.({ step: 'reading', what: source.name, done, of, rows: stager.count - before })
      }
    }
  }
  await pipeline(Readable.from(lines()), client.query(copyStreams.from(copyIntoStaging(resource))))
}

const findAllMissing = async (
  client: pg.Client,
  staged: readonly ResourceName[],
  heads: ReadonlyMap<string, number>,
  { force, onPrune }: ImportOptions,
): Promise<Missing[]> => {
  const found: Missing[] = []
  for (const resource of staged.filter((name) => prunable.includes(name))) {
    const missing = await findMissing(client, resource, heads.get(resource) ?? 0)
    if (!force) refuseLargePrune(missing)
    onPrune?.(missing)
    found.push(missing)
  }
  return found
}

const summarise = async (client: pg.Client, sources: readonly Source[]): Promise<FileSummary[]> => {
  const summaries: FileSummary[] = []
  for (const [index, { name, resource }] of sources.entries()) {
    const { rows } = await client.query<Record<Action | 'refused', number>>(
      `select count(*) filter (where action = 'create') as create, count(*) filter (where action = 'change') as change,
        count(*) filter (where action = 'same') as same,
        (select count(*) from ${stagingTable(resource)} where file = $1 and reason is not null) as refused
      from ${judgementTable(resource)} where file = $1`,
      [index],
    )
    const { create = 0, change = 0, same = 0, refused = 0 } = rows[0] ?? {}
    summaries.push({ file: name, resource, created: create, changed: change, unchanged: same, refused })
  }
  return summaries
}

/** A file without refused rows has no file of rejected ones, also when an earlier import left one. */
const writeAllRejected = async (client: pg.Client, sources: readonly Source[]): Promise<string[]> => {
  const written: string[] = []
  for (const [index, { resource, file }] of sources.entries()) {
    if (!file) continue
    const rejections = readRejections(client, resource, index)
    const first = await rejections.next()
    if (first.done) await rm(rejectedFileOf(file.path), { force: true })
    else written.push(await writeRejected(file, prepend(first.value, rejections)))
  }
  return written
}

async function* prepend<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}

async function* readRejections(client: pg.Client, resource: ResourceName, file: number): AsyncGenerator<Rejection> {
  for (let after = 0; ; ) {
    const { rows } = await client.query<Rejection & { number: number }>(
      `select number, line, field, reason from ${stagingTable(resource)}
        where file = $1 and reason is not null and number > $2 order by number limit 1000`,
      [file, after],
    )
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = last.number
  }
}

type Decided = { id: string; now: string; pruned: readonly Missing[]; files: readonly FileSummary[] }

/** New records first: a changed one may refer to them. */
const apply = async (
  client: pg.Client,
  staged: readonly ResourceName[],
  { id, now, pruned, files }: Decided,
  { signal = new AbortController().signal, onProgress }: ImportOptions,
): Promise<void> => {
  const of =
    files.reduce((sum, { created, changed }) => sum + created + changed, 0) +
    pruned.reduce((sum, { missing }) => sum + missing, 0)
  let done = 0
  const batchOf = (what: string): Batch => ({
    ...{ importId: id, now, signal },
    onRows: (count) => {
      done += count
      onProgress?.({ step: 'writing', what, done, of, rows: done })
    },
  })
  try {
    for (const resource of staged) await applyCreations(client, resource, batchOf(resource))
    for (const resource of staged) await applyChanges(client, resource, batchOf(resource))
    if (staged.includes('subscriptions')) await applyLatePredecessors(client, { ...batchOf(''), onRows: () => {} })
    for (const { resource } of pruned) await applyPrune(client, resource, batchOf(resource))
  } catch (error) {
    const isConflict = error instanceof pg.DatabaseError && (error.code === '23505' || error.code === '23503')
    if (!isConflict) throw error
    throw new Refusal(
      'somebody else changed these records at the same time: run the same command again to complete it',
      {
        cause: error,
      },
    )
  }
}
