import pg from 'pg'
import { version } from '../../version.ts'
import { fromBytes, readRowsAsBytes } from './byte-rows.ts'
import type { Outage } from './outage.ts'
import { noResponse, outcomeUnknown, Unavailable } from './unavailable.ts'

export type Row = Record<string, unknown>

/** How a process reaches a database. */
export type DatabaseAddress = {
  connectionString: string
  role: string | null
  /** Where `connectionString` leads to a pooler that gives each transaction another session: the server itself. */
  directConnectionString?: string
  /** Standbys that may answer reads. */
  replicaConnectionStrings?: string[]
  /** The tables of tenants are distributed over several servers. */
  isSharded?: boolean
}

/** For what needs a session of its own. */
export const withoutPooler = (address: DatabaseAddress): DatabaseAddress => {
  const { directConnectionString, ...others } = address
  return directConnectionString === undefined ? address : { ...others, connectionString: directConnectionString }
}

/** Every text is prepared once a connection, so texts must be few, and their plans right for every tenant. */
export type Statement = {
  text: string
  values?: unknown[]
  /** What is sent instead where the tables are sharded and Citus does not take the text. */
  onShards?: string
  /** PostgreSQL plans it each time: there are too many texts of its kind to prepare them, or a cached plan would be bad once the table has grown. */
  isPlannedEachTime?: true
  /** It takes long at times, as do searches, but hardly this one. */
  isLikelyQuick?: true
}

/** It is not the query of a tenant's door, which gives the tenant to every statement. */
export type Query = { <R = Row>(statement: Statement): Promise<R[]>; readonly withoutTenant?: undefined }

/** The role that serves when the role in the connection string could pass by row-level security. */
export const serviceRole = 'masthead_service'

// int8 counts and positions stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export const openingMilliseconds = 2_000

/** What sessions are called, so that others see which versions use the database. */
export const sessionName = `masthead ${version}`

export const clientOptions = (connectionString: string): pg.ClientConfig => ({
  connectionString,
  pipeline: true,
  application_name: sessionName,
  connectionTimeoutMillis: openingMilliseconds,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
})

/**
 * How long a statement may take before the server ends it, and how long an answer may before we end the connection: the
 * second speaks when the server, or the way to it, is gone without a word.
 */
export type Timeouts = { statementSeconds: number; responseMilliseconds: number }

/** For what callers wait for, so that they hear soon of a server that hangs. */
export const short: Timeouts = { statementSeconds: 4, responseMilliseconds: 5_000 }
/** For searches, and for work that nobody waits for. */
export const long: Timeouts = { statementSeconds: 10, responseMilliseconds: 12_000 }

/** A search that takes longer than most; then somebody asks whether the server is there. */
export const doubtMilliseconds = 1_000

/** Nothing is written where a session is for reading. */
type Purpose = 'reading' | 'writing'

/**
 * Statements are shaped so that one plan is right for every tenant, so planning them again would only cost time; and
 * they are short, so compiling or parallel workers would too. The plan of a write is kept while tables grow, so it must not
 * read the whole of one that is small now.
 */
const sessionSettings = (
  { statementSeconds }: Timeouts,
  purpose: Purpose,
  { role, isSharded }: Pick<DatabaseAddress, 'role' | 'isSharded'>,
) => ({
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  statement_timeout: `${statementSeconds}s`,
  lock_timeout: '3s',
  idle_in_transaction_session_timeout: '5s',
  ...(purpose === 'reading' ? { default_transaction_read_only: 'on' } : { enable_seqscan: 'off' }),
  ...(isSharded && shardedSettings),
  ...(role !== null && { role }),
})

/**
 * The servers of shards are to know what is set by `set local` in a transaction: the tenant. Citus itself says when a plan needs the
 * values. What a statement writes by calling a function would be lost, so it is refused.
 */
const shardedSettings = {
  plan_cache_mode: 'auto',
  'citus.propagate_set_commands': 'local',
  'citus.allow_nested_distributed_execution': 'off',
}

const setAll = (settings: [name: string, value: string][], isLocal: boolean): string =>
  settings.map(([name, value]) => `set_config('${name}', ${pg.escapeLiteral(value)}, ${isLocal})`).join(', ')

/** How statements are sent over a connection. */
export type Session = Timeouts & {
  /**
   * A statement that each transaction begins with, because it gets a session of the pooler's that others use too. It takes
   * the tenant as `$1` and answers no row. Nothing else of such a session is set, and its statements have no names.
   */
  beginning?: string
  /** Its server is a standby, and is asked only for what it can answer as the primary would. */
  isReplica?: boolean
  /** Its server asks others, which know the tenant only inside a transaction that begins and ends by statements. */
  isSharded?: boolean
}

