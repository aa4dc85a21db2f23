import pg from 'pg'
import {
  answered,
  clientOptions,
  openPool,
  prepareBulkSession,
  prepared,
  type Query,
  queryOn,
  SharedConnections,
  type Statement,
} from './connection.ts'
import { FairLanes } from './fair-lanes.ts'

/** The only door to the records of a tenant: its queries name no tenant, the transaction does. */
export type TenantDatabase = {
  tenantId: string
  cursorKey: Database['cursorKey']
  /** One statement on a shared connection, in one round trip. */
  read: Query
  /** One statement that may take long, on a connection that the quick ones do not share. */
  readSlowly: Query
  transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  /** A connection of its own, for what reads or writes in bulk: nothing there ends it for taking long. */
  inBulk: <T>(work: (client: pg.Client) => Promise<T>) => Promise<T>
}

export type Database = {
  /** Statements on tables that belong to no tenant: who is calling, and what the command line administers. */
  query: Query
  /** Seals the cursors of this installation. */
  cursorKey: () => Promise<Buffer>
  transaction: <T>(work: (query: Query) => Promise<T>) => Promise<T>
  forTenant: (tenantId: string) => TenantDatabase
  /** How busy each kind of connection is. */
  load: () => Load
  /** Fails when the database does not answer. */
  ping: () => Promise<void>
  close: () => Promise<void>
}

export type Connections = { reading: number; searching: number; writing: number }

/** Connections that may be open and are, statements or transactions under way on them, and those that wait for one. */
export type Load = Record<keyof Connections, { most: number; open: number; running: number; waiting: number }>

const connectionsAlone: Connections = { reading: 4, searching: 3, writing: 10 }

/** Of each of several workers: together twice those of one alone, so that many do not exhaust the server. */
export const connectionsOfEach = (workers: number): Connections => {
  const share = (alone: number, least: number) => Math.max(least, Math.min(alone, Math.ceil((2 * alone) / workers)))
  const { reading, searching, writing } = connectionsAlone
  return { reading: share(reading, 1), searching: share(searching, 1), writing: share(writing, 2) }
}

/** How many of them one tenant can take, so that the others go on. */
const shareOf = (size: number): number => Math.max(1, Math.min(size - 1, Math.ceil(size * 0.6)))

/** So many reads on a connection keep it busy; more would only stand in the way of others. They are quick, so many may wait. */
const pipelined = 2
const mostReads = 2_000

export const openDatabase = (
  connectionString: string,
  role: string | null,
  connections: Connections = connectionsAlone,
): Database => {
  const options = clientOptions(connectionString)
  const reading = new SharedConnections(connections.reading, options, role)
  const searching = new SharedConnections(connections.searching, options, role)
  const writing = openPool(connectionString, role, connections.writing)
  const reads = new FairLanes(pipelined * connections.reading, shareOf(pipelined * connections.reading), mostReads)
  const searches = new FairLanes(connections.searching, shareOf(connections.searching))
  const writes = new FairLanes(connections.writing, shareOf(connections.writing))
  let key: Promise<Buffer> | undefined
  const cursorKey = (): Promise<Buffer> => {
    key ??= reading.use(readCursorKey)
    key.catch(() => {
      key = undefined
    })
    return key
  }
  return {
    query: (statement) => reading.use((client) => queryOn(client)(statement)),
    cursorKey,
    transaction: (work) => writes.run('', () => transaction(writing, [], work)),
    forTenant: (tenantId) => ({
      tenantId,
      cursorKey,
      read: (statement) => reads.run(tenantId, () => reading.use((client) => readAs(client, tenantId, statement))),
      readSlowly: (statement) =>
        searches.run(tenantId, () => searching.use((client) => readAs(client, tenantId, statement))),
      transaction: (work) => writes.run(tenantId, () => transaction(writing, [setTenant(tenantId)], work)),
      inBulk: (work) => inBulk(options, role, tenantId, work),
    }),
    load: () => ({
      reading: { ...reading.load(), waiting: 0 },
      searching: { ...searching.load(), waiting: searches.waiting() },
      writing: {
        most: connections.writing,
        open: writing.totalCount,
        running: writing.totalCount - writing.idleCount,
        waiting: writing.waitingCount + writes.waiting(),
      },
    }),
    ping: async () => {
      await reading.use((client) => client.query('select 1'))
    },
    close: async () => {
      await Promise.all([reading.close(), searching.close(), writing.end()])
    },
  }
}

const readCursorKey = async (client: pg.Client): Promise<Buffer> => {
  const [row] = await queryOn(client)<{ cursor_key: Buffer }>({ text: 'select cursor_key from installation' })
  if (!row) throw new Error('the database has not been migrated')
  return row.cursor_key
}

const setTenant = (tenantId: string): Statement => ({
  text: `select set_config('masthead.tenant', $1, true)`,
  values: [tenantId],
})

const inBulk = async <T>(
  options: pg.ClientConfig,
  role: string | null,
  tenantId: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({ ...options, pipeline: false })
  await client.connect()
  try {
    await prepareBulkSession(client, role)
    await client.query(`select set_config('masthead.tenant', $1, false)`, [tenantId])
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Queued in one synchronous call, so that no other caller's statement falls between. */
const readAs = async <R>(client: pg.Client, tenantId: string, statement: Statement): Promise<R[]> => {
  const round = Promise.all([
    client.query('begin read only'),
    client.query(prepared(setTenant(tenantId))),
    client.query(prepared(statement)),
    client.query('commit'),
  ])
  const [, , result] = await answered(client, round)
  // The caller names the row type of the statement it wrote.
  return result.rows as R[]
}

const transaction = async <T>(pool: pg.Pool, opening: Statement[], work: (query: Query) => Promise<T>): Promise<T> => {
  const client = await pool.connect()
  try {
    const opened = Promise.all([
      client.query('begin'),
      ...opening.map((statement) => client.query(prepared(statement))),
    ])
    const [result] = await Promise.all([work(queryOn(client)), opened])
    const committed = await answered(client, client.query('commit'))
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK, and without an error.
    if (committed.command !== 'COMMIT') throw new Error('the transaction was rolled back')
    client.release()
    return result
  } catch (error) {
    const usable = await answered(client, client.query('rollback')).then(
      () => true,
      () => false,
    )
    client.release(!usable)
    throw error
  }
}
