import { type ChildProcess, fork } from 'node:child_process'
import type { Caller } from '../../audit/author.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import type { ImportRun, RunProgress, RunResult } from './runs.ts'

export type RunWork = { author: Caller } & (
  | { kind: 'import'; runId: string; fileName: string; resource: ImportRun['resource']; isTrial: boolean }
  | { kind: 'undo'; importId: string }
)

/** What a process of its own is to do, for whom, and where it may put files. */
export type RunTask = RunWork & { connection: TenantDatabase['connection']; tenantId: string; folder: string }

/** What it tells. */
export type Told =
  | { progress: RunProgress }
  | { result: RunResult }
  | { refusal: string }
  | { failure: { name: string; message: string; stack?: string; code?: string } }

/** What it may have beside the buffers of what it reads, which are small. An import of any size needs a third of it. */
const mostMebibytes = 256

/**
 * Does it in a process of its own, whatever the file holds: it takes no time of the threads that serve, and what V8 does when
 * its memory is exhausted, which ends all threads of a process, ends nobody else.
 */
export const runApart = async (
  task: RunTask,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: RunProgress) => void },
): Promise<RunResult> => {
  signal.throwIfAborted()
  const child = fork(new URL('./run-process.js', import.meta.url), {
    execArgv: [`--max-old-space-size=${mostMebibytes}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  // It ends by itself then, and takes its files with it, also when this thread has no time left to do that.
  const stop = () => child.connected && child.disconnect()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await outcomeOf(child, task, onProgress)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const outcomeOf = (
  child: ChildProcess,
  task: RunTask,
  onProgress: (progress: RunProgress) => void,
): Promise<RunResult> =>
  new Promise((resolve, reject) => {
    let outcome: Exclude<Told, { progress: unknown }> | null = null
    child.on('message', (told: Told) => {
      if ('progress' in told) onProgress(told.progress)
      else outcome = told
    })
    child.once('error', reject)
    // After the last message.
    child.once('close', (code, signal) => {
      if (!outcome) reject(endOf(task, code, signal))
      else if ('result' in outcome) resolve(outcome.result)
      else if ('refusal' in outcome) reject(new Refusal(outcome.refusal))
      else reject(Object.assign(new Error(), outcome.failure))
    })
    // Whatever became of it meanwhile is told by its end.
    child.send(task, () => {})
  })

/** V8 aborts a process whose memory is exhausted, and the system kills one. */
const endOf = (task: RunTask, code: number | null, signal: NodeJS.Signals | null): Error =>
  task.kind === 'import' && (signal === 'SIGABRT' || signal === 'SIGKILL')
    ? new Refusal(
        `${task.fileName} takes more than ${mostMebibytes} MiB of memory to import: split it into several files`,
      )
    : new Error(`the process of an import ended with ${signal ?? code}`)
