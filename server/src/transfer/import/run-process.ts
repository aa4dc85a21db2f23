import { type ChildProcess, fork } from 'node:child_process'
import type { Caller } from '../../audit/author.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import type { ImportRun, RunProgress, RunResult } from './runs.ts'

export type RunWork = {
  run: Pick<ImportRun, 'id' | 'kind' | 'fileName' | 'resource' | 'options' | 'inspection' | 'importId' | 'bytes'>
  /** What is done with the file of an import. */
  work: 'inspect' | 'check' | 'import'
  author: Caller
}

/** Tells the process to end what it does, and to take back what it has written. */
export type Cancellation = { cancel: true }

export type RunTask = RunWork & { connection: TenantDatabase['connection']; tenantId: string; folder: string }

/** The process sends these to its parent. */
export type WorkerMessage =
  | { progress: RunProgress }
  | { result: RunResult }
  | { refusal: string }
  | { failure: { name: string; message: string; stack?: string; code?: string } }

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
  const child = fork(new URL('./run-process.js', import.meta.url), {
    // Node starts the threads of V8 before a process can lower its priority, so there are none.
    execArgv: [`--max-old-space-size=${mostMebibytes}`, '--v8-pool-size=0'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
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

/** `signal` ends the run where it is, `cancelled` takes back what it has done. */
export type RunSignals = { signal: AbortSignal; cancelled: AbortSignal }

/** A separate process takes no time of the threads that serve, and V8 ends it alone when its memory is exhausted. */
export const runApart = async (
  task: RunTask,
  { signal, cancelled, onProgress }: RunSignals & { onProgress: (progress: RunProgress) => void },
): Promise<RunResult> => {
  signal.throwIfAborted()
  const child = takeProcess()
  // The process deletes its files and ends when it is disconnected, even when this thread ends first.
  const stop = () => child.connected && child.disconnect()
  const cancel = () => child.connected && child.send({ cancel: true } satisfies Cancellation, () => {})
  signal.addEventListener('abort', stop, { once: true })
  cancelled.addEventListener('abort', cancel, { once: true })
  try {
    const outcome = outcomeOf(child, task, onProgress)
    if (cancelled.aborted) cancel()
    return await outcome
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    cancelled.removeEventListener('abort', cancel)
    if (child.connected) keep(child)
  }
}

const outcomeOf = (child: ChildProcess, task: RunTask, onProgress: (progress: RunProgress) => void) =>
  new Promise<RunResult>((resolve, reject) => {
    child.on('message', (message: WorkerMessage) => {
      if ('progress' in message) onProgress(message.progress)
      else if ('result' in message) resolve(message.result)
      else if ('refusal' in message) reject(new Refusal(message.refusal))
      else reject(Object.assign(new Error(), message.failure))
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
const endOf = ({ run }: RunTask, code: number | null, signal: NodeJS.Signals | null): Error =>
  run.kind === 'import' && (signal === 'SIGABRT' || signal === 'SIGKILL')
    ? new Refusal(
        `${run.fileName} takes more than ${mostMebibytes} MiB of memory to import: split it into several files`,
      )
    : new Error(`the process of an import ended with ${signal ?? code}`)
