import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../database/database.ts'
import { Revisions } from '../database/revisions.ts'
import { openLog } from '../log/log.ts'
import { serveApp } from './served-app.ts'
import type { ThreadData, ToThread } from './worker-threads.ts'

/** One of several threads that serve: with connections of its own, until it is told to stop. Whatever fails here ends it. */
if (!parentPort) throw new Error('this file is run by worker-threads.ts')
const { worker, served, connection, connections, revisions, logLevel } = workerData as ThreadData // given where the thread is made
const log = openLog({ level: logLevel, worker })
const database = openDatabase(connection.connectionString, connection.role, {
  connections,
  revisions: new Revisions(revisions),
})
const counting = { ...served.counting, thread: worker - 1 }
const app = await serveApp({ ...served, counting }, { database, log, reusePort: true })
parentPort.on('message', async (told: ToThread) => {
  if (told !== 'stop') return told.measure.postMessage(await app.measure().catch(() => null))
  await app.close()
  await database.close()
  // Ends the thread, whoever still holds a connection.
  process.exit()
})
parentPort.postMessage('listening')
