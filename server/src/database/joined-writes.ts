import type { Row } from './connection.ts'
import { Busy } from './fair-lanes.ts'
import { isConnectionLost } from './unavailable.ts'

/** A statement that many join: `$1` is an array of their items in JSON. It answers the `body` of what it did by its `id`. */
export type JoinedWrite = { text: string; id: string; item: string }

/** What a group asks for, and on whose behalf. */
type Ask = (tenantIds: string[], items: string) => Promise<Row[]>

type Waiting = { id: string; item: string; since: number; settle: PromiseWithResolvers<string | null> }

type Limits = { acrossTenants: boolean; mostUnderWay: number; longestWaitMilliseconds: number }

const mostInGroup = 50
/** So many go at once, and not at the end of the turn that brings them: the server works while more are still read. */
const worthGoing = 8
/** Of one tenant. Whoever finds so many goes another way, where those who cannot be served are refused. */
const mostWaiting = 100

/**
 * Small writes of all tenants. Of what one costs that goes alone, most is the statement and the commit, so those that come
 * while others are under way go together. A tenant is in one group at a time, for its writes would wait for each other.
 */
export class JoinedWrites {
  readonly #ask: Ask
  readonly #longestWaitMilliseconds: number
  readonly #mostTenants: number
  readonly #mostUnderWay: number
  /** By tenants. */
  readonly #lines = new Map<string, Waiting[]>()
  readonly #busy = new Set<string>()
  #underWay = 0
  #waiting = 0
  #isStarting = false

  constructor(ask: Ask, { acrossTenants, mostUnderWay, longestWaitMilliseconds }: Limits) {
    this.#ask = ask
    this.#longestWaitMilliseconds = longestWaitMilliseconds
    this.#mostTenants = acrossTenants ? mostInGroup : 1
    this.#mostUnderWay = mostUnderWay
  }

  /** The body; null when it was not done, by itself or with the group, and must be done another way. */
  async write(tenantId: string, { id, item }: JoinedWrite): Promise<string | null> {
    const line = this.#lines.get(tenantId) ?? []
    if (line.length >= mostWaiting) return null
    const settle = Promise.withResolvers<string | null>()
    line.push({ id, item, since: performance.now(), settle })
    this.#lines.set(tenantId, line)
    this.#waiting++
    if (this.#waiting >= worthGoing && this.#free() >= worthGoing) this.#start()
    else this.#startSoon()
    return settle.promise
  }

  waiting(): number {
    return this.#waiting
  }

  /** Those that could go now. */
  #free(): number {
    if (this.#underWay === this.#mostUnderWay) return 0
    return this.#busy.values().reduce((free, id) => free - (this.#lines.get(id)?.length ?? 0), this.#waiting)
  }

  /** At the end of this turn of the event loop, with all that it brings. */
  #startSoon(): void {
    if (this.#isStarting) return
    this.#isStarting = true
    setImmediate(() => {
      this.#isStarting = false
      this.#start()
    })
  }

  #start(): void {
    this.#refuseLate()
    while (this.#underWay < this.#mostUnderWay) {
      const tenantIds = [...this.#lines.keys()].filter((id) => !this.#busy.has(id)).slice(0, this.#mostTenants)
      if (tenantIds.length === 0) return
      this.#send(tenantIds, this.#take(tenantIds))
    }
  }

  /** When the group before them was slow, or the server is away: no timer ends a wait, because groups end by themselves. */
  #refuseLate(): void {
    const latest = performance.now() - this.#longestWaitMilliseconds
    for (const [tenantId, line] of this.#lines) {
      const late = line.findIndex(({ since }) => since > latest)
      for (const { settle } of line.splice(0, late < 0 ? line.length : late)) {
        this.#waiting--
        settle.reject(new Busy('too many calls are under way'))
      }
      if (line.length === 0) this.#lines.delete(tenantId)
    }
  }

  /** From each the same number at most, so that nobody's many keep out somebody else's one. */
  #take(tenantIds: string[]): Waiting[] {
    const share = Math.floor(mostInGroup / tenantIds.length)
    return tenantIds.flatMap((tenantId) => {
      const line = this.#lines.get(tenantId) ?? []
      const taken = line.splice(0, share)
      this.#waiting -= taken.length
      this.#lines.delete(tenantId)
      // To the end of the round.
      if (line.length > 0) this.#lines.set(tenantId, line)
      return taken
    })
  }

  async #send(tenantIds: string[], group: Waiting[]): Promise<void> {
    this.#underWay++
    for (const id of tenantIds) this.#busy.add(id)
    try {
      const rows = await this.#ask(tenantIds, `[${group.map(({ item }) => item).join(',')}]`)
      const bodies = new Map(rows.map(({ id, body }) => [id, String(body)]))
      for (const { id, settle } of group) settle.resolve(bodies.get(id) ?? null)
    } catch (error) {
      // What may have been done must not be done again, and of a server that is away everybody shall hear soon.
      for (const { settle } of group) isConnectionLost(error) ? settle.reject(error) : settle.resolve(null)
    } finally {
      this.#underWay--
      for (const id of tenantIds) this.#busy.delete(id)
      this.#startSoon()
    }
  }
}
