import { realpath } from 'node:fs/promises'
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import { messageOf } from '../../error-message.ts'
import { lazily } from '../../lazily.ts'
import { type Cluster, openCluster, readClusterPassword } from './cluster.ts'
import { type Endpoint, findPostmaster, startPostmaster, stopPostmaster } from './postmaster.ts'

export type EmbeddedServer = Awaited<ReturnType<typeof openEmbedded>>

/** Every process that uses the server holds this advisory lock shared; one that gets it alone may stop the server. */
const presenceLock = 7_240_118
const startTimeoutSeconds = 60

/** Creates, starts or joins the PostgreSQL of a data directory, and restarts it when it dies. Calls `meanwhile` as it starts. */
export const openEmbedded = async (
  dataDirectory: string,
  say: (line: string) => void = () => {},
  meanwhile: () => void = () => {},
) => {
  const cluster = await openCluster(dataDirectory, say)
  const leaving = new AbortController()
  let { client, endpoint } = await join(cluster, leaving.signal, { meanwhile })
  let recovery: Promise<void> | undefined

  const watch = (): void => {
    client.once('end', () => {
      if (!leaving.signal.aborted) recovery = recover()
    })
  }

  const recover = async (): Promise<void> => {
    say('PostgreSQL went away: bringing it back')
    for (let pause = 100; !leaving.signal.aborted; pause = Math.min(2 * pause, 5_000)) {
      try {
        client = (await join(cluster, leaving.signal, { usualPort: endpoint.port })).client
        return watch()
      } catch (error) {
        if (leaving.signal.aborted) return
        say(messageOf(error))
        await delay(pause, undefined, { signal: leaving.signal }).catch(() => {})
      }
    }
  }

  /** Stops PostgreSQL when no other process uses it. */
  const close = lazily(async (): Promise<void> => {
    leaving.abort()
    await recovery
    try {
      if (await isLast(client)) await stopPostmaster(cluster)
    } finally {
      await client.end().catch(() => {})
    }
  })

  watch()
  return {
    connectionString: connectionStringOf(cluster, endpoint),
    /** The connection string of another role, which may log in with the password of the cluster. */
    connectionStringAs: (role: string) => connectionStringOf(cluster, endpoint, { role }),
    password: cluster.password,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Returns the connection string of a server that runs in the data directory. It starts and creates nothing. */
export const findRunning = async (dataDirectory: string): Promise<string | null> => {
  const folder = path.join(await realpath(dataDirectory), 'postgres')
  const { isAlive, endpoint } = findPostmaster(folder) ?? {}
  if (!isAlive || !endpoint) return null
  return connectionStringOf({ password: await readClusterPassword(folder) }, endpoint)
}

const join = async (
  cluster: Cluster,
  leaving: AbortSignal,
  { usualPort, meanwhile = () => {} }: { usualPort?: number; meanwhile?: () => void },
): Promise<{ client: Client; endpoint: Endpoint }> => {
  let reason: unknown
  for (const deadline = performance.now() + startTimeoutSeconds * 1_000; performance.now() < deadline; ) {
    const { isAlive = false, endpoint } = findPostmaster(cluster.folder) ?? {}
    let hasResponded = false
    // A socket in the folder of the cluster can only belong to its server; a port may belong to any process by now.
    if (endpoint && (isAlive || endpoint.host.startsWith('/'))) {
      try {
        return { client: await takePresence(cluster, endpoint), endpoint }
      } catch (error) {
        if (!isTransient(error)) throw error
        reason = error
        hasResponded = error instanceof DatabaseError
      }
    }
    if (isAlive || hasResponded) {
      await delay(20)
    } else {
      // A process that leaves while the server starts must still connect to it, or nobody stops the server.
      leaving.throwIfAborted()
      await startPostmaster(cluster, usualPort, meanwhile)
    }
  }
  const why = reason instanceof Error ? `: ${reason.message}` : ''
  throw new Error(
    `PostgreSQL in ${cluster.folder} was not ready after ${startTimeoutSeconds} s${why}; see ${cluster.log}`,
  )
}

const takePresence = async (cluster: Cluster, endpoint: Endpoint): Promise<Client> => {
  try {
    const statement = `select pg_advisory_lock_shared(${presenceLock})`
    return await connectAndRun(connectionStringOf(cluster, endpoint), statement)
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === '3D000')) throw error
  }
  const postgres = connectionStringOf(cluster, endpoint, { database: 'postgres' })
  const client = await connectAndRun(postgres, 'create database masthead')
  await client.end()
  return takePresence(cluster, endpoint)
}

const isLast = async (client: Client): Promise<boolean> => {
  try {
    await client.query(`select pg_advisory_unlock_shared(${presenceLock})`)
    const { rows } = await client.query<{ last: boolean }>(`select pg_try_advisory_lock(${presenceLock}) as last`)
    return rows[0]?.last === true
  } catch {
    // The server has stopped already.
    return false
  }
}

/** Returns the open connection. */
const connectAndRun = async (connectionString: string, statement: string): Promise<Client> => {
  const client = new Client({ connectionString, connectionTimeoutMillis: 10_000 })
  // Without a listener a server that stops would crash the process; `end` follows.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(statement)
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** The server starts, recovers or stops, or another process was faster. */
const isTransient = (error: unknown): boolean => {
  if (error instanceof DatabaseError) return transientStates.has(error.code ?? '')
  return error instanceof Error && !('code' in error && error.code === 'EACCES')
}

const transientStates = new Set([
  '57P01', // the last other process stopped the server
  '57P02', // another connection crashed
  '57P03', // starting, recovering or stopping
  '53300', // too many connections
  '42P04', // the database exists by now
  '23505', // the database is being created
  '55006', // the template is being copied
])

const connectionStringOf = (
  { password }: Pick<Cluster, 'password'>,
  { host, port }: Endpoint,
  { database = 'masthead', role = 'postgres' } = {},
): string => {
  const query = new URLSearchParams({ host, port: `${port}`, sslmode: 'disable' })
  return `postgresql://${role}:${password}@localhost/${database}?${query}`
}
