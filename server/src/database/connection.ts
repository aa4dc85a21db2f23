import type { Duplex } from 'node:stream'
import pg from 'pg'

export type Row = Record<string, unknown>

/** Every text is prepared once a connection, so texts must be few, and their plans right for every tenant. */
export type Statement = { text: string; values?: unknown[] }

export type Query = <R = Row>(statement: Statement) => Promise<R[]>

/** The role that serves when the role in the connection string could pass by row-level security. */
export const serviceRole = 'masthead_service'

/** Where graphile-worker keeps its jobs. */
export const jobsSchema = 'graphile_worker'

// int8 counts and positions stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export const clientOptions = (connectionString: string): pg.ClientConfig => ({
  connectionString,
  pipeline: true,
  application_name: 'masthead',
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
})

/**
 * Statements are shaped so that one plan is right for every tenant, so planning them again would only cost time; and
 * they are short, so compiling or parallel workers would too.
 */
const sessionSettings = `
  set plan_cache_mode = force_generic_plan; set jit = off; set max_parallel_workers_per_gather = 0;
  set statement_timeout = '10s'; set lock_timeout = '3s'; set idle_in_transaction_session_timeout = '5s'`

export const prepareSession = async (client: pg.ClientBase, role: string | null): Promise<void> => {
  // Without a listener a lost connection ends the process.
  client.on('error', () => {})
  await client.query(sessionSettings)
  if (role) await client.query(`set role ${pg.escapeIdentifier(role)}`)
}

/** Connections that are lent one at a time. One that breaks while idle is replaced at the next use. */
export const openPool = (connectionString: string, role: string | null, size: number): pg.Pool => {
  const pool = new pg.Pool({
    ...clientOptions(connectionString),
    max: size,
    onConnect: (client) => prepareSession(client, role),
  })
  pool.on('error', () => {})
  return pool
}

/** Plans are made for the data at hand, and each is used for many rows. */
const bulkSettings = `
  set jit = off; set work_mem = '64MB'; set temp_buffers = '64MB'; set maintenance_work_mem = '64MB'; set lock_timeout = '30s'`

/** Limits that were set for the database or the role; which there are depends on the version. */
const noTimeLimits = `
  select set_config(name, '0', false) from pg_settings
  where name in ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout')`

export const prepareBulkSession = async (client: pg.ClientBase, role: string | null): Promise<void> => {
  client.on('error', () => {})
  await client.query(bulkSettings)
  await client.query(noTimeLimits)
  // The locks of a command that was killed go within a second. Not every system can tell.
  await client.query(`set client_connection_check_interval = '1s'`).catch(() => {})
  if (role) await client.query(`set role ${pg.escapeIdentifier(role)}`)
}

const longestSilenceMilliseconds = 12_000

/**
 * Ends the connection when no answer comes. The server's own limits are shorter; this one speaks when the server, or the
 * way to it, is gone without a word. (`query_timeout` of pg does the same, but left callers waiting after a crash.)
 */
export const answered = async <T>(client: pg.ClientBase, answer: Promise<T>): Promise<T> => {
  const { connection } = client as unknown as { connection: { stream: Duplex } } // there, but not among its types
  const silence = setTimeout(() => connection.stream.destroy(), longestSilenceMilliseconds)
  try {
    return await answer
  } finally {
    clearTimeout(silence)
  }
}

const names = new Map<string, string>()

export const prepared = (statement: Statement): pg.QueryConfig => {
  const name = names.get(statement.text) ?? `masthead-${names.size + 1}`
  names.set(statement.text, name)
  return { name, ...statement }
}

export const queryOn =
  (client: pg.ClientBase): Query =>
  async <R>(statement: Statement) =>
    // The caller names the row type of the statement it wrote.
    (await answered(client, client.query(prepared(statement)))).rows as R[]

/** For statements in bulk, which are few and may take long: planned for their values, without a limit of time. */
export const unpreparedOn =
  (client: pg.ClientBase): Query =>
  async <R>({ text, values }: Statement) =>
    // The caller names the row type of the statement it wrote.
    (await client.query(text, values)).rows as R[]

type Lane = { client: Promise<pg.Client>; load: number }

/**
 * A few connections that many callers share: each caller queues its messages in one synchronous call, on the lane with
 * the least under way, and a lane whose connection broke is replaced by the next caller.
 */
export class SharedConnections {
  readonly #open: () => Promise<pg.Client>
  readonly #lanes: (Lane | undefined)[]

  constructor(size: number, options: pg.ClientConfig, role: string | null) {
    this.#lanes = new Array(size).fill(undefined)
    this.#open = async () => {
      const client = new pg.Client(options)
      await client.connect()
      try {
        await prepareSession(client, role)
        return client
      } catch (error) {
        await client.end()
        throw error
      }
    }
  }

  async use<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const lane = this.#leastLoaded()
    lane.load++
    try {
      return await work(await lane.client)
    } finally {
      lane.load--
    }
  }

  load(): { most: number; open: number; running: number } {
    const open = this.#lanes.filter((lane) => lane !== undefined)
    return { most: this.#lanes.length, open: open.length, running: open.reduce((sum, { load }) => sum + load, 0) }
  }

  #leastLoaded(): Lane {
    let best: Lane | undefined
    for (const lane of this.#lanes) if (lane && (!best || lane.load < best.load)) best = lane
    const free = this.#lanes.indexOf(undefined)
    return free >= 0 && (!best || best.load > 0) ? this.#openLane(free) : (best ?? this.#openLane(0))
  }

  #openLane(index: number): Lane {
    const client = this.#open()
    const lane: Lane = { client, load: 0 }
    this.#lanes[index] = lane
    const forget = () => {
      if (this.#lanes[index] === lane) this.#lanes[index] = undefined
    }
    client.then((opened) => opened.once('end', forget).once('error', forget), forget)
    return lane
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#lanes.map(async (lane) => (await lane?.client)?.end()))
  }
}
