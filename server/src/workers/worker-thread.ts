import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../database/database.ts'
import { openLog } from '../log/log.ts'
import { serveApp } from './served-app.ts'
import type { ThreadData, ToThread } from './worker-threads.ts'

/** One of several threads that serve, with its own database connections. Any uncaught error ends the thread. */
if (!parentPort) throw new Error('this file is run by worker-threads.ts')
const { worker, served, connection, connections, logLevel } = workerData as ThreadData // as worker-threads.ts sends it
const log = openLog({ level: logLevel, worker })
const database = openDatabase(connection, { connections })
const counting = { ...served.counting, thread: worker - 1 }
const app = await serveApp({ ...served, counting }, { database, log, reusePort: true })
parentPort.on('message', async (message: ToThread) => {
  if (message !== 'stop') return message.metricsTo.postMessage(await app.collectMetrics().catch(() => null))
  await app.close()
  await database.close()
  // Open sockets would keep the thread alive.
  process.exit()
})
parentPort.postMessage('listening')
