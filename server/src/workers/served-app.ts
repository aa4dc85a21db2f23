import { type AppOptions, buildApp } from '../app.ts'
import type { Database } from '../database/database.ts'
import { observedDatabase } from '../database/observed-database.ts'
import { listen } from '../http/connections/server.ts'
import { ResponseCache } from '../http/responses/response-cache.ts'
import type { Log } from '../log/log.ts'
import type { Measured, ThreadMeasures } from '../metrics/thread-metrics.ts'
import type { Sampling, Tracing } from '../traces/tracing.ts'

/** What is served and where: plain data, which can be handed to a thread. */
export type Served = Omit<AppOptions, 'database' | 'cache' | 'log' | 'watchers' | 'trace'> & {
  host: string
  port: number
  /** Whether somebody may ask for measures. */
  measured: boolean
  /** Null where nothing is traced. */
  sampling: Sampling | null
}

export type ServedApp = {
  /** What was counted; null where nothing is. */
  measure: () => Promise<Measured | null>
  close: () => Promise<void>
}

/** Serves in this thread; with `reusePort` the system spreads callers over all that listen so. */
export const serveApp = async (
  { host, port, measured, sampling, ...options }: Served,
  { database, log, reusePort }: { database: Database; log: Log; reusePort: boolean },
): Promise<ServedApp> => {
  const cache = new ResponseCache(database.revisions)
  const measures = measured ? await openMeasures(database, cache) : null
  const tracing = sampling ? await openTracing(sampling, options.trustedProxies ?? [], log) : null
  const observers = [measures, tracing].filter((observer) => observer !== null)
  const app = await buildApp({
    ...options,
    ...{ log, cache, database: observers.reduce((inner, { observe }) => observedDatabase(inner, observe), database) },
    ...(measures && { watchers: [measures] }),
    ...(tracing && { trace: tracing.trace }),
  })
  const close = async () => {
    await app.close()
    await tracing?.stop()
  }
  try {
    await listen(app, { host, port, reusePort }, options.timeoutMilliseconds)
  } catch (error) {
    // It holds connections of its own.
    await close()
    throw error
  }
  return { measure: async () => (measures ? measures.collect() : null), close }
}

// Loaded when they are needed, so that nobody else pays for them.
const openMeasures = async (database: Database, cache: ResponseCache): Promise<ThreadMeasures> => {
  const { ThreadMeasures } = await import('../metrics/thread-metrics.ts')
  return new ThreadMeasures(database.load, () => cache.load())
}

const openTracing = async (sampling: Sampling, trustedProxies: readonly string[], log: Log): Promise<Tracing> => {
  const { Tracing } = await import('../traces/tracing.ts')
  return new Tracing(sampling, trustedProxies, log)
}