/** It fails on a standby, where a transaction cannot be made one that writes. */
const pooledBeginning = (timeouts: Timeouts, purpose: Purpose, address: DatabaseAddress): string => {
  const settings: [string, string][] = [['transaction_read_only', 'off']]
  if (purpose === 'reading') settings.push(['transaction_read_only', 'on'])
  settings.push(...Object.entries(sessionSettings(timeouts, purpose, address)))
  // Of a row that is compared with null, PostgreSQL would evaluate no more than the first.
  return `select where concat(${setAll(settings, true)}, set_config('masthead.tenant', $1, true)) is null`
}

export const sessionFor = (address: DatabaseAddress, timeouts: Timeouts, purpose: Purpose): Session => ({
  ...timeouts,
  ...(address.isSharded && { isSharded: true }),
  ...(address.directConnectionString !== undefined && { beginning: pooledBeginning(timeouts, purpose, address) }),
})

const connectionOf = (client: pg.ClientBase): pg.Connection =>
  (client as unknown as { connection: pg.Connection }).connection // there, but not among its types

/** At once, whatever the server still says: all that waits for an answer fails with this error. */
export const breakOff = (client: pg.ClientBase, error: Error): void => {
  const connection = connectionOf(client)
  connection.emit('error', error)
  connection.stream.destroy()
}

/** The function of PostgreSQL in which a commit waits for its standby. Its messages are translated, its name is not. */
const waitForStandby = 'SyncRepWaitForLSN'

/** A connection that fails takes with it what is asked over it, and nothing else. */
const watch = (client: pg.ClientBase): void => {
  // Without a listener a lost connection ends the process.
  client.on('error', () => {})
  // Of a commit whose wait was canceled PostgreSQL says this first, and then that it is done.
  client.on('notice', ({ routine }) => {
    if (routine !== waitForStandby) return
    breakOff(client, new Unavailable(outcomeUnknown, 'the wait for a standby was canceled'))
  })
}

/** Which server an address leads to, without the password. */
export const serverOf = (connectionString: string): string => {
  const url = URL.parse(connectionString)
  if (url?.host && !url.searchParams.has('host') && !url.searchParams.has('port')) return decodeURIComponent(url.host)
  // It may lead to a folder of sockets.
  const { host, port } = new pg.Client(connectionString)
  return `${host}:${port}`
}

export const newClient = (options: pg.ClientConfig): pg.Client => {
  const client = new pg.Client(options)
  watch(client)
  return client
}

/** Behind a proxy that does not know yet who is the primary, a connection may lead anywhere. */
export const refuseStandby = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
  if (rows[0]?.transaction_read_only === 'off') return
  throw new Unavailable('25006', 'this server takes no writes: it is a standby, or was set to read only')
}

/** A select that sets the tenant until the transaction ends, and answers no row. */
export const beginAsTenant = {
  name: 'masthead-begin',
  text: `select where set_config('masthead.tenant', $1, true) is null`,
}

/** The same on a replica, which answers a row where it lacks something: `$2` are versions of lists, `$3` is their source. */
export const beginAsOf = {
  name: 'masthead-begin-as-of',
  text: `select where set_config('masthead.tenant', $1, true) is null or not is_replica_with($1::uuid, $2::json, $3)`,
}

const noTenant = '00000000-0000-0000-0000-000000000000'

/** In one round trip. */
const prepareSession = async (
  client: pg.ClientBase,
  address: DatabaseAddress,
  session: Session,
  purpose: Purpose,
): Promise<void> => {
  const asked: Promise<unknown>[] = [
    session.isReplica ? client.query({ ...beginAsOf, values: [noTenant, '{}', ''] }) : refuseStandby(client),
  ]
  if (session.beginning === undefined) {
    const settings = Object.entries(sessionSettings(session, purpose, address))
    asked.push(client.query(`select ${setAll(settings, false)}`), client.query({ ...beginAsTenant, values: [''] }))
  }
  try {
    await answered(client, Promise.all(asked), openingMilliseconds)
  } catch (error) {
    breakOff(client, error instanceof Error ? error : new Error(String(error)))
    throw error
  }
}

/** Opens a connection that many statements share. */
export const openShared = async (address: DatabaseAddress, session: Session): Promise<pg.Client> => {
  const client = newClient({ ...clientOptions(address.connectionString), types: fromBytes })
  readRowsAsBytes(client)
  await client.connect()
  await prepareSession(client, address, session, 'reading')
  return client
}

