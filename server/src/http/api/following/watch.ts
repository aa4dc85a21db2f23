import type { Versions } from '../../../database/versions.ts'
import { findHolder, scope } from '../caller-steps.ts'
import { cachedHolder } from '../callers/authenticate.ts'
import { type Exchange, found } from '../exchange.ts'
import type { Follower } from './followers.ts'

/** Why a call need not wait any longer: news may be there, its time is over, the caller has left, or this server is being stopped. */
type Outcome = 'moved' | 'over' | 'left' | 'stopping'

/** Watches the versions of a call's tenant, and whether its token still opens it. */
export class Watch implements Follower {
  readonly tenantId: string
  readonly #exchange: Exchange
  readonly #onLook: () => void
  #seen: string
  #deadline: number
  #waiting: PromiseWithResolvers<Outcome> | null = null
  /** Of everybody's permissions, when the token was last looked up for this call. */
  #checked = ''
  #isChecking = false
  #isStopping = false
  #refusal: unknown = null

  /** `seen` is the version of the tenant's records from before they were read; `onLook` is called every 250 ms of waiting. */
  constructor(
    exchange: Exchange,
    { seen, deadline, onLook = () => {} }: { seen: string; deadline: number; onLook?: () => void },
  ) {
    this.tenantId = found(exchange.principal).tenantId
    this.#exchange = exchange
    this.#seen = seen
    this.#deadline = deadline
    this.#onLook = onLook
    exchange.response.once('close', () => this.#end('left'))
    exchange.api.followers.add(this)
  }

  /** Fails with what the caller is refused with where the token has ended. */
  async next(): Promise<Outcome> {
    const now = this.now()
    if (now !== 'moved') return now
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  /** The same for a call that has more to read and does not wait. */
  now(): Outcome {
    if (this.#refusal !== null) throw this.#refusal
    if (this.#isStopping) return 'stopping'
    return this.#exchange.response.closed ? 'left' : 'moved'
  }

  look(versions: Versions | null): void {
    if (this.#waiting && performance.now() >= this.#deadline) this.#end('over')
    else if (versions && this.#isDoubtful(versions)) void this.#check(versions)
    else this.#judge(versions)
  }

  #judge(versions: Versions | null): void {
    if (!this.#waiting) return
    if (versions && versions.records !== this.#seen) {
      this.#seen = versions.records
      this.#end('moved')
    } else this.#onLook()
  }

  stop(): void {
    this.#isStopping = true
    this.#end('stopping')
  }

  close(): void {
    this.#exchange.api.followers.remove(this)
  }

  /** What was cached of the token counts only as long as nobody's permissions have changed since it was looked up. */
  #isDoubtful({ identity }: Versions): boolean {
    const holder = cachedHolder(this.#exchange.api.principals, this.#exchange.request)
    return !holder || (holder.identity !== identity && this.#checked !== identity)
  }

  async #check(versions: Versions): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    try {
      await findHolder(this.#exchange)
      scope(this.#exchange)
      this.#checked = versions.identity
      this.#judge(versions)
    } catch (error) {
      // Whose token is refused learns nothing of its rate.
      this.#exchange.charge = null
      this.#refusal = error
      this.#waiting?.reject(error)
      this.#waiting = null
    } finally {
      this.#isChecking = false
    }
  }

  #end(outcome: Outcome): void {
    this.#waiting?.resolve(outcome)
    this.#waiting = null
  }
}
