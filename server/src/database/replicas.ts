import type { KeyObject } from 'node:crypto'
import type pg from 'pg'
import { fromBytes, readRowsAsBytes } from './connections/byte-rows.ts'
import {
  answered,
  clientOptions,
  type DatabaseAddress,
  long,
  newClient,
  openShared,
  queryOn,
  type Session,
  SharedConnections,
  type Statement,
  short,
} from './connections/connection.ts'
import { Outage } from './connections/outage.ts'
import { Behind, readAsTenant } from './connections/tenant-statement.ts'
import { FairQueue } from './fair-queue.ts'
import type { ListVersions } from './versions.ts'

/** How a replica does: `behind` lacked a write, `away` did not answer. */
export type ReplicaState = {
  name: string
  state: 'in use' | 'behind' | 'away'
  reads: Record<'answered' | 'behind' | 'failed', number>
}

/** Somebody else waits for the primary instead, so a replica that hangs is found out soon. */
const quickSession: Session = { ...short, responseMilliseconds: 1_000, isReplica: true }
const slowSession: Session = { ...long, isReplica: true }
const doubtMilliseconds = 1_000
/** A replica that lacked a write, or did not answer, is left for a while, and longer each time. */
const pauses = { behind: { first: 25, longest: 1_000 }, away: { first: 1_000, longest: 10_000 } }

type Kind = 'quick' | 'slow'
type Sizes = Record<'reading' | 'searching', number>

/** A standby of PostgreSQL. It answers what it can answer as the primary would, and is asked nothing that changes anything. */
class Replica {
  readonly name: string
  readonly #connections: Record<Kind, SharedConnections>
  readonly #queues: Record<Kind, FairQueue>
  readonly #reads = { answered: 0, behind: 0, failed: 0 }
  #state: ReplicaState['state'] = 'in use'
  #pauseMilliseconds = 0
  #pausedUntil = 0
  #averageMilliseconds = 1

  constructor(connectionString: string, { role }: DatabaseAddress, sizes: Sizes, cursorKey: () => Promise<KeyObject>) {
    // Without the password.
    this.name = new URL(connectionString).host
    const outage = new Outage((reason) => this.#connections.slow.breakOff(reason))
    const open = async (session: Session): Promise<pg.Client> => {
      const client = newClient({ ...clientOptions(connectionString), types: fromBytes })
      readRowsAsBytes(client)
      await openShared(client, { connectionString, role }, session)
      await refuseStranger(client, await cursorKey())
      return client
    }
    this.#connections = {
      quick: new SharedConnections(sizes.reading, () => open(quickSession), outage),
      slow: new SharedConnections(sizes.searching, () => open(slowSession), outage),
    }
    const queueOf = (size: number, session: Session) =>
      new FairQueue(size, Math.max(1, Math.ceil(size * 0.6)), session.responseMilliseconds)
    this.#queues = {
      quick: queueOf(4 * sizes.reading, quickSession),
      slow: queueOf(sizes.searching, slowSession),
    }
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil
  }

  /** How long the next read is likely to take. */
  get expectedMilliseconds(): number {
    return this.#averageMilliseconds * (1 + this.#connections.quick.load().running)
  }

  /** Null where the primary must be asked. */
  async read<R>(kind: Kind, tenantId: string, lists: ListVersions, statement: Statement): Promise<R[] | null> {
    const begun = performance.now()
    try {
      const rows = await this.#queues[kind].run(tenantId, () => this.#ask<R>(kind, tenantId, lists, statement))
      this.#reads.answered++
      this.#state = 'in use'
      this.#pauseMilliseconds = 0
      if (kind === 'quick') this.#averageMilliseconds += (performance.now() - begun - this.#averageMilliseconds) / 16
      return rows
    } catch (error) {
      const isBehind = error instanceof Behind
      this.#reads[isBehind ? 'behind' : 'failed']++
      this.#pause(isBehind ? 'behind' : 'away')
      return null
    }
  }

  #ask<R>(kind: Kind, tenantId: string, lists: ListVersions, statement: Statement): Promise<R[]> {
    const session = kind === 'quick' ? quickSession : slowSession
    return this.#connections[kind].use(async (client) => {
      // What is slow may take long. Whether somebody is there to answer is asked beside it.
      const doubt = kind === 'slow' && setTimeout(() => void this.#ping().catch(() => {}), doubtMilliseconds)
      const asked = readAsTenant<R>(client, session, tenantId, statement, lists)
      return answered(client, asked, session.responseMilliseconds).finally(() => doubt && clearTimeout(doubt))
    })
  }

  #ping(): Promise<unknown> {
    return this.#connections.quick.use((client) => queryOn(client, quickSession)({ text: 'select 1' }))
  }

  #pause(reason: 'behind' | 'away'): void {
    const { first, longest } = pauses[reason]
    this.#pauseMilliseconds = this.#state === reason ? Math.min(2 * this.#pauseMilliseconds, longest) : first
    this.#state = reason
    this.#pausedUntil = performance.now() + this.#pauseMilliseconds
  }

  state(): ReplicaState {
    return { name: this.name, state: this.#state, reads: { ...this.#reads } }
  }

  async close(): Promise<void> {
    await Promise.all([this.#connections.quick.close(), this.#connections.slow.close()])
  }
}

/** Every installation has a key of its own. */
const refuseStranger = async (client: pg.Client, key: KeyObject): Promise<void> => {
  const { rows } = await client.query<{ key: string }>(`select encode(cursor_key, 'hex') as key from installation`)
  if (rows[0]?.key !== key.export().toString('hex')) throw new Error('this is a replica of another installation')
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
    const [nearest] = this.#replicas
      .filter(({ isPaused }) => !isPaused)
      .toSorted((one, other) => one.expectedMilliseconds - other.expectedMilliseconds)
    return (await nearest?.read<R>(kind, tenantId, lists, statement)) ?? fromPrimary()
  }

  states(): ReplicaState[] {
    return this.#replicas.map((replica) => replica.state())
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.close()))
  }
}
