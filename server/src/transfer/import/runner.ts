import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Caller } from '../../audit/author.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import { type RunWork, runApart } from './run-process.ts'
import { inTurn } from './run-queue.ts'
import { endRun, failRun, type ImportRun, type RunProgress, storeProgress } from './runs.ts'

const noteMilliseconds = 1_000

const busyTenants = new Map<string, () => void>()

/** A tenant has one run at a time in this thread. Returns what releases it, or null when another run has it. */
export const reserveTenant = (tenantId: string): (() => void) | null => {
  if (busyTenants.has(tenantId)) return null
  const release = () => {
    if (busyTenants.get(tenantId) === release) busyTenants.delete(tenantId)
  }
  busyTenants.set(tenantId, release)
  return release
}

type Ending = { onError: (error: unknown) => void; release: () => void }

/** Continues after the call that began it. Every process can read its progress. */
export const importInBackground = (
  tenant: TenantDatabase,
  run: ImportRun,
  { author, isTrial, ...ending }: Ending & { author: Caller; isTrial: boolean },
): void => {
  const { id: runId, fileName, resource } = run
  inBackground(tenant, run, { kind: 'import', runId, fileName, resource, isTrial, author }, ending)
}

export const undoInBackground = (
  tenant: TenantDatabase,
  run: ImportRun,
  { author, importId, ...ending }: Ending & { author: Caller; importId: string },
): void => inBackground(tenant, run, { kind: 'undo', importId, author }, ending)

/** Begins once the call that asks for it is stored. */
const inBackground = (tenant: TenantDatabase, run: ImportRun, work: RunWork, ending: Ending): void =>
  tenant.whenStored((after) => {
    if (after) void doNow(after, run, work, ending)
    else ending.release()
  })

const largeBytes = 1_000_000

const doNow = async (tenant: TenantDatabase, run: ImportRun, work: RunWork, { onError, release }: Ending) => {
  const { closing: signal } = tenant
  let progress: RunProgress | null = null
  // A run that waits for its turn reports too, so that nobody takes it for abandoned.
  const note = () => tenant.transaction((query) => storeProgress(query, run.id, progress))
  const noting = setInterval(() => void note().catch(() => {}), noteMilliseconds)
  try {
    const isLarge = work.kind === 'undo' || run.bytes > largeBytes
    const result = await inTurn(isLarge, signal, () =>
      withFolder((folder) => {
        const { connection, tenantId } = tenant
        const onProgress = (next: RunProgress) => {
          progress = next
        }
        return runApart({ ...work, connection, tenantId, folder }, { signal, onProgress })
      }),
    )
    // A caller who sees the end may begin the next run.
    release()
    await tenant.transaction((query) => endRun(query, run.id, result))
  } catch (error) {
    release()
    // Others find a run abandoned that the end of the process interrupts.
    if (signal.aborted) return
    if (!(error instanceof Refusal)) onError(error)
    await tenant.transaction((query) => failRun(query, run.id, reasonOf(error, run))).catch(onError)
  } finally {
    clearInterval(noting)
  }
}

const withFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-import-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A user of the console knows the file by its own name, and no command. */
const reasonOf = (error: unknown, { fileName }: ImportRun): string => {
  if (!(error instanceof Refusal)) return 'Something went wrong on our side. Try again.'
  const sentences = error.message
    .replaceAll(/\S*masthead-import-\S+?\/[\w.]+/g, fileName)
    .split(/(?<=[.;?]) /)
    .filter((sentence) => !/--\w|`masthead/.test(sentence))
  const reason = sentences.join(' ').replace(/(?<!\?)[.;]?$/, '.')
  return reason.startsWith(fileName) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1)
}
