import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Logger, runTaskList, type WorkerEvents, type WorkerPool } from 'graphile-worker'
import type pg from 'pg'
import {
  type DatabaseAddress,
  jobsSchema,
  long,
  openPool,
  short,
  withoutPooler,
} from '../database/connections/connection.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { type Attempt, attempt, notAttempted } from './attempt.ts'
import {
  type Claimed,
  claimDelivery,
  completeSpentJobs,
  findDueEndpoints,
  putBack,
  settleDelivered,
  settleFailed,
  wakeWhenDue,
  wakeWhereDue,
} from './deliveries/queries.ts'
import { pausesAfter } from './schedule.ts'
import { openSigningSecret, signedHeaders } from './secret.ts'

export type DeliveryWorkerOptions = {
  connection: DatabaseAddress
  /** Signing secrets are encrypted under the secret of the installation, which is read when there is something to sign. */
  secret: () => Promise<string>
  allowPrivate: boolean
  /** The message never holds a secret or a record. */
  onError: (message: string) => void
}

/** Jobs are short: they only say which endpoints to look at. */
const jobsAtOnce = 50
/** Limits the deliveries to one endpoint in flight. Each has lanes of its own, so a slow one delays nobody else. */
const lanesPerEndpoint = 4
const pollMilliseconds = 250
/** The job queue restarts after so many failed polls in a row. */
const mostFailedPolls = 3
/** A sweep finds deliveries that a killed process left. */
const sweepMilliseconds = 10_000
/** A stop aborts attempts in flight after the first time, and waits for nothing after the second. */
const graceMilliseconds = 3_000
const longestStopMilliseconds = 8_000

/** The worker has connections of its own, so that callers of the API never wait for it. */
const connections = { reading: 1, searching: 1, writing: 4 }
const connectionsForJobs = 4

/** Counts the concurrent loops of one endpoint in this process, and the jobs that woke them. */
type Lanes = { running: number; wakes: number }

/**
 * Any number of workers may run, in any number of processes: a job only says that a tenant has deliveries, and the
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
    // graphile-worker never recovers from an error of its first query, so a sweep shows first that the database responds.
    this.#ended = this.#sweep(completeSpentJobs)
      .then(() => Promise.all([this.#keepSweeping(), this.#keepTakingJobs()]))
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
        // A job that arrived meanwhile may stand for a delivery that this claim did not see.
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
  async #sweep(also: (database: Database) => Promise<unknown> = async () => {}): Promise<void> {
    for (;;) {
      try {
        await wakeWhereDue(this.#database)
        await also(this.#database)
        return
      } catch (error) {
        this.#report('the deliveries could not be looked through', error)
      }
      if (!(await this.#pause(1_000))) return
    }
  }

  /** graphile-worker gives up when the database fails, so it is started again once the database responds. */
  async #keepTakingJobs(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#takeJobs().catch((error) => this.#report('taking jobs was interrupted', error))
      if (await this.#pause(1_000)) await this.#sweep()
    }
  }

  async #takeJobs(): Promise<void> {
    // graphile-worker itself sets no timeout. It listens, so it needs a session of its own.
    const more = { query_timeout: short.responseMilliseconds }
    const connections = openPool(withoutPooler(this.#options.connection), connectionsForJobs, short, more)
    const failing = new AbortController()
    const leaving = new AbortController()
    const pool = this.#startPool(connections, failing, leaving)
    const shutDown = () => void Promise.resolve(pool.gracefulShutdown()).catch(() => {})
    const ending = AbortSignal.any([this.#stopping.signal, failing.signal])
    ending.addEventListener('abort', shutDown, { once: true })
    try {
      // The pool may never end where it failed to store the result of its jobs.
      await Promise.race([pool.promise, someTimeAfter(leaving.signal)])
    } finally {
      ending.removeEventListener('abort', shutDown)
      await Promise.race([connections.end(), someTimeAfter(AbortSignal.abort())])
    }
  }

  #startPool(connections: pg.Pool, failing: AbortController, leaving: AbortController): WorkerPool {
    const preset = {
      worker: {
        concurrentJobs: jobsAtOnce,
        pollInterval: pollMilliseconds,
        // One query takes jobs for all slots; none is locked for long, because a job begins as soon as it is taken.
        localQueue: { size: jobsAtOnce },
        // Without these, an error of the database is unhandled and ends the process.
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        gracefulShutdownAbortTimeout: graceMilliseconds,
      },
    }
    let failures = 0
    const events: WorkerEvents = new EventEmitter()
    events.on('localQueue:getJobs:complete', () => {
      failures = 0
    })
    events.on('pool:gracefulShutdown', () => leaving.abort())
    const logger = new Logger(() => (level, message) => {
      if (level !== 'error' || this.#stopping.signal.aborted) return
      this.#report('jobs', message)
      if (message.includes('fetching jobs') && ++failures === mostFailedPolls) failing.abort()
    })
    const tasks = { webhooks: (payload: unknown) => this.#work(tenantOf(payload)) }
    return runTaskList({ preset, schema: jobsSchema, noHandleSignals: true, logger, events }, tasks, connections)
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

const someTimeAfter = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort')
  await delay(longestStopMilliseconds, null, { ref: false })
}

const tenantOf = (payload: unknown): string => {
  if (typeof payload === 'object' && payload && 'tenantId' in payload) return String(payload.tenantId)
  throw new Error('this job names no tenant')
}
