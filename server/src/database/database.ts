import { createSecretKey, type KeyObject } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type pg from 'pg'
import { BatchedReads, type KeyedStatement } from './batched-reads.ts'
import { type BulkWork, inBulk } from './bulk.ts'
import { type DatabaseAddress, withoutPooler } from './connections/address.ts'
import { answered } from './connections/connection.ts'
import { Outage } from './connections/outage.ts'
import { acquireFrom, openPool } from './connections/pool.ts'
import {
  doubtMilliseconds,
  long,
  queryOn,
  type Session,
  sessionFor,
  short,
  type Timeouts,
} from './connections/session.ts'
import { openShared, SharedConnections } from './connections/shared-connections.ts'
import type { Query, Statement } from './connections/statement.ts'
import { begin, queryAlone, readAsTenant, sendAlone } from './connections/tenant-statement.ts'
import {
  isConnectionLost,
  isShardLost,
  isWriteRefused,
  outcomeUnknown,
  Unavailable,
} from './connections/unavailable.ts'
import { FairQueue, mostReads, pipelined, quickSearches, shareOf } from './fair-queue.ts'
import { perTenant } from './per-tenant.ts'
import { type ReplicaState, Replicas } from './replicas.ts'
import { TakenWrites } from './taken-writes.ts'
import { type TenantQuery, tenantQuery } from './tenant-query.ts'
import { type AskVersions, type ListVersions, type Versions, versionsFrom } from './versions.ts'
import { type BatchWork, WriteQueue } from './write-queue.ts'

/** The work is done anew when its connection breaks before the commit, so it must leave nothing but what it queries. */
type Transaction<Q> = <T>(work: (query: Q) => Promise<T>) => Promise<T>

type Decide<Q, T> = (query: Q) => Promise<(last: Q) => T | Promise<T>>

/**
 * The only door to the records of a tenant. It gives the tenant to every statement as `$1`, and to the transaction, which
 * row-level security holds to it.
 */
export type TenantDatabase = {
  tenantId: string
  cursorKey: Database['cursorKey']
  /** Aborted when the database is closed, for what goes on after the call that began it. */
  closing: AbortSignal
  /**
   * One statement on a shared connection, in one round trip. It is asked again when the connection breaks. What is sent
   * on as it is, columns named `body` and `items`, comes as bytes.
   */
  read: TenantQuery
  /** The stored body of a record by its name, together with those that others ask for at the same moment. */
  bodyOf: (named: KeyedStatement) => Promise<Buffer | null>
  /** One statement that may take long, on a connection that the quick ones do not share. */
  readSlowly: TenantQuery
  /** The same tenant, whose reads a replica may answer that has these versions of its lists. */
  asOf: (lists: ListVersions) => TenantDatabase
  /**
   * The same as the primary has it now, for what reads much of the tenant's records and nothing else. Where a replica fails in
   * bulk, the work is done anew on the primary.
   */
  asOfNow: () => Promise<TenantDatabase>
  transaction: Transaction<TenantQuery>
  /** A transaction that decides first: what it returns asks for the last statements, which are sent together with the commit. */
  write: <T>(decide: Decide<TenantQuery, T>) => Promise<T>
  /** How a process of its own reaches this database. */
  connection: DatabaseAddress
  /**
   * Calls `act` at once, or, inside the transaction of a call, when that has ended: after a commit with a handle for further
   * work, after a rollback with null.
   */
  whenStored: (act: (after: TenantDatabase | null) => void) => void
  /** For small writes of one list: those that wait for each other share a transaction of the work's. */
  inBatches: <I, O>(list: string, item: I, work: BatchWork<I, O>) => Promise<O>
  /** A connection of its own, for what reads or writes in bulk: nothing there ends it for taking long. */
  inBulk: <T>(work: BulkWork<T>) => Promise<T>
}

