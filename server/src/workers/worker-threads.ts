import { setTimeout as delay } from 'node:timers/promises'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Connections } from '../database/database.ts'
import type { LogLevel } from '../log/level.ts'
import type { Log } from '../log/log.ts'
import type { ThreadReports } from '../metrics/process-metrics.ts'
import type { Snapshot } from '../metrics/thread-metrics.ts'
import type { Served } from './served-app.ts'

export type ThreadData = {
  worker: number
  served: Served
  connection: { connectionString: string; role: string | null }
  connections: Connections
  /** Shared memory of all threads: a write in one of them moves the revisions that the others see. */
  revisions: SharedArrayBuffer
  logLevel: LogLevel
}

export type ToThread = 'stop' | { metricsTo: MessagePort }

type Thread = { worker: Worker; isListening: boolean; listening: Promise<void>; ended: Promise<Error | null> }

const metricsTimeoutMilliseconds = 1_000
/** New objects are nearly all garbage; a larger space for them would not fit into the caches of the processor. */
const youngGenerationMebibytes = 12
const leastMillisecondsBetweenStarts = 1_000
/** This exceeds the time that the app gives stalled callers. */
const longestStopMilliseconds = 9_500

/** The threads that serve. All listen on the same port, and one that fails drops only its own connections and is replaced. */
export class WorkerThreads {
  readonly #data: Omit<ThreadData, 'worker'>
  readonly #log: Log
  readonly #threads = new Map<number, Thread>()
  readonly #stopping = new AbortController()
  #stopped: Promise<void> | null = null
  #failures = 0

  private constructor(data: Omit<ThreadData, 'worker'>, log: Log) {
    this.#data = data
    this.#log = log
  }

  /** Rejects with the error of the first thread that cannot serve, or when stopped before all threads listen. */
  static async start(
    count: number,
    data: Omit<ThreadData, 'worker'>,
    log: Log,
    stopping: AbortSignal,
  ): Promise<WorkerThreads> {
    stopping.throwIfAborted()
    const threads = new WorkerThreads(data, log)
    const numbers = Array.from({ length: count }, (_none, index) => index + 1)
    stopping.addEventListener('abort', () => void threads.stop(), { once: true })
    try {
      await Promise.all(numbers.map((number) => threads.#start(number).listening))
    } catch (error) {
      await threads.stop()
      throw error
    }
    for (const number of numbers) void threads.#restart(number)
    return threads
  }

  /** Threads complete the requests they have accepted. One that does not listen yet, or takes too long, is terminated. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    const running = [...this.#threads.values()]
    for (const { worker, isListening } of running) {
      if (isListening) worker.postMessage('stop' satisfies ToThread)
      else void worker.terminate()
    }
    const timeout = setTimeout(() => running.map(({ worker }) => worker.terminate()), longestStopMilliseconds)
    await Promise.all(running.map(({ ended }) => ended))
    clearTimeout(timeout)
  }

  async collectMetrics(): Promise<ThreadReports> {
    const reports = [...this.#threads].map(async ([number, { worker }]) => ({
      thread: worker.threadId,
      worker: String(number),
      snapshot: await requestSnapshot(worker),
    }))
    return { reports: await Promise.all(reports), failures: this.#failures }
  }

  #start(number: number): Thread {
    const worker = new Worker(new URL('../main.js', import.meta.url), {
      name: `masthead ${number}`,
      workerData: { ...this.#data, worker: number } satisfies ThreadData,
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMebibytes },
    })
    let reason: Error | null = null
    worker.on('error', (error) => {
      reason = error
    })
    const ended = new Promise<Error | null>((resolve) => worker.once('exit', () => resolve(reason)))
    const listening = new Promise<void>((resolve, reject) => {
      worker.once('message', () => {
        thread.isListening = true
        resolve()
      })
      ended.then((error) => reject(error ?? new Error(`worker ${number} ended`)))
    })
    // The first start awaits this promise; #restart logs the errors of later ones.
    listening.catch(() => {})
    const thread = { worker, isListening: false, listening, ended }
    this.#threads.set(number, thread)
    return thread
  }

  async #restart(number: number): Promise<void> {
    const { signal } = this.#stopping
    for (let startedAt = Date.now(); ; startedAt = Date.now()) {
      const error = await this.#threads.get(number)?.ended
      if (signal.aborted) return
      this.#failures++
      this.#log.error({ err: error, worker: number }, 'a worker ended and is replaced')
      await delay(startedAt + leastMillisecondsBetweenStarts - Date.now(), null, { signal }).catch(() => {})
      if (signal.aborted) return
      this.#start(number)
    }
  }
}

const requestSnapshot = (worker: Worker): Promise<Snapshot | null> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    const timeout = setTimeout(() => port1.close(), metricsTimeoutMilliseconds)
    port1.once('message', (snapshot) => {
      resolve(snapshot)
      port1.close()
    })
    // The port also closes when the thread ends, which held the other end.
    port1.once('close', () => {
      clearTimeout(timeout)
      resolve(null)
    })
    worker.postMessage({ metricsTo: port2 } satisfies ToThread, [port2])
  })
