import { type ChildProcess, fork } from 'node:child_process'
import type { Caller } from '../../audit/author.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import type { ExportProgress } from '../export/export-jobs.ts'
import type { ExportResult, ExportTask } from '../export/export-work.ts'
import type { ImportOptions, ImportProgress, ImportSummary } from '../import/import.ts'
import type { Missing } from '../import/staging/prune.ts'
import type { UnknownStatus } from '../import/staging/unknown-statuses.ts'
import type { ImportRun, RunResult } from './runs.ts'

export type RunWork = {
  run: Pick<ImportRun, 'id' | 'kind' | 'fileName' | 'resource' | 'options' | 'inspection' | 'importId' | 'bytes'>
  /** What is done with the file of an import. */
  work: 'inspect' | 'check' | 'import'
  author: Caller
}

/** Tells the process to end what it does, and to take back what it has written. */
export type Cancellation = { cancel: true }

type OfTenant = { connection: TenantDatabase['connection']; tenantId: string }

/** A file that was sent, or an undo. */
export type ImportTask = OfTenant & RunWork & { folder: string }
/** Files of this machine, which the command line imports. */
export type FilesTask = OfTenant & {
  paths: readonly string[]
  options: Pick<ImportOptions, 'mappings' | 'reading' | 'dryRun' | 'strict' | 'prune' | 'force'>
}
export type ExportRunTask = OfTenant & { export: ExportTask }
export type RunTask = ImportTask | FilesTask | ExportRunTask

type ProgressOf<T extends RunTask> = T extends ExportRunTask ? ExportProgress : WorkerProgress
/** Of an export that was cancelled nothing is left to tell. */
type ResultOf<T extends RunTask> = T extends ExportRunTask
  ? ExportResult | null
  : T extends FilesTask
    ? ImportSummary
    : RunResult

/** What the command line says before the import ends, in the order in which it happens. */
export type ImportEvent =
  | { understood: string[] }
  | { unknownStatus: UnknownStatus }
  | { leftOut: string }
  | { missing: Missing }

/** What is read or written is named for the command line. */
export type WorkerProgress = ImportProgress & { what: string }

/** What the log needs of an error. */
export type PlainError = { name: string; message: string; stack?: string; code?: string }

/** The process sends these to its parent. */
export type WorkerMessage =
  | { progress: ProgressOf<RunTask> }
  | { event: ImportEvent }
  | { result: ResultOf<RunTask> }
  | { stopped: true }
  | { refusal: string; cause?: PlainError }
  | { failure: PlainError }

/** Limits the heap of the process; an import of any size needs a third of it. */
const mostMebibytes = 256

/** The last used process comes first. A fork blocks this thread (26 ms with 300 MB of memory), so processes are reused. */
const idle: ChildProcess[] = []
const idleMilliseconds = 60_000

const takeProcess = (): ChildProcess => {
  const child = idle.shift() ?? beginProcess()
  child.ref()
  child.channel?.ref()
  return child
}

const beginProcess = (): ChildProcess => {
  const child = fork(new URL('./run-start.js', import.meta.url), {
    // Node starts the threads of V8 before a process can lower its priority, so there are none. Rows live briefly: with a
    // small nursery an import of 300,000 of them takes 90 MiB instead of 190, at the same speed.
    execArgv: [`--max-old-space-size=${mostMebibytes}`, '--v8-pool-size=0', '--max-semi-space-size=16'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // A map of the command line has values that JSON does not know.
    serialization: 'advanced',
  })
  child.once('close', () => forget(child))
  return child
}

const forget = (child: ChildProcess): boolean => {
  const place = idle.indexOf(child)
  if (place >= 0) idle.splice(place, 1)
  return place >= 0
}

/** An idle process ends after a minute, or with this process. */
const keep = (child: ChildProcess): void => {
  child.unref()
  child.channel?.unref()
  idle.unshift(child)
  setTimeout(() => forget(child) && child.disconnect(), idleMilliseconds).unref()
}

/** `signal` ends the work where it is; `cancelled` lets it end in its own way: a run takes back what it has done. */
type RunSignals = { signal: AbortSignal; cancelled: AbortSignal }

type Following<T extends RunTask> = RunSignals & {
  onProgress: (progress: ProgressOf<T>) => void
  onEvent?: (event: ImportEvent) => void
}

/** A separate process takes no time of the threads that serve, and V8 ends it alone when its memory is exhausted. */
export const runApart = async <T extends RunTask>(task: T, following: Following<T>): Promise<ResultOf<T>> => {
  const { signal, cancelled } = following
  signal.throwIfAborted()
  const child = takeProcess()
  // The process deletes its files and ends when it is disconnected, even when this thread ends first.
  const stopped = Promise.withResolvers<never>()
  const stop = () => {
    if (child.connected) child.disconnect()
    // Node tells of no 'close' where this side disconnects.
    stopped.reject(signal.reason)
  }
  const cancel = () => child.connected && child.send({ cancel: true } satisfies Cancellation, () => {})
  signal.addEventListener('abort', stop, { once: true })
  cancelled.addEventListener('abort', cancel, { once: true })
  try {
    const outcome = outcomeOf(child, task, following)
    if (cancelled.aborted) cancel()
    return await Promise.race([outcome, stopped.promise])
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    cancelled.removeEventListener('abort', cancel)
    if (child.connected) keep(child)
  }
}

const outcomeOf = <T extends RunTask>(child: ChildProcess, task: T, { cancelled, onProgress, onEvent }: Following<T>) =>
  new Promise<ResultOf<T>>((resolve, reject) => {
    child.on('message', (message: WorkerMessage) => {
      // The process tells of the task that it was given.
      if ('progress' in message) onProgress(message.progress as ProgressOf<T>)
      else if ('event' in message) onEvent?.(message.event)
      else if ('result' in message) resolve(message.result as ResultOf<T>)
      else if ('stopped' in message) reject(cancelled.reason)
      else if ('refusal' in message) {
        const { refusal, cause } = message
        reject(new Refusal(refusal, cause && { cause: Object.assign(new Error(), cause) }))
      } else reject(Object.assign(new Error(), message.failure))
    })
    child.once('error', reject)
    // After the last message.
    child.once('close', (code, signal) => reject(endOf(task, code, signal)))
    // Its end says what became of it meanwhile.
    child.send(task, () => {})
  }).finally(() => {
    for (const event of ['message', 'error', 'close']) child.removeAllListeners(event)
    child.once('close', () => forget(child))
  })

/** V8 aborts a process whose memory is exhausted, and the system kills one. */
const endOf = (task: RunTask, code: number | null, signal: NodeJS.Signals | null): Error => {
  const name = fileOf(task)
  return name !== null && (signal === 'SIGABRT' || signal === 'SIGKILL')
    ? new Refusal(`${name} takes more than ${mostMebibytes} MiB of memory to import: split it into several files`)
    : new Error(`the process of an ${'export' in task ? 'export' : 'import'} ended with ${signal ?? code}`)
}

/** An export and an undo have none. */
const fileOf = (task: RunTask): string | null => {
  if ('export' in task) return null
  if ('paths' in task) return task.paths.join(', ')
  return task.run.kind === 'import' ? task.run.fileName : null
}

// A command that has nothing else to wait for ends after the processes that it began.
process.on('beforeExit', () => {
  for (const child of idle.splice(0)) {
    child.ref()
    child.disconnect()
  }
})
