import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseAddress } from '../database/connections/address.ts'
import { long } from '../database/connections/session.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { type Attempt, attempt, notAttempted } from './attempt.ts'
import {
  type Claimed,
  claimDelivery,
  findDueEndpoints,
  putBack,
  settleDelivered,
  settleFailed,
  takeWakes,
  wakeWhenDue,
  wakeWhereDue,
} from './deliveries/queries.ts'
import { pausesAfter } from './schedule.ts'
import { openSigningSecret, signedHeaders } from './secret.ts'

type DeliveryWorkerOptions = {
  connection: DatabaseAddress
  /** Signing secrets are encrypted under the secret of the installation, which is read when there is something to sign. */
  secret: () => Promise<string>
  allowPrivate: boolean
  /** The message never holds a secret or a record. */
  onError: (message: string) => void
}

/** Limits the deliveries to one endpoint in flight. Each has lanes of its own, so a slow one delays nobody else. */
const lanesPerEndpoint = 4
const pollMilliseconds = 250
/** A sweep finds deliveries that a killed process left. */
const sweepMilliseconds = 10_000
/** A stop aborts attempts in flight after the first time, and waits for nothing after the second. */
const graceMilliseconds = 3_000
const longestStopMilliseconds = 8_000

/** The worker has connections of its own, so that callers of the API never wait for it. */
const connections = { reading: 1, searching: 1, writing: 4 }

/** Counts the concurrent loops of one endpoint in this process, and the wake-ups that came meanwhile. */
type Lanes = { running: number; wakes: number }

/**
 * Any number of workers may run, in any number of processes: a wake-up only says that a tenant has deliveries, and the
 * database decides who claims one.
 */
export class DeliveryWorker {
  readonly #options: DeliveryWorkerOptions
  readonly #database: Database
  readonly #lanes = new Map<string, Lanes>()
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #breakingOff = new AbortController()
  readonly #ended: Promise<unknown>