export type Database = {
  /**
   * One statement on tables that belong to no tenant: who is calling, and what the command line administers. As with all statements that are sent
   * alone, columns named `body` and `items` come as they are stored.
   */
  query: Query
  /** Such a statement that changes nothing, on a shared connection. It is asked again when the connection breaks. */
  read: Query
  /** The same on a connection of its own, for the versions that cached responses are compared with. */
  readVersions: Query
  /** Seals the cursors of this installation. */
  cursorKey: () => Promise<KeyObject>
  transaction: Transaction<Query>
  forTenant: (tenantId: string) => TenantDatabase
  /** How busy each kind of connection is. */
  load: () => Load
  replicas: () => ReplicaState[]
  /** Fails when the database does not answer. */
  ping: () => Promise<{ takesWrites: boolean }>
  close: () => Promise<void>
}

export type Connections = { reading: number; searching: number; writing: number }

/** Connections that may be open and are, statements or transactions in flight on them, and those that wait for one. */
export type Load = Record<keyof Connections, { most: number; open: number; running: number; waiting: number }>

const connectionsAlone: Connections = { reading: 4, searching: 3, writing: 10 }

/** Of each of several workers: together twice those of one alone, so that many do not exhaust the server. */
export const connectionsOfEach = (workers: number): Connections => {
  const share = (alone: number, least: number) => Math.max(least, Math.min(alone, Math.ceil((2 * alone) / workers)))
  const { reading, searching, writing } = connectionsAlone
  return { reading: share(reading, 1), searching: share(searching, 1), writing: share(writing, 2) }
}

type Opening = {
  connections?: Connections
  timeouts?: Timeouts
}

/** A search keeps a core busy: in one worker, one tenant may not have all of this machine's. */
const searchesOfOne = (size: number): number => Math.max(1, Math.min(shareOf(size), availableParallelism() - 1))

