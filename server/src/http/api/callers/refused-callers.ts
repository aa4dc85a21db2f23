import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../../at-most.ts'
import type { Principal } from '../../../identity/principal.ts'

/** As long as a revoked token may still be taken for a good one. */
const cachedMilliseconds = 1_000
const mostCached = 10_000

/**
 * Who was refused a moment ago for asking too much, by the `Authorization` header. Whoever floods is refused by this alone,
 * so that it costs the database nothing; nobody is let in by it.
 */
export class RefusedCallers {
  readonly #callers = new LRUCache<string, Principal>({ ...atMost(mostCached), ttl: cachedMilliseconds })

  find(header = ''): Principal | undefined {
    return this.#callers.size === 0 ? undefined : this.#callers.get(nameOf(header))
  }

  /** From the moment that the token was looked up. */
  note(header = '', principal: Principal): void {
    this.#callers.set(nameOf(header), principal)
  }
}

const nameOf = (header: string): string => hash('sha256', header, 'base64')
