import { type Config, readConfig } from '../config.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { openEmbedded } from '../database/embedded.ts'
import { type Migrated, migrate } from '../database/migrate.ts'
import { messageOf, say } from './output.ts'

export type OpenedDatabase = {
  database: Database
  migrated: Migrated
  /** For what opens connections of its own. */
  connection: { connectionString: string; role: string | null }
  close: () => Promise<void>
}

/** The database of the configuration, embedded or not, brought up to date; shared with whoever else uses it. */
export const openConfigured = async (config: Config): Promise<OpenedDatabase> => {
  const embedded = config.databaseUrl === null ? await openEmbedded(config.dataDirectory, say) : null
  const connectionString = embedded?.connectionString ?? config.databaseUrl ?? ''
  try {
    const migrated = await migrate(connectionString, embedded ? { servicePassword: embedded.password } : {})
    const connection =
      embedded && migrated.role
        ? { connectionString: embedded.connectionStringAs(migrated.role), role: null }
        : { connectionString, role: migrated.role }
    const database = openDatabase(connection.connectionString, connection.role)
    return {
      database,
      migrated,
      connection,
      close: async () => {
        await database.close()
        await embedded?.close()
      },
    }
  } catch (error) {
    await embedded?.close()
    if (embedded) throw error
    throw new Error(`the database of DATABASE_URL cannot be used: ${messageOf(error)}`, { cause: error })
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
