import { setTimeout as delay } from 'node:timers/promises'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { DatabaseAddress } from '../database/connections/address.ts'
import type { Connections } from '../database/database.ts'
import { lazily } from '../lazily.ts'
import type { LogLevel } from '../log/level.ts'
import type { Log } from '../log/log.ts'
import type { ThreadReports } from '../metrics/process-metrics.ts'
import type { Snapshot } from '../metrics/thread-metrics.ts'
import { newSpaceMebibytes } from './heap-bounds.ts'
import type { Served } from './served-app.ts'

export type ThreadData = {
  worker: number
  served: Served
  connection: DatabaseAddress
  connections: Connections
  logLevel: LogLevel
}

export type ToThread = 'stop' | { metricsTo: MessagePort }

type Thread = { worker: Worker; isListening: boolean; listening: Promise<void>; ended: Promise<Error | null> }

const metricsTimeoutMilliseconds = 1_000
const leastMillisecondsBetweenStarts = 1_000
/** This exceeds the time that the app gives stalled callers. */
const longestStopMilliseconds = 9_500

/**
 * Starts the threads that serve. All listen on the same port, and one that fails drops only its own connections and is
 * replaced. Rejects with the error of the first thread that cannot serve, or when stopped before all threads listen.
 */
export const startWorkerThreads = async (
  count: number,
  data: Omit<ThreadData, 'worker'>,
  log: Log,
  signal: AbortSignal,
): Promise<{ collectMetrics: () => Promise<ThreadReports>; stop: () => Promise<void> }> => {
  signal.throwIfAborted()
  const threads = new Map<number, Thread>()
  const stopping = new AbortController()
  let failures = 0

  /** Threads complete the requests they have accepted. One that does not listen yet, or takes too long, is terminated. */
  const stop = lazily(async (): Promise<void> => {
    stopping.abort()
    const running = [...threads.values()]
    for (const { worker, isListening } of running) {
      if (isListening) worker.postMessage('stop' satisfies ToThread)
      else void worker.terminate()
    }
    const timeout = setTimeout(() => running.map(({ worker }) => worker.terminate()), longestStopMilliseconds)
    await Promise.all(running.map(({ ended }) => ended))
    clearTimeout(timeout)
  })

  const restart = async (number: number): Promise<void> => {
    for (let startedAt = performance.now(); ; startedAt = performance.now()) {
      const error = await threads.get(number)?.ended
      if (stopping.signal.aborted) return
      failures++
      log.error({ err: error, worker: number }, 'a worker ended and is replaced')
      const pause = startedAt + leastMillisecondsBetweenStarts - performance.now()
      await delay(pause, null, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      threads.set(number, startThread({ ...data, worker: number }))
    }
  }

  const collectMetrics = async (): Promise<ThreadReports> => {
    const reports = [...threads].map(async ([number, { worker }]) => ({
      thread: worker.threadId,
      worker: String(number),
      snapshot: await requestSnapshot(worker),
    }))
    return { reports: await Promise.all(reports), failures }
  }

  signal.addEventListener('abort', stop, { once: true })
  for (let number = 1; number <= count; number++) threads.set(number, startThread({ ...data, worker: number }))
  try {
    await Promise.all([...threads.values()].map(({ listening }) => listening))
  } catch (error) {
    await stop()
    throw error
  }
  for (const number of threads.keys()) void restart(number)
  return { collectMetrics, stop }
}

const startThread = (data: ThreadData): Thread => {
  const worker = new Worker(new URL('../main.js', import.meta.url), {
    name: `masthead ${data.worker}`,
    workerData: data,
    // Large new objects count too, of which V8 allows as much as of one half.
    resourceLimits: { maxYoungGenerationSizeMb: 1.5 * newSpaceMebibytes },
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
    ended.then((error) => reject(error ?? new Error(`worker ${data.worker} ended`)))
  })
  // The first start awaits this promise; later errors are logged.
  listening.catch(() => {})
  const thread = { worker, isListening: false, listening, ended }
  return thread
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