export const openDatabase = (
  address: DatabaseAddress,
  { connections = connectionsAlone, timeouts = short }: Opening = {},
): Database => {
  const quick = sessionFor(address, timeouts, 'reading')
  const slow = sessionFor(address, long, 'reading')
  const writeSession = sessionFor(address, timeouts, 'writing')
  // Not told by those that write: a commit that waits for a standby is silent, too, and then reads go on.
  const outage = new Outage((reason, isEverywhere) => {
    searching.breakOff(reason)
    if (isEverywhere) searches.refuseWaiting(reason)
  })
  const closing = new AbortController()
  const reading = new SharedConnections(connections.reading, () => openShared(address, quick), outage)
  // Every request asks over it, so it leads to the server itself.
  const direct = withoutPooler(address)
  const asking = sessionFor(direct, timeouts, 'reading')
  const versions = new SharedConnections(1, () => openShared(direct, asking), outage)
  const searching = new SharedConnections(connections.searching, () => openShared(address, slow), outage)
  const writing = openPool(address, connections.writing, writeSession)
  const acquire = acquireFrom(writing)
  const reads = new FairQueue(
    pipelined * connections.reading,
    shareOf(pipelined * connections.reading),
    timeouts.responseMilliseconds,
    mostReads,
  )
  const searches = new FairQueue(
    quickSearches * connections.searching,
    quickSearches * searchesOfOne(connections.searching),
    long.responseMilliseconds,
  )
  const writes = new FairQueue(connections.writing, shareOf(connections.writing), timeouts.responseMilliseconds)
  const queue = new WriteQueue(timeouts.responseMilliseconds)
  const takenWrites = new TakenWrites()
  const ask: Query = (statement) => reading.use((client) => queryAlone(client, quick)(statement))
  const searched = <R>(tenantId: string, statement: Statement, weight: number): Promise<R[]> =>
    searching.use(
      async (client) => {
        // What is asked may take long. Whether somebody is there to answer is asked beside it.
        const doubt = setTimeout(() => ask({ text: 'select 1' }).catch(() => {}), doubtMilliseconds)
        return readAsTenant<R>(client, slow, tenantId, statement).finally(() => clearTimeout(doubt))
      },
      { user: tenantId, weight, most: quickSearches },
    )
  const onConnection = <T>(owner: string, work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const asked = performance.now()
    return writes.run(owner, () => outage.bridge(async () => work(await acquire()), asked))
  }
  const inTransaction: Transaction<Query> = (work) =>
    onConnection('', (client) => runTransaction(client, writeSession, null, deciding(work)))
  let key: Promise<KeyObject> | undefined
  const cursorKey = (): Promise<KeyObject> => {
    key ??= outage.bridge(() => readCursorKey(ask))
    key.catch(() => {
      key = undefined
    })
    return key
  }
  const replicas = new Replicas(address, connections, cursorKey)
  const readVersions: Query = (statement) =>
    outage.bridge(() => versions.use((client) => queryAlone(client, asking)(statement)))
  const noVersions: Versions = { source: '', identity: '', records: '', lists: null }
  const askVersions: AskVersions =
    replicas.states().length > 0 ? versionsFrom(readVersions, 0, async () => {}) : () => noVersions
  return {
    // Not over the shared connections: a commit that waits for a standby would keep the readers behind it waiting.
    query: (statement) =>
      writeSession.isSharded
        ? inTransaction((query) => query(statement))
        : onConnection('', (client) => runStatement(client, () => queryAlone(client, writeSession)(statement))),
    read: (statement) => outage.bridge(() => ask(statement)),
    readVersions,
    cursorKey,
    transaction: inTransaction,
    forTenant: perTenant((tenantId) => {
      const readQuickly: Query = (statement) =>
        reads.run(tenantId, () =>
          outage.bridge(() => reading.use((client) => readAsTenant(client, quick, tenantId, statement))),
        )
      const readLong: Query = (statement) => {
        const weight = statement.isLikelyQuick ? 1 : quickSearches
        return searches.run(tenantId, () => outage.bridge(() => searched(tenantId, statement, weight)), weight)
      }
      const read = tenantQuery(tenantId, readQuickly)
      const keyed = new BatchedReads(read)
      const write = <T>(decide: Decide<TenantQuery, T>): Promise<T> =>
        takenWrites.watch(
          onConnection(tenantId, (client) =>
            runTransaction<T>(client, writeSession, tenantId, async (query) => {
              const last = await decide(tenantQuery(tenantId, query))
              return (query) => last(tenantQuery(tenantId, query))
            }),
          ),
        )
      // Requests of one moment have the same versions, and share what they read together.
      const doors = new WeakMap<ListVersions, TenantDatabase>()
      const door: TenantDatabase = {
        tenantId,
        cursorKey,
        closing: closing.signal,
        read,
        bodyOf: (named) => keyed.bodyOf(named),
        readSlowly: tenantQuery(tenantId, readLong),
        asOf: (lists) => {
          const known = doors.get(lists)
          if (known) return known
          const read = tenantQuery(tenantId, (statement) =>
            replicas.read('quick', tenantId, lists, statement, () => readQuickly(statement)),
          )
          const readSlowly = tenantQuery(tenantId, (statement) =>
            replicas.read('slow', tenantId, lists, statement, () => readLong(statement)),
          )
          const keyed = new BatchedReads(read)
          const asked: TenantDatabase = {
            ...door,
            read,
            readSlowly,
            bodyOf: (named) => keyed.bodyOf(named),
            inBulk: (work) => replicas.inBulk(tenantId, lists, work, () => door.inBulk(work)),
          }
          doors.set(lists, asked)
          return asked
        },
        asOfNow: async () => {
          const { lists } = await askVersions(tenantId)
          return lists ? door.asOf(lists) : door
        },
        transaction: (work) => write(deciding(work)),
        write,
        connection: address,
        whenStored: (act) => act(door),
        inBatches: (list, item, work) => queue.run(`${tenantId} ${list}`, item, work),
        inBulk: (work) => inBulk(direct, tenantId, work),
      }
      return door
    }),
    load: () => ({
      reading: { ...reading.load(), waiting: reads.waiting() },
      searching: { ...searching.load(), waiting: searches.waiting() },
      writing: {
        most: connections.writing,
        open: writing.totalCount,
        running: writing.totalCount - writing.idleCount,
        waiting: writing.waitingCount + writes.waiting() + queue.waiting(),
      },
    }),
    replicas: () => replicas.states(),
    ping: async () => {
      const [row] = await ask<{ isStandby: boolean }>({ text: 'select pg_is_in_recovery() as "isStandby"' })
      return { takesWrites: row?.isStandby === false && takenWrites.areTaken }
    },
    close: async () => {
      closing.abort()
      await Promise.all([reading.close(), versions.close(), searching.close(), writing.end(), replicas.close()])
    },
  }
}

