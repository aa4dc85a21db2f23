import type { Principal } from '../identity/principal.ts'
import { Problem } from '../problem.ts'

/** How much callers may ask for: requests a minute of a token and of a tenant, and requests of a token at once. */
export type RateLimits = { token: number; tenant: number; atOnce: number }

const windowMilliseconds = 60_000
/** Above this, windows that are over are swept out. */
const manyWindows = 10_000

type Window = { used: number; endsAt: number }
/** A limit that a request counts against, and the window of the caller. */
type Counter = { name: 'token' | 'tenant'; quota: number; window: Window }

/** What an arrived request was charged. */
export type Charge = {
  /** `RateLimit` and `RateLimit-Policy` (IETF draft) as they are now. */
  headers: () => Record<string, string>
  /** Gives the charge back: nothing had to be sent. */
  refund: () => void
  /** The request is over. */
  leave: () => void
}

/** Counts the requests of this process in windows of a minute, which begin with the first request of a caller. */
export class RateLimiter {
  readonly #limits: RateLimits
  readonly #now: () => number
  readonly #windows = new Map<string, Window>()
  readonly #atOnce = new Map<string, number>()

  constructor(limits: RateLimits, now = Date.now) {
    this.#limits = limits
    this.#now = now
  }

  /** Charges a request on arrival; `refused` says why it may not go on. */
  arrive({ kind, lineage, tokenId, tenantId }: Principal): Charge & { refused: Problem | null } {
    // A delegated token is renewed every few minutes; its grant stays.
    const caller = kind === 'delegated' ? lineage : tokenId
    const { token, tenant, atOnce } = this.#limits
    const counters: Counter[] = [
      { name: 'token', quota: token, window: this.#window(`token ${caller}`) },
      { name: 'tenant', quota: tenant, window: this.#window(`tenant ${tenantId}`) },
    ]
    const running = this.#atOnce.get(caller) ?? 0
    const exhausted = counters.find(({ quota, window }) => window.used >= quota)
    const headers = () => this.#headers(counters)
    if (exhausted || running >= atOnce) {
      const refused = exhausted ? this.#tooMany(exhausted) : tooManyAtOnce(atOnce)
      return { headers, refund: () => {}, leave: () => {}, refused }
    }
    for (const { window } of counters) window.used++
    this.#atOnce.set(caller, running + 1)
    return {
      ...{ headers, refused: null },
      refund: () => {
        for (const { window } of counters) window.used--
      },
      leave: () => this.#leave(caller),
    }
  }

  #window(key: string): Window {
    const now = this.#now()
    const known = this.#windows.get(key)
    if (known && known.endsAt > now) return known
    if (this.#windows.size > manyWindows) this.#sweep(now)
    const window = { used: 0, endsAt: now + windowMilliseconds }
    this.#windows.set(key, window)
    return window
  }

  #sweep(now: number): void {
    for (const [key, { endsAt }] of this.#windows) if (endsAt <= now) this.#windows.delete(key)
  }

  #leave(caller: string): void {
    const left = (this.#atOnce.get(caller) ?? 1) - 1
    if (left > 0) this.#atOnce.set(caller, left)
    else this.#atOnce.delete(caller)
  }

  #headers(counters: readonly Counter[]): Record<string, string> {
    const seconds = windowMilliseconds / 1_000
    return {
      'ratelimit-policy': counters.map(({ name, quota }) => `"${name}";q=${quota};w=${seconds}`).join(', '),
      ratelimit: counters
        .map(
          ({ name, quota, window }) => `"${name}";r=${Math.max(0, quota - window.used)};t=${this.#secondsLeft(window)}`,
        )
        .join(', '),
    }
  }

  #secondsLeft({ endsAt }: Window): number {
    return Math.max(1, Math.ceil((endsAt - this.#now()) / 1_000))
  }

  #tooMany({ name, quota, window }: Counter): Problem {
    const seconds = this.#secondsLeft(window)
    const whose = name === 'token' ? 'This token' : 'This tenant'
    return new Problem('too_many_requests', `${whose} may send ${quota} requests a minute; go on in ${seconds} s.`, {
      headers: { 'retry-after': String(seconds) },
    })
  }
}

const tooManyAtOnce = (atOnce: number): Problem =>
  new Problem('too_many_requests', `This token may have ${atOnce} requests under way at once.`, {
    headers: { 'retry-after': '1' },
  })
