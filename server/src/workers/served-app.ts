import type { FastifyInstance } from 'fastify'
import { type AppOptions, buildApp } from '../app.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../log.ts'

/** What is served and where: plain data, which can be handed to a thread. */
export type Served = Omit<AppOptions, 'database' | 'log'> & { host: string; port: number }

/** Serves in this thread; with `reusePort` the system spreads callers over all that listen so. */
export const serveApp = async (
  { host, port, ...options }: Served,
  { database, log, reusePort }: { database: Database; log: Log; reusePort: boolean },
): Promise<FastifyInstance> => {
  const app = await buildApp({ ...options, database, log })
  const where = { host, port, reusePort } // handed on to Node as it is; the types of Fastify do not know the last
  try {
    await app.listen(where)
    return app
  } catch (error) {
    // It holds connections of its own.
    await app.close()
    throw error
  }
}