const readCursorKey = async (query: Query): Promise<KeyObject> => {
  const [row] = await query<{ cursor_key: Buffer }>({ text: 'select cursor_key from installation' })
  if (!row) throw new Error('the database has not been migrated')
  return createSecretKey(row.cursor_key)
}

const runStatement = async <R>(client: pg.PoolClient, ask: () => Promise<R[]>): Promise<R[]> => {
  try {
    const rows = await ask()
    client.release()
    return rows
  } catch (error) {
    client.release(isConnectionLost(error))
    throw afterCommit(error)
  }
}

/** Work that has nothing to send together with the commit. */
const deciding =
  <Q, T>(work: (query: Q) => Promise<T>): Decide<Q, T> =>
  async (query) => {
    const done = await work(query)
    return () => done
  }

const runTransaction = async <T>(
  client: pg.PoolClient,
  session: Session,
  tenantId: string | null,
  decide: Decide<Query, T>,
): Promise<T> => {
  const { responseMilliseconds } = session
  const send = queryOn(client, session)
  let opening: Promise<unknown> | undefined
  let isOver = false
  const query: Query = async (statement) => {
    // Of several that asked beside each other, one may go on when another has failed; the connection may be somebody else's then.
    if (isOver) throw new Error('the transaction has ended')
    opening ??= begin(client, session, tenantId)
    // It fails with what follows it.
    opening.catch(() => {})
    return send(statement)
  }
  let isCommitting = false
  try {
    const last = await decide(query)
    isCommitting = true
    const asked = new LastStatements()
    const result = last(asked.query)
    const [only, ...others] = asked.statements
    // Nothing was asked before, so nothing is committed with it: it is a transaction by itself.
    const isAlone = !opening && tenantId !== null && others.length === 0 && !session.isSharded
    if (isAlone && only) asked.answer(() => sendAlone(client, session, tenantId, only))
    else asked.answer(query)
    const committing = opening && answered(client, client.query('commit'), responseMilliseconds)
    isOver = true
    const [answer, committed] = await Promise.all([result, committing, opening])
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK, and without an error.
    if (committed && committed.command !== 'COMMIT') throw new Error('the transaction was rolled back')
    client.release()
    return answer
  } catch (failed) {
    isOver = true
    // Where the beginning failed, that says why, and not what failed after it.
    const error = await Promise.resolve(opening).then(
      () => failed,
      (reason) => reason,
    )
    const rolledBack = opening && answered(client, client.query('rollback'), responseMilliseconds)
    const usable = await Promise.resolve(rolledBack).then(
      () => !isConnectionLost(error),
      () => false,
    )
    client.release(!usable)
    throw isCommitting ? afterCommit(error) : error
  }
}

/** The statements that a transaction ends with, asked for in one synchronous call and sent when all are known. */
class LastStatements {
  readonly statements: Statement[] = []
  readonly #settle: ((rows: Promise<never[]>) => void)[] = []

  readonly query: Query = (statement) => {
    this.statements.push(statement)
    return new Promise((resolve) => {
      this.#settle.push(resolve)
    })
  }

  answer(query: Query): void {
    this.statements.forEach((statement, index) => {
      this.#settle[index]?.(query(statement))
    })
  }
}

/** Who has sent a commit and lost the connection does not know what became of it. */
const afterCommit = (error: unknown): unknown =>
  isShardLost(error) || (isConnectionLost(error) && !isWriteRefused(error))
    ? new Unavailable(outcomeUnknown, 'the outcome of a commit is not known', { cause: error })
    : error