  constructor(options: DeliveryWorkerOptions) {
    this.#options = options
    this.#database = openDatabase(options.connection, { connections, timeouts: long })
    this.#ended = this.#sweep()
      .then(() => Promise.all([this.#keepSweeping(), this.#keepLooking()]))
      .then(() => Promise.all(this.#running))
  }

  /** Takes no more, waits a little for deliveries in flight, and leaves the rest to other workers. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    const breakOff = setTimeout(() => this.#breakingOff.abort(), graceMilliseconds)
    const inTime = new AbortController()
    const tooLong = delay(longestStopMilliseconds, null, { signal: inTime.signal }).catch(() => {})
    await Promise.race([this.#ended, tooLong])
    clearTimeout(breakOff)
    await Promise.race([this.#database.close(), tooLong])
    inTime.abort()
  }

  /** Returns once the lanes run: a process that ends before they do leaves the rest to a sweep. */
  async #work(tenantId: string): Promise<void> {
    for (const endpointId of await findDueEndpoints(this.#database.forTenant(tenantId))) {
      if (this.#stopping.signal.aborted) return
      const lanes = this.#lanes.get(endpointId) ?? { running: 0, wakes: 0 }
      this.#lanes.set(endpointId, lanes)
      lanes.wakes++
      const running = this.#workFor(tenantId, endpointId, lanes).finally(() => this.#running.delete(running))
      this.#running.add(running)
    }
  }

  async #workFor(tenantId: string, endpointId: string, lanes: Lanes): Promise<void> {
    await this.#deliverInTurn(tenantId, endpointId, lanes)
    if (lanes.running > 0 || this.#stopping.signal.aborted) return
    // Where it fails, a sweep finds the delivery.
    await wakeWhenDue(this.#database.forTenant(tenantId), endpointId).catch((error) =>
      this.#report('the next delivery was not noted', error),
    )
  }

  /** Delivers until nothing is due, and starts a further loop while there are lanes and deliveries. */
  async #deliverInTurn(tenantId: string, endpointId: string, lanes: Lanes): Promise<void> {
    if (lanes.running >= lanesPerEndpoint) return
    lanes.running++
    let helper: Promise<void> | undefined
    try {
      for (;;) {
        const { wakes } = lanes
        const claimed = await this.#claim(tenantId, endpointId)
        if (claimed) {
          helper ??= this.#deliverInTurn(tenantId, endpointId, lanes).finally(() => {
            helper = undefined
          })
          await this.#deliver(tenantId, claimed)
        }
        // A wake-up that came meanwhile may stand for a delivery that this claim did not see.
        else if (lanes.wakes === wakes || this.#stopping.signal.aborted) break
      }
    } catch (error) {
      // The claim expires by itself, and a sweep finds the delivery.
      this.#report('a delivery was interrupted', error)
    } finally {
      lanes.running--
      if (lanes.running === 0) this.#lanes.delete(endpointId)
    }
    await helper
  }

  async #claim(tenantId: string, endpointId: string): Promise<Claimed | null> {
    if (this.#stopping.signal.aborted) return null
    return claimDelivery(this.#database.forTenant(tenantId), endpointId)
  }

  async #deliver(tenantId: string, claimed: Claimed): Promise<void> {
    const tenant = this.#database.forTenant(tenantId)
    const { kind, tries, endpointId } = claimed
    const made = await this.#attempt(tenantId, claimed)
    if (made.error === null) return settleDelivered(tenant, claimed, made)
    if (this.#breakingOff.signal.aborted) return putBack(tenant, claimed)
    const because = await settleFailed(tenant, claimed, made, pausesAfter(kind, tries, made))
    if (because) this.#report(`the webhook endpoint ${endpointId} is disabled`, reasons[because])
  }

  async #attempt(tenantId: string, claimed: Claimed): Promise<Attempt> {
    const { id, body, url, sealedSecret, formerSealedSecret } = claimed
    const installation = await this.#options.secret().catch(() => null)
    if (installation === null) return notAttempted('there is no MASTHEAD_SECRET, and none can be kept')
    const secret = openSigningSecret(installation, tenantId, sealedSecret)
    if (!secret)
      return notAttempted('MASTHEAD_SECRET is not the one with which the secret of the endpoint was encrypted')
    const former = formerSealedSecret && openSigningSecret(installation, tenantId, formerSealedSecret)
    const headers = signedHeaders(former ? [secret, former] : [secret], id, body, new Date())
    const { allowPrivate } = this.#options
    return attempt({ url, headers, body }, { allowPrivate, signal: this.#breakingOff.signal })
  }

  async #keepSweeping(): Promise<void> {
    while (await this.#pause(sweepMilliseconds * (0.75 + Math.random() / 2))) await this.#sweep()
  }

  /** Retries until it succeeds or the worker stops. */
  async #sweep(): Promise<void> {
    for (;;) {
      try {
        await wakeWhereDue(this.#database)
        return
      } catch (error) {
        this.#report('the deliveries could not be looked through', error)
      }
      if (!(await this.#pause(1_000))) return
    }
  }

  /** Reports the first of several failures in a row. */
  async #keepLooking(): Promise<void> {
    for (let isFailing = false; await this.#pause(pollMilliseconds); ) {
      try {
        const tenants = await takeWakes(this.#database)
        await Promise.all(tenants.map((tenantId) => this.#work(tenantId)))
        isFailing = false
      } catch (error) {
        if (!isFailing) this.#report('the deliveries that are due could not be found', error)
        isFailing = true
      }
    }
  }

  /** Returns false when the worker stops meanwhile. */
  async #pause(milliseconds: number): Promise<boolean> {
    const { signal } = this.#stopping
    await delay(milliseconds, null, { signal }).catch(() => {})
    return !signal.aborted
  }

  #report(what: string, error: unknown): void {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    this.#options.onError(`${what}: ${reason}`)
  }
}

const reasons = { gone: 'it answered 410', failing: 'it took nothing for five days' }
