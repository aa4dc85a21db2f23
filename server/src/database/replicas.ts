import type { KeyObject } from 'node:crypto'
import type pg from 'pg'
import { type BulkWork, inBulk } from './bulk.ts'
import { type DatabaseAddress, serverOf } from './connections/address.ts'
import { answered, breakOff, end, openingMilliseconds } from './connections/connection.ts'
import { Outage } from './connections/outage.ts'
import { beginAsOf, doubtMilliseconds, long, queryOn, type Session } from './connections/session.ts'
import { openShared, SharedConnections } from './connections/shared-connections.ts'
import type { Statement } from './connections/statement.ts'
import { Behind, readAsTenant } from './connections/tenant-statement.ts'
import { isHindered, isUnavailable, noResponse, Unavailable } from './connections/unavailable.ts'
import { Busy, FairQueue, mostReads, pipelined, shareOf } from './fair-queue.ts'
import type { ListVersions } from './versions.ts'

/** How a replica does: `behind` lacked a write, `away` did not answer. */
export type ReplicaState = {
  name: string
  state: 'in use' | 'behind' | 'away'
  reads: Record<'answered' | 'behind' | 'failed', number>
}

/** The primary answers what takes a replica longer. Silence is found out soon. */
const sessions: Record<Kind, Session> = {
  quick: { statementSeconds: 0.8, responseMilliseconds: 1_000, isReplica: true },
  slow: { ...long, isReplica: true },
}
const longestQueueMilliseconds = 500
/** So often it is asked beside work in bulk whether the replica is there. */
const watchMilliseconds = 5_000
/** A replica that lacked a write, or did not answer, is left for a while, and longer each time. */
const pauses = { behind: { first: 25, longest: 1_000 }, away: { first: 1_000, longest: 10_000 } }

type Kind = 'quick' | 'slow'
type Sizes = Record<'reading' | 'searching', number>

/** A standby of PostgreSQL. It answers what it can answer as the primary would, and is asked nothing that changes anything. */
class Replica {
  readonly name: string
  readonly #address: DatabaseAddress
  readonly #cursorKey: () => Promise<KeyObject>
  readonly #connections: Record<Kind, SharedConnections>
  readonly #queues: Record<Kind, FairQueue>
  readonly #reads = { answered: 0, behind: 0, failed: 0 }
  #state: ReplicaState['state'] = 'in use'
  #pauseMilliseconds = 0
  #pausedAt = 0
  #pausedUntil = 0
  #comingBack: NodeJS.Timeout | undefined
  #averageMilliseconds = 1

  constructor(connectionString: string, { role }: DatabaseAddress, sizes: Sizes, cursorKey: () => Promise<KeyObject>) {
    this.name = serverOf(connectionString)
    this.#address = { connectionString, role }
    this.#cursorKey = cursorKey
    const outage = new Outage((reason) => this.#connections.slow.breakOff(reason))
    const open = async (kind: Kind): Promise<pg.Client> => {
      const key = await cursorKey()
      const client = await openShared(this.#address, sessions[kind])
      try {
        await answered(client, refuseStranger(client, key), openingMilliseconds)
      } catch (error) {
        void end(client).catch(() => {})
        throw error
      }
      return client
    }
    this.#connections = {
      quick: new SharedConnections(sizes.reading, () => open('quick'), outage),
      slow: new SharedConnections(sizes.searching, () => open('slow'), outage),
    }
    const queueOf = (size: number) => new FairQueue(size, shareOf(size), longestQueueMilliseconds, mostReads)
    this.#queues = { quick: queueOf(pipelined * sizes.reading), slow: queueOf(sizes.searching) }
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil
  }

  /** How long the next read is likely to take. */
  expectedMilliseconds(kind: Kind): number {
    return this.#averageMilliseconds * (1 + this.#connections[kind].load().running)
  }

  /** Null where the primary must be asked. */
  async read<R>(kind: Kind, tenantId: string, lists: ListVersions, statement: Statement): Promise<R[] | null> {
    const begun = performance.now()
    try {
      const rows = await this.#queues[kind].run(tenantId, () => this.#ask<R>(kind, tenantId, lists, statement))
      this.#reads.answered++
      this.#state = 'in use'
      if (kind === 'quick') this.#averageMilliseconds += (performance.now() - begun - this.#averageMilliseconds) / 16
      return rows
    } catch (error) {
      this.#note(error, begun)
      return null
    }
  }

  /** One that is busy, or ended a statement by itself, is there. */
  #note(error: unknown, begun: number): void {
    const isBehind = error instanceof Behind
    this.#reads[isBehind ? 'behind' : 'failed']++
    if (isBehind) this.#pause('behind', begun)
    else if (!(error instanceof Busy) && !isHindered(error)) this.#pause('away', begun)
  }

