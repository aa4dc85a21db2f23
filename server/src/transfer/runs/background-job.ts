import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { Refusal } from '../../refusal.ts'
import { inTurn } from './run-queue.ts'

/** What goes on after the call that asked for it, in a process of its own. Every node can read its progress. */
export type BackgroundJob<Progress, Result> = {
  id: string
  /** It waits for other large ones. */
  isLarge: boolean
  work: (following: {
    /** Ends the job where it is. */
    signal: AbortSignal
    /** Takes back what the job has done. */
    cancelled: AbortSignal
    onProgress: (progress: Progress) => void
  }) => Promise<Result>
  /** Stores the progress; returns whether somebody has cancelled the job. */
  note: (query: TenantQuery, progress: Progress | null) => Promise<boolean>
  end: (query: TenantQuery, result: Result) => Promise<void>
  /** Called for a job that was cancelled while it waited. */
  cancel: (query: TenantQuery) => Promise<void>
  fail: (query: TenantQuery, reason: string) => Promise<void>
  /** What the user is told of a refusal. */
  reasonOf: (refusal: Refusal) => string
}

export type Ending = { onError: (error: unknown) => void; release: () => void }

/** By the id of the job, so that a cancellation in this thread waits for nobody. */
const cancelling = new Map<string, AbortController>()

export const cancelHere = (id: string): void => cancelling.get(id)?.abort()

const noteMilliseconds = 1_000

/** Begins once the call that asks for it is stored, and continues after it. */
export const runInBackground = <P, R>(tenant: TenantDatabase, job: BackgroundJob<P, R>, ending: Ending): void =>
  tenant.whenStored((after) => {
    if (after) void doNow(after, job, ending)
    else ending.release()
  })

const doNow = async <P, R>(tenant: TenantDatabase, job: BackgroundJob<P, R>, { onError, release }: Ending) => {
  const { closing: signal } = tenant
  let progress: P | null = null
  // A job that waits for its turn reports too, so that nobody takes it for abandoned.
  const cancellation = new AbortController()
  cancelling.set(job.id, cancellation)
  const { signal: cancelled } = cancellation
  const note = async () => {
    if (await tenant.transaction((query) => job.note(query, progress))) cancellation.abort()
  }
  const noting = setInterval(() => void note().catch(() => {}), noteMilliseconds)
  const onProgress = (next: P) => {
    progress = next
  }
  try {
    // A job that has not begun is cancelled at once.
    const waiting = AbortSignal.any([signal, cancelled])
    const result = await inTurn({ owner: tenant.tenantId, isLarge: job.isLarge }, waiting, () =>
      job.work({ signal, cancelled, onProgress }),
    )
    // A caller who sees the end may begin the next one.
    release()
    await tenant.transaction((query) => job.end(query, result))
  } catch (error) {
    release()
    // Others find a job abandoned that the end of the process interrupts.
    if (signal.aborted) return
    if (cancelled.aborted && error === cancelled.reason) {
      await tenant.transaction((query) => job.cancel(query)).catch(onError)
      return
    }
    const fault = error instanceof Refusal ? error.cause : error
    if (fault !== undefined) onError(fault)
    const reason = error instanceof Refusal ? job.reasonOf(error) : 'Something went wrong on our side. Try again.'
    await tenant.transaction((query) => job.fail(query, reason)).catch(onError)
  } finally {
    clearInterval(noting)
    cancelling.delete(job.id)
  }
}
