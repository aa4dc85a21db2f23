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
export type WorkerMessage =
  | { progress: RunProgress }
  | { result: RunResult }
  | { refusal: string }
  | { failure: { name: string; message: string; stack?: string; code?: string } }

/** What it may have beside the buffers of what it reads, which are small. An import of any size needs a third of it. */
const mostMebibytes = 256

/**
 * Processes that wait for their next task, the last one in front. To begin a process stops this thread for as long as it
 * takes to copy the tables of its memory, 26 ms for 300 MB, so one that has done well is used again.
 */
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
    // Node begins the threads of V8 before a process can lower its priority, so it has none.
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

/** Until it is needed or a minute has passed. Nobody waits for it to end: it does when this process does. */
const keep = (child: ChildProcess): void => {
  child.unref()
  child.channel?.unref()
  idle.unshift(child)
  setTimeout(() => forget(child) && child.disconnect(), idleMilliseconds).unref()
}

/**
 * Does it in a process of its own, whatever the file holds: it takes no time of the threads that serve, and what V8 does when
 * its memory is exhausted, which ends all threads of a process, ends nobody else.
 */
export const runApart = async (
  task: RunTask,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: RunProgress) => void },
): Promise<RunResult> => {
  signal.throwIfAborted()
  const child = takeProcess()
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
const endOf = (task: RunTask, code: number | null, signal: NodeJS.Signals | null): Error =>
  task.kind === 'import' && (signal === 'SIGABRT' || signal === 'SIGKILL')
    ? new Refusal(
        `${task.fileName} takes more than ${mostMebibytes} MiB of memory to import: split it into several files`,
      )
    : new Error(`the process of an import ended with ${signal ?? code}`)
