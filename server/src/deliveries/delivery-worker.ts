import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Logger, runTaskList, type WorkerEvents, type WorkerPool } from 'graphile-worker'
import type pg from 'pg'
import { jobsSchema, long, openPool, short } from '../database/connection.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { attempt, retryDelay } from './attempt.ts'

import {
  type Claimed,
  claimDelivery,
  completeSpentJobs,
  type Failure,
  putBack,
  settleDelivered,
  settleFailed,
  wakeWhenDue,
  wakeWhereDue,
} from './queries.ts'
import { openSigningSecret, signedHeaders } from './secret.ts'

export type DeliveryWorkerOptions = {
  connectionString: string
  role: string | null
  /** The secret of the installation, under which signing secrets are encrypted. Asked for when there is something to sign. */
  secret: () => Promise<string>
  allowPrivate: boolean
  /** Told what went wrong inside; nothing that is told holds a secret or a record. */
  onError: (message: string) => void
}

/** Jobs are short unless a legacy system is slow, and then they only wait. */
const jobsAtOnce = 50
/** How many records of one tenant are handed over at a time. */
const lanesPerTenant = 4
const pollMilliseconds = 500
/** So many looks for jobs in a row may fail before we begin anew. */
const mostFailedLooks = 3
/** How often we look for what a process left that was killed. */
const sweepMilliseconds = 10_000
/** How long a stop waits for attempts under way before it breaks them off, and then for the rest. */
const graceMilliseconds = 3_000
const longestStopMilliseconds = 8_000

/** Its own connections, few: the callers of the API never wait for them. */
const connections = { reading: 1, searching: 1, writing: 4 }
const connectionsForJobs = 4

/** What hands over for one tenant in this process, and how often it was told that there is something. */
type Lanes = { running: number; wakes: number }

/**
 * Hands deliveries over. Any number of workers may run, in any number of processes: a job only says that a tenant has
 * something to hand over, and who claims a delivery is decided in the database.
 */
export class DeliveryWorker {
  readonly #options: DeliveryWorkerOptions
  readonly #database: Database
  readonly #lanes = new Map<string, Lanes>()
  readonly #stopping = new AbortController()
  readonly #breakingOff = new AbortController()
  readonly #ended: Promise<unknown>

  private constructor(options: DeliveryWorkerOptions) {
    const { connectionString, role } = options
    this.#options = options
    this.#database = openDatabase(connectionString, role, { connections, patience: long })
    // First the look at what was left, so that the database has answered before graphile-worker asks it for anything:
    // an error to its first question would stay with it.
    this.#ended = this.#sweep(completeSpentJobs).then(() => Promise.all([this.#keepSweeping(), this.#keepTakingJobs()]))
  }

  static start(options: DeliveryWorkerOptions): DeliveryWorker {
    return new DeliveryWorker(options)
  }

  /** Takes no more, waits a little for what is under way, and leaves the rest to whoever comes next. */
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

  /** A job only wakes: what there is to do is in the database. */
  async #work(tenantId: string): Promise<void> {
    const lanes = this.#lanes.get(tenantId) ?? { running: 0, wakes: 0 }
    this.#lanes.set(tenantId, lanes)
    lanes.wakes++
    await this.#deliverInTurn(tenantId, lanes)
    // The last to leave sees to the next time.
    if (lanes.running === 0 && !this.#stopping.signal.aborted) await wakeWhenDue(this.#database.forTenant(tenantId))
  }

