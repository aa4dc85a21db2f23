import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TenantDatabase } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import { type RunWork, runApart } from './run-process.ts'
import { inTurn } from './run-queue.ts'
import { endRun, failRun, type RunProgress, storeProgress } from './runs.ts'

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

/** By the id of the run, so that a cancellation in this thread waits for nobody. */
const cancelling = new Map<string, AbortController>()

export const cancelHere = (runId: string): void => cancelling.get(runId)?.abort()

type Ending = { onError: (error: unknown) => void; release: () => void }

/** Begins once the call that asks for it is stored, and continues after it. Every process can read its progress. */
export const runInBackground = (tenant: TenantDatabase, work: RunWork, ending: Ending): void =>
  tenant.whenStored((after) => {
    if (after) void doNow(after, work, ending)
    else ending.release()
  })

const largeBytes = 1_000_000

const doNow = async (tenant: TenantDatabase, work: RunWork, { onError, release }: Ending) => {
  const { run } = work
  const { closing: signal } = tenant
  let progress: RunProgress | null = null
  // A run that waits for its turn reports too, so that nobody takes it for abandoned.
  const cancellation = new AbortController()
  cancelling.set(run.id, cancellation)
  const { signal: cancelled } = cancellation
  const note = async () => {
    if (await tenant.transaction((query) => storeProgress(query, run.id, progress))) cancellation.abort()
  }
  const noting = setInterval(() => void note().catch(() => {}), noteMilliseconds)
  try {
    const isLarge = run.kind === 'undo' || run.bytes > largeBytes
    // A run that has not begun is cancelled at once.
    const waiting = AbortSignal.any([signal, cancelled])
    const result = await inTurn(isLarge, waiting, async () => {
      await using folder = await mkdtempDisposable(join(tmpdir(), 'masthead-import-'))
      const { connection, tenantId } = tenant
      const onProgress = (next: RunProgress) => {
        progress = next
      }
      return await runApart({ ...work, connection, tenantId, folder: folder.path }, { signal, cancelled, onProgress })
    })
    // A caller who sees the end may begin the next run.
    release()
    await tenant.transaction((query) => endRun(query, run.id, result))
  } catch (error) {
    release()
    // Others find a run abandoned that the end of the process interrupts.
    if (signal.aborted) return
    if (cancelled.aborted && error === cancelled.reason) {
      await tenant.transaction((query) => endRun(query, run.id, { state: 'cancelled' })).catch(onError)
      return
    }
    if (!(error instanceof Refusal)) onError(error)
    await tenant.transaction((query) => failRun(query, run.id, reasonOf(error, run.fileName))).catch(onError)
  } finally {
    clearInterval(noting)
    cancelling.delete(run.id)
  }
}

/** A user of the console knows the file by its own name, and no command. */
const reasonOf = (error: unknown, fileName: string): string => {
  if (!(error instanceof Refusal)) return 'Something went wrong on our side. Try again.'
  const sentences = error.message
    .replaceAll(/\S*masthead-import-\S+?\/[\w.]+/g, fileName)
    .split(/(?<=[.;?]) /)
    .filter((sentence) => !/--\w|`masthead/.test(sentence))
  const reason = sentences.join(' ').replace(/(?<!\?)[.;]?$/, '.')
  return reason.startsWith(fileName) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1)
}
