import { isMainThread } from 'node:worker_threads'
import { DatabaseError } from 'pg'
import { Counter, collectDefaultMetrics, Registry } from 'prom-client'
import { isUnavailable } from '../database/connections/unavailable.ts'
import type { Database } from '../database/database.ts'
import type { Observe } from '../database/observed-database.ts'
import type { FinishedRequest, RequestWatcher } from '../http/connections/watched-requests.ts'
import type { CacheLoad } from '../http/responses/response-cache.ts'
import { droppedLines } from '../log/log.ts'
import { counter, gauge, type Metric, valuesBy } from './metric.ts'
import { requestCounter } from './request-counts.ts'

/** The metrics of a thread, as plain data that can be sent to another, with its requests by tenant since the last snapshot. */
export type Snapshot = { metrics: Metric[]; tenantRequests: ReadonlyMap<string, number> }

/** Further tenants between two snapshots are counted together. */
const mostTenants = 10_000

/** Counts what one thread does. No caller can choose the value of a label. */
export class ThreadMetrics implements RequestWatcher {
  readonly #database: Pick<Database, 'load' | 'replicas'>
  readonly #cacheLoad: () => CacheLoad
  readonly #registry = new Registry()
  readonly #countRequest = requestCounter(this.#registry)
  readonly #databaseErrors = new Counter({
    name: 'masthead_database_errors_total',
    help: 'Statements and transactions that failed, by SQLSTATE or system error.',
    labelNames: ['code'],
    registers: [this.#registry],
  })
  readonly #countedErrors = new WeakSet<Error>()
  #tenantRequests = new Map<string, number>()
  #inFlight = 0

  constructor(database: Pick<Database, 'load' | 'replicas'>, cacheLoad: () => CacheLoad) {
    this.#database = database
    this.#cacheLoad = cacheLoad
    // Those of the main thread are reported with the process.
    if (!isMainThread) collectDefaultMetrics({ register: this.#registry })
  }

  arrived(): void {
    this.#inFlight++
  }

  finished(finished: FinishedRequest): void {
    this.#inFlight--
    this.#countRequest(finished)
    if (finished.principal) this.#countTenant(finished.principal.tenantId)
  }

  /** Counts errors of the database. */
  readonly observe: Observe = async (_text, work) => {
    try {
      return await work()
    } catch (error) {
      this.#countError(error)
      throw error
    }
  }

  async collect(): Promise<Snapshot> {
    const pools = Object.entries(this.#database.load())
    const { memory, database, responses, bytes, mostBytes } = this.#cacheLoad()
    const tenantRequests = this.#tenantRequests
    this.#tenantRequests = new Map()
    const metrics = [
      gauge('masthead_http_requests_in_flight', 'Requests in flight.', this.#inFlight),
      gauge(
        'masthead_database_connections',
        'Connections to the database: open ones, and the most that may be open.',
        pools.flatMap(([pool, { open, most }]) => valuesBy('state', { open, most }, { pool })),
      ),
      gauge(
        'masthead_database_calls',
        'Statements and transactions in flight on these connections, and those that wait for one.',
        pools.flatMap(([pool, { running, waiting }]) => valuesBy('state', { running, waiting }, { pool })),
      ),
      counter('masthead_answers_total', 'Responses to reads, by source.', valuesBy('from', { memory, database })),
      gauge('masthead_cached_responses', 'Cached responses.', responses),
      gauge(
        'masthead_cached_bytes',
        'Size of the cached responses, and its limit.',
        valuesBy('state', { used: bytes, most: mostBytes }),
      ),
      counter(
        'masthead_replica_reads_total',
        'Reads that a replica answered, lacked a write for, or failed to answer.',
        this.#database.replicas().flatMap(({ name, reads }) => valuesBy('outcome', reads, { replica: name })),
      ),
      ...(isMainThread ? [] : [countDroppedLines()]),
      ...(await metricsOf(this.#registry)),
    ]
    return { tenantRequests, metrics }
  }

  /** The error of a statement is also that of its transaction, and a handler that refuses fails its transaction too. */
  #countError(error: unknown): void {
    if (!(error instanceof DatabaseError || isUnavailable(error)) || this.#countedErrors.has(error)) return
    this.#countedErrors.add(error)
    const given = 'code' in error ? String(error.code) : ''
    this.#databaseErrors.inc({ code: /^([0-9A-Z]{5}|E[A-Z]{3,20})$/.test(given) ? given : 'other' })
  }

  #countTenant(tenantId: string): void {
    const key = this.#tenantRequests.size < mostTenants || this.#tenantRequests.has(tenantId) ? tenantId : ''
    this.#tenantRequests.set(key, (this.#tenantRequests.get(key) ?? 0) + 1)
  }
}

export const countDroppedLines = (): Metric =>
  counter('masthead_log_lines_dropped_total', 'Log lines that were dropped because nobody read them.', droppedLines())

/** The cast is needed because the types of prom-client declare numbers where it returns strings. */
export const metricsOf = async (registry: Registry): Promise<Metric[]> =>
  (await registry.getMetricsAsJSON()) as unknown as Metric[]
