import { isMainThread } from 'node:worker_threads'
import { DatabaseError } from 'pg'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Load } from '../database/database.ts'
import type { Observe } from '../database/observed-database.ts'
import { isUnavailable } from '../database/unavailable.ts'
import type { Answered, RequestWatcher } from '../http/connections/watched-requests.ts'
import type { CacheLoad } from '../http/responses/response-cache.ts'
import { droppedLines } from '../log/log.ts'
import { counter, gauge, type Metric } from './metric.ts'
import { RequestCounts } from './request-counts.ts'

/** What a thread has counted: plain data, which can be handed to another. */
export type Measured = {
  metrics: Metric[]
  /** Requests by tenant since somebody last asked. */
  tenantRequests: ReadonlyMap<string, number>
}

/** Beyond so many between two looks, tenants are not told apart. */
const mostTenants = 10_000

/** Counts what one thread does. No label is anything that a caller chose. */
export class ThreadMeasures implements RequestWatcher {
  readonly #load: () => Load
  readonly #remembered: () => CacheLoad
  readonly #requests = new RequestCounts()
  readonly #databaseErrors = new Map<string, number>()
  readonly #countedErrors = new WeakSet<Error>()
  #tenantRequests = new Map<string, number>()
  #underWay = 0
  /** Of Node itself; those of the main thread are told with the process. */
  readonly #ofNode: Registry | null

  constructor(load: () => Load, remembered: () => CacheLoad) {
    this.#load = load
    this.#remembered = remembered
    this.#ofNode = isMainThread ? null : new Registry()
    if (this.#ofNode) collectDefaultMetrics({ register: this.#ofNode })
  }

  arrived(): void {
    this.#underWay++
  }

  answered(answered: Answered): void {
    this.#underWay--
    this.#requests.add(answered)
    if (answered.principal) this.#countTenant(answered.principal.tenantId)
  }

  /** Counts what the database refuses or does not answer. */
  readonly observe: Observe = async (_text, work) => {
    try {
      return await work()
    } catch (error) {
      this.#countError(error)
      throw error
    }
  }

  async collect(): Promise<Measured> {
    const load = Object.entries(this.#load())
    const { isUsed, memory, database, responses, bytes, mostBytes } = this.#remembered()
    const tenantRequests = this.#tenantRequests
    this.#tenantRequests = new Map()
    return {
      tenantRequests,
      metrics: [
        ...this.#requests.metrics(),
        gauge('masthead_http_requests_under_way', 'Requests that have come and are not over.', this.#underWay),
        gauge(
          'masthead_database_connections',
          'Connections to the database: those that are open, and the most that may be.',
          load.flatMap(([pool, { open, most }]) => [
            { labels: { pool, state: 'open' }, value: open },
            { labels: { pool, state: 'most' }, value: most },
          ]),
        ),
        gauge(
          'masthead_database_calls',
          'What is under way on these connections, and what waits for one.',
          load.flatMap(([pool, { running, waiting }]) => [
            { labels: { pool, state: 'running' }, value: running },
            { labels: { pool, state: 'waiting' }, value: waiting },
          ]),
        ),
        counter('masthead_answers_total', 'Answers to reads, by where they came from.', [
          { labels: { from: 'memory' }, value: memory },
          { labels: { from: 'database' }, value: database },
        ]),
        gauge('masthead_remembering', 'Threads that may answer from memory just now.', isUsed ? 1 : 0),
        gauge('masthead_remembered_answers', 'Answers in memory.', responses),
        gauge('masthead_remembered_bytes', 'What they weigh, and the most that they may.', [
          { labels: { state: 'used' }, value: bytes },
          { labels: { state: 'most' }, value: mostBytes },
        ]),
        counter(
          'masthead_database_errors_total',
          'Statements and transactions that failed, by SQLSTATE or the error of the system.',
          [...this.#databaseErrors].map(([code, value]) => ({ labels: { code }, value })),
        ),
        ...(isMainThread ? [] : [countDroppedLines()]),
        ...(await metricsOf(this.#ofNode)),
      ],
    }
  }

  /** The error of a statement is also that of its transaction. A transaction fails by refusals of the handler, too. */
  #countError(error: unknown): void {
    if (!(error instanceof DatabaseError || isUnavailable(error)) || this.#countedErrors.has(error)) return
    this.#countedErrors.add(error)
    const given = 'code' in error ? String(error.code) : ''
    const code = /^([0-9A-Z]{5}|E[A-Z]{3,20})$/.test(given) ? given : 'other'
    this.#databaseErrors.set(code, (this.#databaseErrors.get(code) ?? 0) + 1)
  }

  #countTenant(tenantId: string): void {
    const key = this.#tenantRequests.size < mostTenants || this.#tenantRequests.has(tenantId) ? tenantId : ''
    this.#tenantRequests.set(key, (this.#tenantRequests.get(key) ?? 0) + 1)
  }
}

/** Of this thread; those of the main thread are told with the process. */
export const countDroppedLines = (): Metric =>
  counter(
    'masthead_log_lines_dropped_total',
    'Lines of the log that were dropped because nobody read them.',
    droppedLines(),
  )

/** The types of prom-client say numbers for what are words. */
export const metricsOf = async (registry: Registry | null): Promise<Metric[]> =>
  ((await registry?.getMetricsAsJSON()) ?? []) as unknown as Metric[]
