import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import { type Cluster, openCluster } from './cluster.ts'
import { type Endpoint, findPostmaster, startPostmaster, stopPostmaster } from './postmaster.ts'

export type EmbeddedServer = {
  connectionString: string
  /** What a role of this cluster connects with, once it may log in with the cluster's password. */
  connectionStringAs(role: string): string
  password: string
  /** leaves; the last one out stops PostgreSQL */
  close(): Promise<void>
}

/** Whoever uses the server holds this advisory lock shared; whoever gets it alone may stop the server. */
const presenceLock = 7_240_118
const patienceSeconds = 60

/**
 * Joins the PostgreSQL of a data directory: creates, starts or adopts it, and brings it back should it die. What else the
 * caller has to do, it does best `meanwhile`: while the server starts.
 */
export async function openEmbedded(
  dataDirectory: string,
  say: (line: string) => void = () => {},
  meanwhile: () => void = () => {},
): Promise<EmbeddedServer> {
  const cluster = await openCluster(dataDirectory, say)
  const leaving = new AbortController()
  let presence = await join(cluster, leaving.signal, { meanwhile })
  let recovery: Promise<void> | undefined
  let departure: Promise<void> | undefined
  const { endpoint } = presence
  watch()

  function watch(): void {
    presence.client.once('end', () => {
      if (!leaving.signal.aborted) recovery = recover()
    })
  }

  async function recover(): Promise<void> {
    say('PostgreSQL went away: bringing it back')
    for (let pause = 100; !leaving.signal.aborted; pause = Math.min(2 * pause, 5_000)) {
      try {
        presence = await join(cluster, leaving.signal, { usualPort: endpoint.port })
        return watch()
      } catch (error) {
        if (leaving.signal.aborted) return
        say(error instanceof Error ? error.message : String(error))
        await delay(pause, undefined, { signal: leaving.signal }).catch(() => {})
      }
    }
  }

  async function depart(): Promise<void> {
    leaving.abort()
    await recovery
    await leave(cluster, presence.client)
  }

  return {
    connectionString: toConnectionString(cluster, endpoint, 'masthead'),
    connectionStringAs: (role) => toConnectionString(cluster, endpoint, 'masthead', role),
    password: cluster.password,
    close() {
      departure ??= depart()
      return departure
    },
  }
}

type Presence = { client: Client; endpoint: Endpoint }

async function join(
  cluster: Cluster,
  leaving: AbortSignal,
  { usualPort, meanwhile = () => {} }: { usualPort?: number; meanwhile?: () => void },
): Promise<Presence> {
  let reason: unknown
  for (const deadline = performance.now() + patienceSeconds * 1_000; performance.now() < deadline; ) {
    const postmaster = findPostmaster(cluster.folder)
    let answered = false
    // A socket in the cluster's own folder can only be its server's, a port may be anybody's by now.
    if (postmaster?.endpoint && (postmaster.alive || postmaster.endpoint.host.startsWith('/'))) {
      try {
        return { client: await takePresence(cluster, postmaster.endpoint), endpoint: postmaster.endpoint }
      } catch (error) {
        if (!isPassing(error)) throw error
        reason = error
        answered = error instanceof DatabaseError
      }
    }
    if (postmaster?.alive || answered) {
      await delay(20)
    } else {
      // Only here: one who leaves while the server comes up must still get in, or nobody stops it.
      leaving.throwIfAborted()
      await startPostmaster(cluster, usualPort, meanwhile)
    }
  }
  const why = reason instanceof Error ? `: ${reason.message}` : ''
  throw new Error(`PostgreSQL in ${cluster.folder} was not ready after ${patienceSeconds} s${why} (see ${cluster.log})`)
}

async function takePresence(cluster: Cluster, endpoint: Endpoint): Promise<Client> {
  try {
    return await ask(
      toConnectionString(cluster, endpoint, 'masthead'),
      `select pg_advisory_lock_shared(${presenceLock})`,
    )
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === '3D000')) throw error
  }
  const client = await ask(toConnectionString(cluster, endpoint, 'postgres'), 'create database masthead')
  await client.end()
  return takePresence(cluster, endpoint)
}

async function leave(cluster: Cluster, client: Client): Promise<void> {
  try {
    if (await isLast(client)) await stopPostmaster(cluster)
  } finally {
    await client.end().catch(() => {})
  }
}

async function isLast(client: Client): Promise<boolean> {
  try {
    await client.query(`select pg_advisory_unlock_shared(${presenceLock})`)
    const { rows } = await client.query<{ last: boolean }>(`select pg_try_advisory_lock(${presenceLock}) as last`)
    return rows[0]?.last === true
  } catch {
    // The server is gone already.
    return false
  }
}

/** Connects and runs one statement; the connection stays. */
async function ask(connectionString: string, statement: string): Promise<Client> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 10_000 })
  // Without a listener a server that stops would crash the process; who waits for the connection hears its end.
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

/** Whether another look may find things better: the server starts, recovers, stops, or another process was quicker. */
function isPassing(error: unknown): boolean {
  if (error instanceof DatabaseError) return passingStates.has(error.code ?? '')
  return error instanceof Error && !('code' in error && error.code === 'EACCES')
}

const passingStates = new Set([
  '57P01', // stopped by an administrator: the last one out
  '57P02', // another connection crashed
  '57P03', // starting, recovering or stopping
  '53300', // too many connections
  '42P04', // the database exists by now
  '23505', // the database is being created
  '55006', // the template is being copied
])

function toConnectionString(
  { password }: Cluster,
  { host, port }: Endpoint,
  database: string,
  role = 'postgres',
): string {
  const query = new URLSearchParams({ host, port: `${port}`, sslmode: 'disable' })
  return `postgresql://${role}:${password}@localhost/${database}?${query}`
}