/** Connections that are lent one at a time. One that breaks while idle is replaced at the next use. */
export const openPool = (address: DatabaseAddress, size: number, session: Session): pg.Pool => {
  const pool = new pg.Pool({
    ...clientOptions(address.connectionString),
    max: size,
    // A server that does not answer a farewell must not keep the process.
    allowExitOnIdle: true,
    onConnect: (client) => {
      watch(client)
      return prepareSession(client, address, session, 'writing')
    },
  })
  pool.on('error', () => {})
  return pool
}

/** From a pool, but none that was open when another broke: it may lead nowhere too, and say so only by silence. */
export const acquireFrom = (pool: pg.Pool): (() => Promise<pg.PoolClient>) => {
  const openedAt = new WeakMap<pg.ClientBase, number>()
  let brokenAt = Number.NEGATIVE_INFINITY
  pool.on('connect', (client) => {
    openedAt.set(client, performance.now())
    client.on('error', () => {
      brokenAt = performance.now()
    })
  })
  return async () => {
    for (;;) {
      const client = await pool.connect()
      if ((openedAt.get(client) ?? 0) > brokenAt) return client
      client.release(true)
      // It need not take leave: nobody may be there to hear it.
      connectionOf(client).stream.destroy()
    }
  }
}

/**
 * Each statement is planned when it is sent, with the statistics of the moment. The plan is generic, so a tenant that is
 * newer than the statistics is not taken for an empty one.
 */
const bulkSettings = `
  set plan_cache_mode = force_generic_plan; set jit = off; set work_mem = '64MB'; set temp_buffers = '64MB'; set maintenance_work_mem = '64MB'; set lock_timeout = '30s'; set default_statistics_target = 10`

/** Lifts limits that were set for the database or the role; which there are depends on the version. */
export const liftTimeLimits = async (client: pg.ClientBase): Promise<void> => {
  await client.query(`
    select set_config(name, '0', false) from pg_settings where name in (
      'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'lock_timeout')`)
}

export const prepareBulkSession = async (
  client: pg.ClientBase,
  role: string | null,
  isSharded = false,
): Promise<void> => {
  await liftTimeLimits(client)
  await client.query(bulkSettings)
  if (isSharded) await client.query(`select ${setAll(Object.entries(shardedSettings), false)}`)
  // The locks of a command that was killed go within a second. Not every system can tell.
  await client.query(`set client_connection_check_interval = '1s'`).catch(() => {})
  if (role) await client.query(`set role ${pg.escapeIdentifier(role)}`)
}

/** Breaks the connection off when no answer comes. (`query_timeout` of pg does the same, but left callers waiting after a crash.) */
export const answered = async <T>(client: pg.ClientBase, answer: Promise<T>, milliseconds: number): Promise<T> => {
  const giveUp = () =>
    breakOff(client, new Unavailable(noResponse, `the database did not answer within ${milliseconds / 1_000} s`))
  let unread: NodeJS.Immediate | undefined
  // A thread that was busy for as long reads first what has arrived meanwhile.
  const tooLong = setTimeout(() => (unread = setImmediate(giveUp)), milliseconds)
  try {
    return await answer
  } catch (error) {
    // It was made where the answer was read, which does not say who asked.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  } finally {
    clearTimeout(tooLong)
    clearImmediate(unread)
  }
}

const names = new Map<string, string>()

/** The name is empty where the statement is not prepared. */
export type Prepared = { name: string; text: string; values: unknown[] }

export const prepared = (statement: Statement, { isSharded }: Session): Prepared => {
  const text = textOf(statement, isSharded)
  if (statement.isPlannedEachTime) return { name: '', text, values: statement.values ?? [] }
  const name = names.get(text) ?? nameOf(text)
  return { name, text, values: statement.values ?? [] }
}

const nameOf = (text: string): string => {
  const name = `masthead-${names.size + 1}`
  names.set(text, name)
  return name
}

const textOf = ({ text, onShards }: Statement, isSharded = false): string => (isSharded && onShards) || text

/** Connections on which something waits to be sent. */
const held = new Set<pg.Connection['stream']>()

/** What is asked in one turn of the event loop is sent at once: each system call costs more than making a statement. */
export const gather = (client: pg.ClientBase): void => {
  const { stream } = connectionOf(client)
  if (held.has(stream)) return
  held.add(stream)
  stream.cork()
  setImmediate(() => {
    held.delete(stream)
    stream.uncork()
  })
}

/** Inside a transaction, or over a connection without a pooler. */
export const queryOn =
  (client: pg.ClientBase, session: Session): Query =>
  async <R>(statement: Statement) => {
    gather(client)
    const { name, ...unnamed } = prepared(statement, session)
    const sent = client.query(session.beginning === undefined && name !== '' ? { name, ...unnamed } : unnamed)
    // The caller names the row type of the statement it wrote.
    return (await answered(client, sent, session.responseMilliseconds)).rows as R[]
  }

