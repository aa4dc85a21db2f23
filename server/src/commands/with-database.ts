import { setTimeout as delay } from 'node:timers/promises'
import { type Config, readConfig } from '../config.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { openEmbedded } from '../database/embedded/server.ts'
import { type Migrated, migrate } from '../database/migrate.ts'
import { say } from './output.ts'
import { onceItAnswers, whyUnusable } from './outside-server.ts'

export type OpenedDatabase = {
  database: Database
  migrated: Migrated
  /** For what opens connections of its own. */
  connection: { connectionString: string; role: string | null }
  close: () => Promise<void>
}

/** After that, what is still under way has nobody who waits for it. */
const longestCloseMilliseconds = 1_000

/**
 * The database of the configuration, embedded or not, brought up to date; shared with whoever else uses it. Who says what
 * stops it waits for a server of the operator that is not there yet; the embedded one was there a moment ago.
 */
export const openConfigured = async (
  config: Config,
  stopping?: AbortSignal,
  meanwhile?: () => void,
): Promise<OpenedDatabase> => {
  const embedded = config.databaseUrl === null ? await openEmbedded(config.dataDirectory, say, meanwhile) : null
  const connectionString = embedded?.connectionString ?? config.databaseUrl ?? ''
  try {
    const bringUp = () => migrate(connectionString, embedded ? { servicePassword: embedded.password } : {})
    const migrated = embedded || stopping ? await onceItAnswers(bringUp, stopping) : await bringUp()
    const { role } = migrated
    const connection = { connectionString: (role && embedded?.connectionStringAs(role)) ?? connectionString, role }
    const database = openDatabase(connection.connectionString, connection.role)
    return {
      database,
      migrated,
      connection,
      close: async () => {
        // The embedded server ends what hangs when it stops.
        await Promise.race([database.close(), delay(longestCloseMilliseconds, undefined, { ref: false })])
        await embedded?.close()
      },
    }
  } catch (error) {
    await embedded?.close()
    throw embedded ? error : whyUnusable(error)
  }
}

export const withDatabase = async <T>(work: (database: Database, migrated: Migrated) => Promise<T>): Promise<T> => {
  const opened = await openConfigured(readConfig())
  try {
    return await work(opened.database, opened.migrated)
  } finally {
    await opened.close()
  }
}
