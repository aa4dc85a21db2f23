import { setTimeout as delay } from 'node:timers/promises'
import { type Config, readConfig } from '../config.ts'
import type { DatabaseAddress } from '../database/connections/address.ts'
import { findMismatch, mismatchRemedy } from '../database/connections/pooler.ts'
import { remedyFor, usualRemedy } from '../database/connections/reachability.ts'
import type { Query } from '../database/connections/statement.ts'
import { isUnavailable } from '../database/connections/unavailable.ts'
import { type Database, openDatabase, type TenantDatabase } from '../database/database.ts'
import { type EmbeddedServer, openEmbedded } from '../database/embedded/server.ts'
import { type Migrated, migrate } from '../database/schema/migrate.ts'
import { codeOf, messageOf } from '../error-message.ts'
import { findTenant } from '../identity/people/tenants.ts'
import { fillKeys } from '../records/filled-keys.ts'
import { renewedText } from '../records/normalising.ts'
import { shardedWriteFunctions } from '../records/writes/sharded-write.ts'
import { Refusal } from '../refusal.ts'
import { say } from './output.ts'

export type OpenedDatabase = Awaited<ReturnType<typeof openConfigured>>

const closeTimeoutMilliseconds = 1_000
const startTimeoutMilliseconds = 30_000
const retryMilliseconds = 500

/** Opens and migrates the configured database, embedded or not. With a stop signal it waits for a server that is not available yet. */
export const openConfigured = async (config: Config, stopping?: AbortSignal) =>
  openOn(config.databaseUrl === null ? await openEmbedded(config.dataDirectory, say) : null, config, stopping)

/** The same on the embedded server that runs, where DATABASE_URL names no other. It is closed with the database. */
export const openOn = async (embedded: EmbeddedServer | null, config: Config, stopping?: AbortSignal) => {
  const connectionString = embedded?.connectionString ?? config.databaseUrl ?? ''
  const direct = config.directDatabaseUrl ?? connectionString
  try {
    const password = embedded ? { servicePassword: embedded.password } : {}
    const attempt = () =>
      migrate(direct, {
        ...password,
        shardedFunctions: shardedWriteFunctions,
        say,
        ...(stopping && { stopping }),
        renewText: renewedText,
        fill: { '0020-sorted-lists.sql': fillKeys },
      })
    const migrated = embedded || stopping ? await retryWhileUnavailable(attempt, stopping) : await attempt()
    const { role, isSharded } = migrated
    if (isSharded && config.replicaDatabaseUrls.length > 0) throw new Error(replicasOfShards)
    // Workers open connections of their own with it.
    const connection: DatabaseAddress = {
      connectionString: (role && embedded?.connectionStringAs(role)) ?? connectionString,
      role,
      ...(direct !== connectionString && { directConnectionString: direct }),
      replicaConnectionStrings: config.replicaDatabaseUrls,
      isSharded,
    }
    const mismatch = direct === connectionString ? null : await findMismatch(connectionString, direct)
    if (mismatch !== null) throw new Error(`${mismatch}; ${mismatchRemedy}`)
    const database = openDatabase(connection)
    const close = async () => {
      // A statement that hangs must not delay the exit; the embedded server ends it when it stops.
      await Promise.race([database.close(), delay(closeTimeoutMilliseconds, undefined, { ref: false })])
      await embedded?.close()
    }
    return { database, migrated, connection, close }
  } catch (error) {
    await embedded?.close()
    if (embedded) throw error
    throw unusableDatabase(error)
  }
}

export const unusableDatabase = (error: unknown): Refusal => {
  const message = `the database of DATABASE_URL cannot be used: ${messageOf(error)}`
  // An error without a code is one of ours, and says what to do.
  const isForeign = error instanceof AggregateError || codeOf(error) !== ''
  const remedy = remedyFor(error) ?? (isForeign ? usualRemedy : undefined)
  return new Refusal(remedy ? `${message}; ${remedy}` : message, { cause: error })
}

const replicasOfShards =
  'its tables are sharded, and a replica of one server does not have the others: leave DATABASE_REPLICA_URLS out'

/** Waits for a server that starts after us, as in a composition of containers, or is slow while much starts at once. */
export const retryWhileUnavailable = async <T>(attempt: () => Promise<T>, stopping?: AbortSignal): Promise<T> => {
  let said = ''
  for (const deadline = Date.now() + startTimeoutMilliseconds; ; ) {
    try {
      return await attempt()
    } catch (error) {
      if (!isUnavailable(error) || stopping?.aborted || Date.now() > deadline) throw error
      const reason = messageOf(error)
      if (reason !== said) say(`Waiting up to ${startTimeoutMilliseconds / 1_000} s for the database: ${reason}`)
      said = reason
      await delay(retryMilliseconds, undefined, stopping && { signal: stopping }).catch(() => {})
    }
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

export const inTransaction = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
  withDatabase((database) => database.transaction(work))

export const withTenant = <T>(slug: string, work: (tenant: TenantDatabase) => Promise<T>): Promise<T> =>
  withDatabase(async (database) => work(database.forTenant((await findTenant(database.query, slug)).id)))
