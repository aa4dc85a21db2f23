import { type AppOptions, buildApp } from '../app.ts'
import type { Database } from '../database/database.ts'
import { observedDatabase } from '../database/observed-database.ts'
import { publishRequestRate } from '../database/request-rate.ts'
import { listen } from '../http/connections/server.ts'
import { ResponseCache } from '../http/responses/response-cache.ts'
import type { Log } from '../log/log.ts'
import type { Snapshot } from '../metrics/thread-metrics.ts'
import type { Sampling } from '../traces/tracing.ts'

/** What is served and where, as plain data that can be sent to a thread. */
export type Served = Omit<AppOptions, 'database' | 'cache' | 'log' | 'watchers' | 'trace'> & {
  host: string
  port: number
  hasMetrics: boolean
  /** Null disables tracing. */
  sampling: Sampling | null
}

/** Serves in this thread. With `reusePort` the system distributes connections over all threads that listen. */
export const serveApp = async (
  { host, port, hasMetrics, sampling, ...options }: Served,
  { database, log, reusePort }: { database: Database; log: Log; reusePort: boolean },
) => {
  const cache = new ResponseCache()
  // Metrics and tracing are loaded on demand, because most installations use neither.
  const metrics = hasMetrics
    ? new (await import('../metrics/thread-metrics.ts')).ThreadMetrics(database, () => cache.load())
    : null
  const tracing = sampling
    ? (await import('../traces/tracing.ts')).startTracing(sampling, options.trustedProxies ?? [], log)
    : null
  const observers = [metrics, tracing].filter((observer) => observer !== null)
  const app = await buildApp({
    ...options,
    log,
    cache,
    database: observers.reduce((inner, { observe }) => observedDatabase(inner, observe), database),
    ...(metrics && { watchers: [metrics] }),
    ...(tracing && { trace: tracing.trace }),
  })
  const rate = publishRequestRate(database.readVersions)
  app.server.on('request', rate.countRequest)
  const close = async () => {
    rate.stop()
    await app.close()
    await tracing?.stop()
  }
  try {
    await listen(app.server, { host, port, reusePort })
  } catch (error) {
    // The app has opened connections.
    await close()
    throw error
  }
  return { collectMetrics: async (): Promise<Snapshot | null> => metrics?.collect() ?? null, close }
}
