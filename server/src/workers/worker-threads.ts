import { setTimeout as delay } from 'node:timers/promises'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Connections } from '../database/database.ts'
import type { LogLevel } from '../log/level.ts'
import type { Log } from '../log/log.ts'
import type { ThreadAnswers } from '../metrics/process-metrics.ts'
import type { Measured } from '../metrics/thread-metrics.ts'
import type { Served } from './served-app.ts'

/** What a thread is given. */
export type ThreadData = {
  worker: number
  served: Served
  connection: { connectionString: string; role: string | null }
  connections: Connections
  /** What moves with every write of any thread. */
  revisions: SharedArrayBuffer
  logLevel: LogLevel
}

/** What a thread is told: to stop, or where to send its measures. */
export type ToThread = 'stop' | { measure: MessagePort }

type Thread = { worker: Worker; isListening: boolean; listening: Promise<void>; ended: Promise<Error | null> }

/** A thread that is busy for longer has told its measures before, and will again. */
const measuringMilliseconds = 1_000
/** For new objects, nearly all of them garbage: more would only be memory that no cache of the processor holds. */
const youngGenerationMebibytes = 12
const leastMillisecondsBetweenStarts = 1_000
/** Longer than the app takes to give up callers that stall. */
const longestStopMilliseconds = 9_500

/**
 * The threads that serve. Each listens on the same port and shares nothing but memory that it is given, so one that
 * fails takes only its own callers with it; another takes its place.
 */
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

  /** Fails as the first thread that cannot serve, or when it is to stop before all do. */
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
      await Promise.all(numbers.map((number) => threads.#begin(number).listening))
    } catch (error) {
      await threads.stop()
      throw error
    }
    for (const number of numbers) void threads.#keep(number)
    return threads
  }

  /** Each answers what it took; one that has taken nothing yet, or does not come to an end, is ended. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    const running = [...this.#threads.values()]
    for (const { worker, isListening } of running) {
      if (isListening) tell(worker, 'stop')
      else void worker.terminate()
    }
    const tooLong = setTimeout(() => running.map(({ worker }) => worker.terminate()), longestStopMilliseconds)
    await Promise.all(running.map(({ ended }) => ended))
    clearTimeout(tooLong)
  }

  /** Asks all threads for their measures. */
  async measure(): Promise<ThreadAnswers> {
    const answers = await Promise.all(
      [...this.#threads].map(async ([number, { worker }]) => ({
        thread: worker.threadId,
        worker: String(number),
        measured: await askForMeasures(worker),
      })),
    )
    return { answers, failures: this.#failures }
  }

  #begin(number: number): Thread {
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
    // Who starts us hears of it; later it is logged.
    listening.catch(() => {})
    const thread = { worker, isListening: false, listening, ended }
    this.#threads.set(number, thread)
    return thread
  }

  /** Replaces the thread in this place whenever it ends. */
  async #keep(number: number): Promise<void> {
    const { signal } = this.#stopping
    for (let begunAt = Date.now(); ; begunAt = Date.now()) {
      const error = await this.#threads.get(number)?.ended
      if (signal.aborted) return
      this.#failures++
      this.#log.error({ err: error, worker: number }, 'a worker ended; another takes its place')
      await delay(begunAt + leastMillisecondsBetweenStarts - Date.now(), null, { signal }).catch(() => {})
      if (signal.aborted) return
      this.#begin(number)
    }
  }
}

const tell = (worker: Worker, told: ToThread): void =>
  worker.postMessage(told, typeof told === 'object' ? [told.measure] : [])

const askForMeasures = (worker: Worker): Promise<Measured | null> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    const tooLong = setTimeout(() => port1.close(), measuringMilliseconds)
    port1.once('message', (measured) => {
      resolve(measured)
      port1.close()
    })
    // Also when the thread ends: it held the other end.
    port1.once('close', () => {
      clearTimeout(tooLong)
      resolve(null)
    })
    tell(worker, { measure: port2 })
  })
