import { type AppOptions, buildApp } from '../app.ts'
import type { Database } from '../database/database.ts'
import { observedDatabase } from '../database/observed-database.ts'
import type { Log } from '../log.ts'
import type { Measured, ThreadMeasures } from '../measures/thread-measures.ts'

/** What is served and where: plain data, which can be handed to a thread. */
export type Served = Omit<AppOptions, 'database' | 'log' | 'watchers'> & {
  host: string
  port: number
  /** Whether somebody may ask for measures. */
  measured: boolean
}

export type ServedApp = {
  /** What was counted; null where nothing is. */
  measure: () => Promise<Measured | null>
  close: () => Promise<void>
}

/** Serves in this thread; with `reusePort` the system spreads callers over all that listen so. */
export const serveApp = async (
  { host, port, measured, ...options }: Served,
  { database, log, reusePort }: { database: Database; log: Log; reusePort: boolean },
): Promise<ServedApp> => {
  const measures = measured ? await openMeasures(database) : null
  const app = await buildApp({
    ...options,
    database: measures ? observedDatabase(database, measures.observe) : database,
    log,
    watchers: measures ? [measures] : [],
  })
  const where = { host, port, reusePort } // handed on to Node as it is; the types of Fastify do not know the last
  try {
    await app.listen(where)
  } catch (error) {
    // It holds connections of its own.
    await app.close()
    throw error
  }
  return { measure: async () => (measures ? measures.collect() : null), close: () => app.close() }
}

const openMeasures = async (database: Database): Promise<ThreadMeasures> => {
  // Loaded here, because few need it.
  const { ThreadMeasures } = await import('../measures/thread-measures.ts')
  return new ThreadMeasures(database.load)
}
