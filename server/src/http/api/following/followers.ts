import type { AskVersions, Versions } from '../../../database/versions.ts'

/** How often the database is asked, for all that follow together. */
const lookMilliseconds = 250

/** Calls that follow in one thread: each costs memory, and a look at it four times a second. No tenant takes the seats of all. */
const mostFollowers = 10_000
export const mostOfTenant = mostFollowers / 4

/** Told every time the database was asked; null where it did not answer. */
export type Follower = { tenantId: string; look: (versions: Versions | null) => void; stop: () => void }

/**
 * All calls of this thread that wait for news. As long as there is one, a statement asks for the versions of all their tenants every
 * 250 ms; whose version has moved reads.
 */
export class Followers {
  readonly #ask: AskVersions
  readonly #byTenant = new Map<string, Set<Follower>>()
  #size = 0
  #timer: NodeJS.Timeout | null = null
  #isStopping = false

  constructor(ask: AskVersions) {
    this.#ask = ask
  }

  hasRoomFor(tenantId: string): boolean {
    return this.#size < mostFollowers && (this.#byTenant.get(tenantId)?.size ?? 0) < mostOfTenant
  }

  add(follower: Follower): void {
    if (this.#isStopping) {
      follower.stop()
      return
    }
    const ofTenant = this.#byTenant.get(follower.tenantId) ?? new Set()
    this.#byTenant.set(follower.tenantId, ofTenant.add(follower))
    this.#size++
    this.#timer ??= this.#lookLater()
  }

  remove(follower: Follower): void {
    const ofTenant = this.#byTenant.get(follower.tenantId)
    if (!ofTenant?.delete(follower)) return
    this.#size--
    if (ofTenant.size === 0) this.#byTenant.delete(follower.tenantId)
  }

  /** Ends every wait and every stream, also those that begin later. */
  stop(): void {
    this.#isStopping = true
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    for (const ofTenant of this.#byTenant.values()) for (const follower of ofTenant) follower.stop()
    this.#byTenant.clear()
    this.#size = 0
  }

  #lookLater(): NodeJS.Timeout {
    return setTimeout(async () => {
      // What is asked for in one turn goes out as one statement.
      await Promise.all(this.#byTenant.keys().map((tenantId) => this.#lookAt(tenantId)))
      this.#timer = this.#size > 0 && !this.#isStopping ? this.#lookLater() : null
    }, lookMilliseconds)
  }

  async #lookAt(tenantId: string): Promise<void> {
    const before = [...(this.#byTenant.get(tenantId) ?? [])]
    // Where the database is away, streams stay open, and waits go on until their time is over.
    const versions = await Promise.resolve(this.#ask(tenantId)).catch(() => null)
    // Who came meanwhile may have read what is newer.
    for (const follower of before) if (this.#byTenant.get(tenantId)?.has(follower)) follower.look(versions)
  }
}