  /** One delivery after another until nothing is due, with a helper beside as long as there are lanes and work. */
  async #deliverInTurn(tenantId: string, lanes: Lanes): Promise<void> {
    if (lanes.running >= lanesPerTenant) return
    lanes.running++
    let helper: Promise<void> | undefined
    try {
      for (;;) {
        const { wakes } = lanes
        const claimed = this.#stopping.signal.aborted ? null : await claimDelivery(this.#database.forTenant(tenantId))
        if (claimed) {
          helper ??= this.#deliverInTurn(tenantId, lanes).finally(() => {
            helper = undefined
          })
          await this.#deliver(tenantId, claimed)
        }
        // Whoever woke us while we looked may have added what we did not see.
        else if (lanes.wakes === wakes || this.#stopping.signal.aborted) break
      }
    } catch (error) {
      // What is claimed becomes free by itself, and is found.
      this.#report('a delivery to a legacy system was interrupted', error)
    } finally {
      lanes.running--
      if (lanes.running === 0) this.#lanes.delete(tenantId)
    }
    await helper
  }

  async #deliver(tenantId: string, claimed: Claimed): Promise<void> {
    const tenant = this.#database.forTenant(tenantId)
    const failure = await this.#attempt(tenantId, claimed)
    if (!failure) await settleDelivered(tenant, claimed)
    else if (this.#breakingOff.signal.aborted) await putBack(tenant, claimed)
    else await settleFailed(tenant, claimed, failure, retryDelay(claimed.attempt))
  }

  async #attempt(tenantId: string, { id, body, url, sealedSecret }: Claimed): Promise<Failure | null> {
    const installation = await this.#options.secret().catch(() => null)
    if (installation === null) return { error: 'there is no MASTHEAD_SECRET, and none can be kept', silent: true }
    const secret = openSigningSecret(installation, tenantId, sealedSecret)
    if (!secret) return { error: 'MASTHEAD_SECRET is not the one with which the system was attached', silent: true }
    const headers = signedHeaders(secret, id, body, new Date())
    const { allowPrivate } = this.#options
    return attempt({ url, headers, body }, { allowPrivate, signal: this.#breakingOff.signal })
  }

  async #keepSweeping(): Promise<void> {
    while (await this.#pause(sweepMilliseconds * (0.75 + Math.random() / 2))) await this.#sweep()
  }

  /** Until it succeeds, or we stop. */
  async #sweep(also: (database: Database) => Promise<unknown> = async () => {}): Promise<void> {
    for (;;) {
      try {
        await wakeWhereDue(this.#database)
        await also(this.#database)
        return
      } catch (error) {
        this.#report('the deliveries to legacy systems could not be looked through', error)
      }
      if (!(await this.#pause(1_000))) return
    }
  }

  /** graphile-worker gives up when the database fails it; then we begin anew, once it answers. */
  async #keepTakingJobs(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#takeJobs().catch((error) => this.#report('taking jobs was interrupted', error))
      if (await this.#pause(1_000)) await this.#sweep()
    }
  }

  async #takeJobs(): Promise<void> {
    const { connectionString, role } = this.#options
    // graphile-worker itself would wait for ever for a server that is gone without a word.
    const more = { query_timeout: short.silenceMilliseconds }
    const connections = openPool(connectionString, role, connectionsForJobs, short, more)
    const failing = new AbortController()
    const leaving = new AbortController()
    const pool = this.#startPool(connections, failing, leaving)
    const shutDown = () => void Promise.resolve(pool.gracefulShutdown()).catch(() => {})
    const ending = AbortSignal.any([this.#stopping.signal, failing.signal])
    ending.addEventListener('abort', shutDown, { once: true })
    try {
      // It may never end, where it failed to write down what became of its jobs.
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
        // One question for all, and none is locked for long: a job is begun as soon as it is taken.
        localQueue: { size: jobsAtOnce },
        // Without these an error of the database is nobody's, and ends the process.
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        gracefulShutdownAbortTimeout: graceMilliseconds,
      },
    }
    // An error to its first question stays with it, and every further look for jobs fails.
    let failures = 0
    const events: WorkerEvents = new EventEmitter()
    events.on('localQueue:getJobs:complete', () => {
      failures = 0
    })
    events.on('pool:gracefulShutdown', () => leaving.abort())
    const logger = new Logger(() => (level, message) => {
      if (level !== 'error' || this.#stopping.signal.aborted) return
      this.#report('jobs', message)
      if (message.includes('fetching jobs') && ++failures === mostFailedLooks) failing.abort()
    })
    const tasks = { legacy: (payload: unknown) => this.#work(tenantOf(payload)) }
    return runTaskList({ preset, schema: jobsSchema, noHandleSignals: true, logger, events }, tasks, connections)
  }

  /** False when we stop meanwhile. */
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

const someTimeAfter = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort')
  await delay(longestStopMilliseconds, null, { ref: false })
}

const tenantOf = (payload: unknown): string => {
  if (typeof payload === 'object' && payload && 'tenantId' in payload) return String(payload.tenantId)
  throw new Error('this job names no tenant')
}
