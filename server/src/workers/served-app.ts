import { type AppOptions, buildApp } from '../app.ts'
import type { Database } from '../database/database.ts'
import { observedDatabase } from '../database/observed-database.ts'
import { AnswerCache } from '../http/responses/response-cache.ts'
import type { Log } from '../log.ts'
import type { Measured, ThreadMeasures } from '../measures/thread-measures.ts'
import type { Sampling, Tracing } from '../traces/tracing.ts'

/** What is served and where: plain data, which can be handed to a thread. */
export type Served = Omit<AppOptions, 'database' | 'answers' | 'log' | 'watchers' | 'instrument'> & {
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
  const answers = new AnswerCache(database.revisions)
  const measures = measured ? await openMeasures(database, answers) : null
  const tracing = sampling ? await openTracing(sampling, log) : null
  const observers = [measures, tracing].filter((observer) => observer !== null)
  const app = await buildApp({
    ...options,
    ...{ log, answers, database: observers.reduce((inner, { observe }) => observedDatabase(inner, observe), database) },
    ...(measures && { watchers: [measures] }),
    ...(tracing && { instrument: tracing.instrument }),
  })
  const close = async () => {
    await app.close()
    await tracing?.stop()
  }
  const where = { host, port, reusePort } // handed on to Node as it is; the types of Fastify do not know the last
  try {
    await app.listen(where)
  } catch (error) {
    // It holds connections of its own.
    await close()
    throw error
  }
  return { measure: async () => (measures ? measures.collect() : null), close }
}

// Loaded when they are needed, so that nobody else pays for them.
const openMeasures = async (database: Database, answers: AnswerCache): Promise<ThreadMeasures> => {
  const { ThreadMeasures } = await import('../measures/thread-measures.ts')
  return new ThreadMeasures(database.load, () => answers.load())
}

const openTracing = async (sampling: Sampling, log: Log): Promise<Tracing> => {
  const { Tracing } = await import('../traces/tracing.ts')
  return new Tracing(sampling, log)
}
