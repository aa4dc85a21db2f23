import type pg from 'pg'
import { fromBytes, readRowsAsBytes } from '../pg-internals/byte-rows.ts'
import { usesInternals } from '../pg-internals/switch.ts'
import type { DatabaseAddress } from './address.ts'
import { breakOff, clientOptions, end, newClient } from './connection.ts'
import type { Outage } from './outage.ts'
import { prepareSession, type Session } from './session.ts'

/** Opens a connection that many statements share. */
export const openShared = async (address: DatabaseAddress, session: Session): Promise<pg.Client> => {
  const client = newClient({ ...clientOptions(address.connectionString), types: fromBytes })
  if (usesInternals()) readRowsAsBytes(client)
  await client.connect()
  await prepareSession(client, address, session, 'reading')
  return client
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

  /** Every statement in flight on these connections fails with this error. The next one opens a new connection. */
  breakOff(reason: Error): void {
    for (const slot of this.#slots) if (slot?.opened) breakOff(slot.opened, reason)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#slots.map(async (slot) => slot && end(await slot.client)))
  }
}
