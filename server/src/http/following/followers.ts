import type { AskVersions, Versions } from '../../database/versions.ts'

/** How often the database is asked, for all that follow together. */
const lookMilliseconds = 250

/** Told every time the database was asked; null where it did not answer. */
export type Follower = { tenantId: string; look: (versions: Versions | null) => void; stop: () => void }

/**
 * All calls of this thread that wait for news. As long as there is one, a statement asks for the versions of all their tenants every
 * 250 ms; whose version has moved reads.
 */
export class Followers {
  readonly #ask: AskVersions
  readonly #all = new Set<Follower>()
  #timer: NodeJS.Timeout | null = null
  #isStopping = false

  constructor(ask: AskVersions) {
    this.#ask = ask
  }

  get size(): number {
    return this.#all.size
  }

  add(follower: Follower): void {
    if (this.#isStopping) {
      follower.stop()
      return
    }
    this.#all.add(follower)
    this.#timer ??= this.#lookLater()
  }

  remove(follower: Follower): void {
    this.#all.delete(follower)
  }

  /** Ends every wait and every stream, also those that begin later. */
  stop(): void {
    this.#isStopping = true
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    for (const follower of this.#all) follower.stop()
    this.#all.clear()
  }

  #lookLater(): NodeJS.Timeout {
    return setTimeout(async () => {
      const byTenant = Map.groupBy(this.#all, ({ tenantId }) => tenantId)
      // What is asked for in one turn goes out as one statement.
      await Promise.all(byTenant.entries().map(([tenantId, followers]) => this.#lookAt(tenantId, followers)))
      this.#timer = this.#all.size > 0 && !this.#isStopping ? this.#lookLater() : null
    }, lookMilliseconds)
  }

  async #lookAt(tenantId: string, followers: readonly Follower[]): Promise<void> {
    // Where the database is away, streams stay open, and waits go on until their time is over.
    const versions = await Promise.resolve(this.#ask(tenantId)).catch(() => null)
    for (const follower of followers) if (this.#all.has(follower)) follower.look(versions)
  }
}
