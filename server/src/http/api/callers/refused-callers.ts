import { hash } from 'node:crypto'
import type { Principal } from '../../../identity/principal.ts'

/** As long as a revoked token may still be taken for a good one. */
const cachedMilliseconds = 1_000
const mostCached = 10_000

/**
 * Who was refused a moment ago for asking too much, by the `Authorization` header. Whoever floods is refused by this alone,
 * so that it costs the database nothing; nobody is let in by it.
 */
export class RefusedCallers {
  readonly #callers = new Map<string, { principal: Principal; until: number }>()

  find(header = ''): Principal | null {
    if (this.#callers.size === 0) return null
    const name = nameOf(header)
    const known = this.#callers.get(name)
    if (known && known.until > Date.now()) return known.principal
    this.#callers.delete(name)
    return null
  }

  /** From the moment that the token was looked up. */
  note(header = '', principal: Principal): void {
    if (this.#callers.size >= mostCached) this.#callers.clear()
    this.#callers.set(nameOf(header), { principal, until: Date.now() + cachedMilliseconds })
  }
}

const nameOf = (header: string): string => hash('sha256', header, 'base64')
