import { setTimeout as delay } from 'node:timers/promises'
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'
import serverPackage from '../../package.json' with { type: 'json' }
import { countWaiting } from '../audit/queries.ts'
import type { Database } from '../database/database.ts'
import { countAllDeliveries } from '../deliveries/queries.ts'
import { BusiestTenants } from './busiest-tenants.ts'
import { counter, gauge, type Metric, type Value } from './metric.ts'
import { tenantLabels } from './tenant-label.ts'
import { countDroppedLines, type Measured, metricsOf } from './thread-measures.ts'

/** What a thread that serves answered; null when it did not in time. Each thread ever begun has a number of its own. */
export type ThreadAnswer = { thread: number; worker: string; measured: Measured | null }
export type ThreadAnswers = {
  answers: ThreadAnswer[] /** threads that ended though nobody stopped them */
  failures: number
}

/** How long the queues are not counted again. */
const queueMilliseconds = 10_000
/** How long somebody who asks for measures waits for the database. */
const timeoutMilliseconds = 1_000

const soon = <T>(work: Promise<T> | null): Promise<T | null> =>
  Promise.race([work, delay(timeoutMilliseconds, null, { ref: false })])

/** The measures of this process: those of its threads as one, and its own. Whatever cannot be told is left out. */
export class NodeMeasures {
  readonly #database: Database
  readonly #ask: () => Promise<ThreadAnswers>
  /** What each thread said last: one that does not answer still counts. */
  readonly #last = new Map<number, { worker: string; metrics: Metric[] }>()
  /** Counts of threads that are gone: a sum must not fall. */
  #gone: Metric[] = []
  readonly #tenants = new BusiestTenants()
  #telling: Promise<string> | null = null
  #counting: Promise<void> | null = null
  #countedAt = Number.NEGATIVE_INFINITY

  readonly #ofNode = new Registry()
  #queues: { deliveries: Awaited<ReturnType<typeof countAllDeliveries>>; audited: number } | null = null

  /** `ask` asks the threads that serve. */
  constructor(database: Database, ask: () => Promise<ThreadAnswers>) {
    this.#database = database
    this.#ask = ask
    collectDefaultMetrics({ register: this.#ofNode })
  }

  /** In the text format of Prometheus; who asks meanwhile gets the same. */
  text(): Promise<string> {
    this.#telling ??= this.#tell().finally(() => {
      this.#telling = null
    })
    return this.#telling
  }

  async #tell(): Promise<string> {
    const [{ answers, failures }] = await Promise.all([this.#ask(), this.#countQueues()])
    await this.#takeUp(answers)
    const own = [
      gauge('masthead_build_info', 'Always 1; the labels tell what runs.', [
        { labels: { version: serverPackage.version, node: process.version }, value: 1 },
      ]),
      gauge(
        'masthead_workers',
        'Threads that serve and told their measures.',
        answers.filter(({ measured }) => measured).length,
      ),
      counter('masthead_worker_failures_total', 'Threads that failed and were replaced.', failures),
      counter(
        'masthead_tenant_requests_total',
        'Requests of the busiest tenants, by the names that `masthead tenant list` tells, and of all others.',
        await this.#ofTenants(),
      ),
      countDroppedLines(),
      ...this.#ofQueues(),
      ...(await metricsOf(this.#ofNode)).map(kept),
    ]
    const all = [labelled('main', own), this.#gone]
    for (const { worker, metrics } of this.#last.values()) all.push(labelled(worker, metrics).filter(isNotOfProcess))
    return AggregatorRegistry.aggregate(all).metrics()
  }

  async #takeUp(answers: readonly ThreadAnswer[]): Promise<void> {
    const alive = new Set(answers.map(({ thread }) => thread))
    const gone = [...this.#last].filter(([thread]) => !alive.has(thread))
    for (const [thread] of gone) this.#last.delete(thread)
    const counts = gone.map(([, { metrics }]) => metrics.filter(isCount))
    this.#gone = await metricsOf(AggregatorRegistry.aggregate([this.#gone, ...counts]))
    const tenantRequests = new Map<string, number>()
    for (const { thread, worker, measured } of answers) {
      if (!measured) continue
      this.#last.set(thread, { worker, metrics: measured.metrics })
      for (const [id, requests] of measured.tenantRequests)
        tenantRequests.set(id, (tenantRequests.get(id) ?? 0) + requests)
    }
    this.#tenants.add(tenantRequests)
  }

  async #ofTenants(): Promise<Value[]> {
    const key = await soon(this.#database.cursorKey().catch(() => null))
    if (!key) return []
    const label = tenantLabels(key)
    const { tenants, others } = this.#tenants.requests()
    const shown = tenants.map(([id, value]) => ({ labels: { tenant: label(id) }, value }))
    return [...shown, { labels: { tenant: 'other' }, value: others }]
  }

  #ofQueues(): Metric[] {
    if (!this.#queues) return []
    const { waiting, failed, oldestWaiting } = this.#queues.deliveries
    return [
      gauge(
        'masthead_audit_entries_waiting',
        'Entries of the audit log that are not in their chains yet; every node tells the same.',
        this.#queues.audited,
      ),
      gauge(
        'masthead_legacy_deliveries',
        'Deliveries to legacy systems that wait or have failed; every node tells the same.',
        [
          { labels: { state: 'waiting' }, value: waiting },
          { labels: { state: 'failed' }, value: failed },
        ],
      ),
      gauge(
        'masthead_legacy_oldest_delivery_seconds',
        'How long the oldest delivery has waited; every node tells the same.',
        oldestWaiting ? (Date.now() - oldestWaiting.getTime()) / 1_000 : 0,
      ),
    ]
  }

  /** When the database is slow, they are told the next time. */
  async #countQueues(): Promise<void> {
    if (Date.now() - this.#countedAt > queueMilliseconds) {
      this.#counting ??= this.#askForQueues().finally(() => {
        this.#counting = null
      })
    }
    await soon(this.#counting)
  }

  async #askForQueues(): Promise<void> {
    this.#queues = null
    // A database that does not answer shows elsewhere.
    this.#queues = await Promise.all([countAllDeliveries(this.#database), countWaiting(this.#database.read)]).then(
      ([deliveries, audited]) => ({ deliveries, audited }),
      () => null,
    )
    if (this.#queues) this.#countedAt = Date.now()
  }
}

const isOfWorker = ({ name }: Metric): boolean => /^(nodejs|masthead_worker_requests)_/.test(name)

/** What only grows, and is of the process rather than of one thread. */
const isCount = (metric: Metric): boolean =>
  /^masthead_/.test(metric.name) && !isOfWorker(metric) && metric.type !== 'gauge'

/** What is of one thread carries its name; the rest is summed. */
const labelled = (worker: string, metrics: readonly Metric[]): Metric[] =>
  metrics.map((metric) =>
    isOfWorker(metric)
      ? { ...metric, values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker } })) }
      : metric,
  )

/** What makes no sense in a sum, such as when the process began, is told by this thread alone. */
const kept = (metric: Metric): Metric => (metric.aggregator === 'omit' ? { ...metric, aggregator: 'first' } : metric)

/** Of the process every thread would tell the same. */
const isNotOfProcess = ({ name }: Metric): boolean => !name.startsWith('process_')