/** For statements in bulk, which are few and may take long: planned each time, without a limit of time. */
export const unpreparedOn =
  (client: pg.ClientBase, isSharded = false): Query =>
  async <R>({ values, ...statement }: Statement) =>
    // The caller names the row type of the statement it wrote.
    (await client.query(textOf(statement, isSharded), values)).rows as R[]

/** A transaction on a connection that nobody else uses. */
export const inTransaction = async <T>(query: Query, work: (query: Query) => Promise<T>): Promise<T> => {
  await query({ text: 'begin' })
  try {
    const done = await work(query)
    await query({ text: 'commit' })
    return done
  } catch (error) {
    // Where the connection is lost, this fails, too.
    await query({ text: 'rollback' }).catch(() => {})
    throw error
  }
}

/** `opened` is the client once it is there, so that nobody need wait for it. */
type Slot = { client: Promise<pg.Client>; opened?: pg.Client; load: number; running: number; user?: string }

/** Who uses a connection, and how much of it; `most` of it there is. */
export type Use = { user: string; weight: number; most: number }

/**
 * A few connections that many callers share: each caller queues its messages in one synchronous call, on the slot with
 * the least in flight, and a slot whose connection broke is replaced by the next caller.
 */
export class SharedConnections {
  readonly #open: () => Promise<pg.Client>
  readonly #outage: Outage
  readonly #slots: (Slot | undefined)[]
  #isClosed = false

  constructor(size: number, open: () => Promise<pg.Client>, outage: Outage) {
    this.#open = open
    this.#outage = outage
    this.#slots = new Array(size).fill(undefined)
  }

  async use<T>(work: (client: pg.Client) => Promise<T>, use?: Use): Promise<T> {
    // A connection that is opened now would stay open.
    if (this.#isClosed) throw new Error('the connections are closed')
    const { weight = 1, user } = use ?? {}
    const slot = (use && this.#usedBy(use)) ?? this.#leastLoaded()
    if (user !== undefined) slot.user = user
    slot.load += weight
    slot.running++
    try {
      return await work(slot.opened ?? (await slot.client))
    } finally {
      slot.load -= weight
      slot.running--
    }
  }

  /** One with room that somebody uses already: who sends several over one keeps fewer processes of the server busy. */
  #usedBy({ user, weight, most }: Use): Slot | undefined {
    return this.#slots.find((slot) => slot?.user === user && slot.load > 0 && slot.load + weight <= most)
  }

  load(): { most: number; open: number; running: number } {
    const open = this.#slots.filter((slot) => slot !== undefined)
    return { most: this.#slots.length, open: open.length, running: open.reduce((sum, { running }) => sum + running, 0) }
  }

  #leastLoaded(): Slot {
    let best: Slot | undefined
    for (const slot of this.#slots) if (slot && (!best || slot.load < best.load)) best = slot
    const free = this.#slots.indexOf(undefined)
    return free >= 0 && (!best || best.load > 0) ? this.#openSlot(free) : (best ?? this.#openSlot(0))
  }

  #openSlot(index: number): Slot {
    const client = this.#outage.note(this.#open())
    const slot: Slot = { client, load: 0, running: 0 }
    this.#slots[index] = slot
    const forget = () => {
      if (this.#slots[index] === slot) this.#slots[index] = undefined
    }
    client.then((opened) => {
      slot.opened = opened.once('end', forget).once('error', (error) => {
        forget()
        this.#outage.ended(error)
      })
    }, forget)
    return slot
  }

  /** All that is asked over them fails with this error, and whoever asks anew gets new ones. */
  breakOff(reason: Error): void {
    for (const slot of this.#slots) if (slot?.opened) breakOff(slot.opened, reason)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#slots.map(async (slot) => slot && end(await slot.client)))
  }
}

/** A server that does not answer the farewell is left without. */
export const end = async (client: pg.Client): Promise<void> => {
  const waited = setTimeout(() => connectionOf(client).stream.destroy(), openingMilliseconds)
  await client.end()
  clearTimeout(waited)
}

/** A connection for as long as the work takes. */
export const withClient = async <T>(
  connectionString: string,
  work: (client: pg.Client) => Promise<T>,
  options: pg.ClientConfig = {},
): Promise<T> => {
  const client = newClient({ ...clientOptions(connectionString), pipeline: false, ...options })
  try {
    await client.connect()
    return await work(client)
  } finally {
    await end(client).catch(() => {})
  }
}