  #ask<R>(kind: Kind, tenantId: string, lists: ListVersions, statement: Statement): Promise<R[]> {
    return this.#connections[kind].use(async (client) => {
      const read = <T>(statement: Statement) => readAsTenant<T>(client, sessions[kind], tenantId, statement, lists)
      if (kind === 'quick') return read<R>(statement)
      // What is slow may take long. Whether somebody is there to answer is asked beside it.
      const doubt = setTimeout(() => void this.#ping().catch(() => {}), doubtMilliseconds)
      try {
        // A replica that lacks a write does not search in vain.
        await read({ text: 'select' })
        return await read<R>(statement)
      } finally {
        clearTimeout(doubt)
      }
    })
  }

  /** Null where the primary must be asked. */
  async inBulk<T>(tenantId: string, lists: ListVersions, work: BulkWork<T>): Promise<{ done: T } | null> {
    const begun = performance.now()
    let watch: NodeJS.Timeout | undefined
    const admit = async (client: pg.Client): Promise<void> => {
      // Nothing ends it for taking long. Whether somebody is there to answer is asked beside it.
      watch = setInterval(() => this.#ping().catch(() => breakOff(client, silence())), watchMilliseconds)
      await refuseStranger(client, await this.#cursorKey())
      // What it has now, it has in every snapshot from here on.
      const lacking = await client.query({ ...beginAsOf, values: [tenantId, lists.versions, lists.source] })
      if (lacking.rowCount !== 0) throw new Behind('the replica lacks a write')
    }
    try {
      const done = await inBulk(this.#address, tenantId, work, admit)
      this.#reads.answered++
      return { done }
    } catch (error) {
      const isOfReplica = error instanceof Behind || error instanceof Stranger || isUnavailable(error)
      // Else it is the work that failed, and would fail anywhere.
      if (!isOfReplica) throw error
      this.#note(error, begun)
      return null
    } finally {
      clearInterval(watch)
    }
  }

  #ping(): Promise<unknown> {
    return this.#connections.quick.use((client) => queryOn(client, sessions.quick)({ text: 'select 1' }))
  }

  /** Reads that were in flight already count as one. */
  #pause(reason: 'behind' | 'away', begun: number): void {
    if (begun < this.#pausedAt) return
    const { first, longest } = pauses[reason]
    this.#pauseMilliseconds = this.#state === reason ? Math.min(2 * this.#pauseMilliseconds, longest) : first
    this.#state = reason
    this.#pausedAt = performance.now()
    this.#pausedUntil = this.#pausedAt + this.#pauseMilliseconds
    if (reason === 'away') this.#comeBack()
  }

  /** Nobody waits for a replica that is away: it is asked beside the requests whether it is back. */
  #comeBack(): void {
    this.#pausedUntil = Number.POSITIVE_INFINITY
    this.#comingBack = setTimeout(() => {
      const begun = performance.now()
      this.#ping().then(
        () => {
          this.#pausedUntil = 0
        },
        () => this.#pause('away', begun),
      )
    }, this.#pauseMilliseconds).unref()
  }

  state(): ReplicaState {
    return { name: this.name, state: this.#state, reads: { ...this.#reads } }
  }

  async close(): Promise<void> {
    clearTimeout(this.#comingBack)
    await Promise.all([this.#connections.quick.close(), this.#connections.slow.close()])
  }
}

const silence = () => new Unavailable(noResponse, 'the replica did not answer')

class Stranger extends Error {}

/** Every installation has a key of its own. Row-level security must hold who reads. */
const refuseStranger = async (client: pg.Client, key: KeyObject): Promise<void> => {
  const { rows } = await client.query<{ key: string; bypasses: boolean }>(
    `select encode(cursor_key, 'hex') as key, rolsuper or rolbypassrls as bypasses
      from installation, pg_roles where rolname = current_user`,
  )
  if (rows[0]?.key !== key.export().toString('hex')) throw new Stranger('this is a replica of another installation')
  if (rows[0].bypasses) throw new Stranger('row-level security does not hold the role that reads from this replica')
}

export class Replicas {
  readonly #replicas: Replica[]

  constructor(address: DatabaseAddress, sizes: Sizes, cursorKey: () => Promise<KeyObject>) {
    this.#replicas = (address.replicaConnectionStrings ?? []).map((url) => new Replica(url, address, sizes, cursorKey))
  }

  /** Reads from the replica that is likely to answer first, if it has what the primary had, else from the primary. */
  async read<R>(
    kind: Kind,
    tenantId: string,
    lists: ListVersions,
    statement: Statement,
    fromPrimary: () => Promise<R[]>,
  ): Promise<R[]> {
    return (await this.#nearest(kind)?.read<R>(kind, tenantId, lists, statement)) ?? fromPrimary()
  }

  /** Works on a replica that has what the primary had, else, and when it fails there, on the primary. */
  async inBulk<T>(tenantId: string, lists: ListVersions, work: BulkWork<T>, onPrimary: () => Promise<T>): Promise<T> {
    const done = await this.#nearest('slow')?.inBulk(tenantId, lists, work)
    return done ? done.done : onPrimary()
  }

  #nearest(kind: Kind): Replica | undefined {
    return this.#replicas
      .filter(({ isPaused }) => !isPaused)
      .toSorted((one, other) => one.expectedMilliseconds(kind) - other.expectedMilliseconds(kind))[0]
  }

  states(): ReplicaState[] {
    return this.#replicas.map((replica) => replica.state())
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.close()))
  }
}
