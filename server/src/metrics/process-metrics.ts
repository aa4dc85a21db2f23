import { setTimeout as delay } from 'node:timers/promises'
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'
import { countWaiting } from '../audit/queries.ts'
import type { Database } from '../database/database.ts'
import { version } from '../version.ts'
import { countAllDeliveries } from '../webhooks/deliveries/queries.ts'
import { BusiestTenants } from './busiest-tenants.ts'
import { counter, gauge, type Metric, type Value, valuesBy } from './metric.ts'
import { tenantLabels } from './tenant-label.ts'
import { countDroppedLines, metricsOf, type Snapshot } from './thread-metrics.ts'

/** A thread that serves. Its snapshot is null when it did not respond in time; a thread id is never used again. */
type ThreadReport = { thread: number; worker: string; snapshot: Snapshot | null }
export type ThreadReports = {
  reports: ThreadReport[]
  /** Threads that ended without being stopped. */
  failures: number
}

const queueCountIntervalMilliseconds = 10_000
const databaseTimeoutMilliseconds = 1_000

const soon = <T>(work: Promise<T> | null): Promise<T | null> =>
  Promise.race([work, delay(databaseTimeoutMilliseconds, null, { ref: false })])

/** The metrics of this process: those of its threads, summed, and its own. What cannot be collected is left out. */
export class ProcessMetrics {
  readonly #database: Database
  readonly #collectThreads: () => Promise<ThreadReports>
  /** The last snapshot of each thread, because one that does not respond still counts. */
  readonly #last = new Map<number, { worker: string; metrics: Metric[] }>()
  /** The counters of threads that ended, because a sum must not decrease. */
  #ended: Metric[] = []
  readonly #tenants = new BusiestTenants()
  #collecting: Promise<string> | null = null
  #counting: Promise<void> | null = null
  #countedAt = Number.NEGATIVE_INFINITY
  #queues = (): Metric[] => []
  readonly #runtime = new Registry()

  constructor(database: Database, collectThreads: () => Promise<ThreadReports>) {
    this.#database = database
    this.#collectThreads = collectThreads
    collectDefaultMetrics({ register: this.#runtime })
  }

  /** The text format of Prometheus; concurrent calls share one collection. */
  text(): Promise<string> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = null
    })
    return this.#collecting
  }

  async #collect(): Promise<string> {
    const [{ reports, failures }] = await Promise.all([this.#collectThreads(), this.#countQueues()])
    await this.#add(reports)
    const build = { version, node: process.version }
    const own = [
      gauge('masthead_build_info', 'Always 1; the labels say what runs.', [{ labels: build, value: 1 }]),
      gauge('masthead_workers', 'Threads that serve.', reports.filter(({ snapshot }) => snapshot).length),
      counter('masthead_worker_failures_total', 'Threads that failed and were replaced.', failures),
      counter(
        'masthead_tenant_requests_total',
        'Requests of the busiest tenants, by `measuredAs` of `masthead tenant list`, and of all others.',
        await this.#tenantRequests(),
      ),
      countDroppedLines(),
      ...this.#queues(),
      ...(await metricsOf(this.#runtime)).map(firstOnly),
    ]
    const all = [labelled('main', own), this.#ended]
    for (const { worker, metrics } of this.#last.values()) all.push(labelled(worker, metrics).filter(isNotOfProcess))
    return AggregatorRegistry.aggregate(all).metrics()
  }

  async #add(reports: readonly ThreadReport[]): Promise<void> {
    const alive = new Set(reports.map(({ thread }) => thread))
    const ended = [...this.#last].filter(([thread]) => !alive.has(thread))
    for (const [thread] of ended) this.#last.delete(thread)
    const counts = ended.map(([, { metrics }]) => metrics.filter(isProcessCounter))
    this.#ended = await metricsOf(AggregatorRegistry.aggregate([this.#ended, ...counts]))
    const tenantRequests = new Map<string, number>()
    for (const { thread, worker, snapshot } of reports) {
      if (!snapshot) continue
      this.#last.set(thread, { worker, metrics: snapshot.metrics })
      for (const [id, requests] of snapshot.tenantRequests)
        tenantRequests.set(id, (tenantRequests.get(id) ?? 0) + requests)
    }
    this.#tenants.add(tenantRequests)
  }

  async #tenantRequests(): Promise<Value[]> {
    const key = await soon(this.#database.cursorKey().catch(() => null))
    if (!key) return []
    const label = tenantLabels(key)
    const { shown, others } = this.#tenants
    const requests = Object.fromEntries([...shown].map(([id, { requests }]) => [label(id), requests]))
    return valuesBy('tenant', { ...requests, other: others })
  }

  /** Queues that a slow database has not counted yet are reported the next time. */
  async #countQueues(): Promise<void> {
    if (performance.now() - this.#countedAt > queueCountIntervalMilliseconds) {
      this.#queues = () => []
      this.#counting ??= this.#readQueues()
        // An unavailable database shows in other metrics.
        .catch(() => {})
        .finally(() => {
          this.#counting = null
        })
    }
    await soon(this.#counting)
  }

  async #readQueues(): Promise<void> {
    const [queues, audited] = await Promise.all([countAllDeliveries(this.#database), countWaiting(this.#database.read)])
    this.#countedAt = performance.now()
    this.#queues = () => [
      gauge(
        'masthead_audit_entries_waiting',
        'Entries of the audit log that are not in their chains yet; the same on every node.',
        audited,
      ),
      gauge(
        'masthead_webhook_deliveries',
        'Deliveries to webhooks and legacy systems that wait or have failed; the same on every node.',
        queues.flatMap(({ kind, waiting, failed }) => [
          { labels: { kind, state: 'waiting' }, value: waiting },
          { labels: { kind, state: 'failed' }, value: failed },
        ]),
      ),
      gauge(
        'masthead_webhook_oldest_delivery_seconds',
        'How long the oldest delivery has waited; the same on every node.',
        queues.map(({ kind, oldestWaiting }) => ({
          labels: { kind },
          value: oldestWaiting ? (Date.now() - oldestWaiting.getTime()) / 1_000 : 0,
        })),
      ),
      gauge(
        'masthead_webhook_endpoints_disabled',
        'Endpoints that are disabled; the same on every node.',
        queues.map(({ kind, disabled }) => ({ labels: { kind }, value: disabled })),
      ),
    ]
  }
}

const isOfWorker = ({ name }: Metric): boolean => /^(nodejs|masthead_worker_requests)_/.test(name)

const isProcessCounter = (metric: Metric): boolean =>
  metric.name.startsWith('masthead_') && !isOfWorker(metric) && metric.type !== 'gauge'

/** Metrics of one thread carry its name; the others are summed. */
const labelled = (worker: string, metrics: readonly Metric[]): Metric[] =>
  metrics.map((metric) =>
    isOfWorker(metric)
      ? { ...metric, values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker } })) }
      : metric,
  )

/** Values that make no sense as a sum, such as the start time of the process, come from this thread alone. */
const firstOnly = (metric: Metric): Metric =>
  metric.aggregator === 'omit' ? { ...metric, aggregator: 'first' } : metric

/** Every thread reports the same values for the process. */
const isNotOfProcess = ({ name }: Metric): boolean => !name.startsWith('process_')
