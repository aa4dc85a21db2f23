import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Caller } from '../../audit/author.ts'
import { type Query, unpreparedOn } from '../../database/connection.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import { importFiles } from './import.ts'
import { endRun, failRun, type ImportRun, noteProgress, partsOf, type RunProgress, type RunResult } from './runs.ts'
import { undoImport } from './undo.ts'

/** How many a process does at once; each holds two connections to the database. */
const mostAtOnce = 4
const busyTenants = new Map<string, () => void>()

/** A small file may hold very much. */
const mostSent = { rows: 5_000_000, characters: 2_000_000_000 }

const noteMilliseconds = 1_000
const mostRejectedBytes = 8 * 1_024 * 1_024

/** One of the few places, one for a tenant, by what gives it back; null when none is free. */
export const takePlace = (tenantId: string): (() => void) | null => {
  if (busyTenants.size >= mostAtOnce || busyTenants.has(tenantId)) return null
  const leave = () => {
    if (busyTenants.get(tenantId) === leave) busyTenants.delete(tenantId)
  }
  busyTenants.set(tenantId, leave)
  return leave
}

/** What it does when it fails, and to leave its place. */
type Ending = { onError: (error: unknown) => void; leave: () => void }
type Doing = { signal: AbortSignal; onProgress: (progress: RunProgress) => void }
type Work = (query: Query, doing: Doing) => Promise<RunResult>

/** Goes on after the call that began it. Whoever asks for the run sees how far it is, in whatever process. */
export const importInBackground = (
  tenant: TenantDatabase,
  run: ImportRun,
  { author, isTrial, ...ending }: Ending & { author: Caller; isTrial: boolean },
): void =>
  inBackground(tenant, run, ending, (query, doing) =>
    withFile(query, run, async (path) => {
      const { id, files, refusals, rejected } = await importFiles(tenant, [path], {
        ...{ dryRun: isTrial, author, signal: doing.signal, shownName: run.fileName, most: mostSent },
        onProgress: ({ step, done, of, rows }) => doing.onProgress({ step, done, of, rows }),
      })
      const { created = 0, changed = 0, unchanged = 0, refused = 0 } = files[0] ?? {}
      return {
        ...{ state: isTrial ? 'checked' : 'done', created, changed, unchanged, refused, importId: id },
        refusals: refusals.map(({ line, column, reason }) => ({ line, column, reason })),
        rejectedRows: rejected[0] === undefined ? null : await readBounded(rejected[0]),
      }
    }),
  )

export const undoInBackground = (
  tenant: TenantDatabase,
  run: ImportRun,
  { author, importId, ...ending }: Ending & { author: Caller; importId: string },
): void =>
  inBackground(tenant, run, ending, async (_query, { signal, onProgress }) => {
    const { removed, restored, keptCount } = await undoImport(tenant, importId, {
      ...{ author, signal },
      onProgress: (rows) => onProgress({ step: 'undoing', done: rows, of: 0, rows }),
    })
    return { state: 'done', removed, restored, kept: keptCount }
  })

/** Once the call that asks for it is stored. */
const inBackground = (tenant: TenantDatabase, run: ImportRun, ending: Ending, work: Work): void =>
  tenant.whenStored((isStored) => {
    if (isStored) void doNow(tenant, run, ending, work)
    else ending.leave()
  })

const doNow = (tenant: TenantDatabase, run: ImportRun, { onError, leave }: Ending, work: Work): Promise<void> =>
  tenant
    .inBulk(async (client) => {
      const query = unpreparedOn(client)
      let progress: RunProgress | null = null
      const noting = setInterval(() => void noteProgress(query, run.id, progress).catch(() => {}), noteMilliseconds)
      try {
        const onProgress = (next: RunProgress) => {
          progress = next
        }
        const result = await work(query, { signal: tenant.closing, onProgress })
        // Whoever sees the end may begin the next.
        leave()
        await endRun(query, run.id, result)
      } catch (error) {
        // One that the end of the process interrupts is found abandoned by others.
        if (tenant.closing.aborted) return
        if (!(error instanceof Refusal)) onError(error)
        leave()
        await failRun(query, run.id, reasonOf(error, run))
      } finally {
        clearInterval(noting)
      }
    })
    // Others find the run abandoned.
    .catch(onError)
    .finally(leave)

/** The file lies in a folder of its own, under the name that says what it holds. */
const withFile = async <T>(query: Query, run: ImportRun, work: (path: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-import-'))
  try {
    const path = pathIn(folder, run)
    await pipeline(Readable.from(whole(query, run)), createWriteStream(path, { mode: 0o600, flags: 'wx' }))
    return await work(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function* whole(query: Query, run: ImportRun): AsyncGenerator<Buffer> {
  for await (const part of partsOf(query, run.id)) {
    if (part === null) throw new Refusal('the file has not arrived as a whole: send it again')
    yield part
  }
}

const pathIn = (folder: string, { fileName, resource }: ImportRun): string =>
  join(folder, resource + (/\.(csv|tsv|txt|ndjson|jsonl)(\.gz)?$/i.exec(fileName)?.[0] ?? '.csv').toLowerCase())

const readBounded = async (path: string): Promise<string | null> => {
  const rows = await readFile(path)
  // A text of the database holds no NUL.
  return rows.length > mostRejectedBytes ? null : rows.toString().replaceAll('\0', '\uFFFD')
}

/** In the words of the person, who knows the file by its own name and no command. */
const reasonOf = (error: unknown, { fileName }: ImportRun): string => {
  if (!(error instanceof Refusal)) return 'Something went wrong on our side. Try again.'
  const sentences = error.message
    .replaceAll(/\S*masthead-import-\S+?\/[\w.]+/g, fileName)
    .split(/(?<=[.;?]) /)
    .filter((sentence) => !/--\w|`masthead/.test(sentence))
  const reason = sentences.join(' ').replace(/[.;]?$/, '.')
  return reason.startsWith(fileName) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1)
}
