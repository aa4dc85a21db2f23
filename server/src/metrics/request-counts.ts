import type { FinishedRequest } from '../http/connections/watched-requests.ts'
import { counter, histogram, type Metric, type Value, valuesBy } from './metric.ts'

/** The counts of one operation: requests by method and status, their total duration, and how many fell into each bucket. */
type Counts = { requests: Map<string, Map<number, number>>; seconds: number; buckets: number[] }

/** Upper bounds of the buckets in seconds; the last bucket has none. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const usualMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const duration = 'masthead_http_request_duration_seconds'

/** Counts without prom-client because this runs for every request and must not allocate. */
export class RequestCounts {
  readonly #operations = new Map<string, Counts>()
  readonly #refusals = new Map<string, number>()
  #all = 0

  add({ operation, method, status, milliseconds, refusedBy }: FinishedRequest): void {
    this.#all++
    if (refusedBy) this.#refusals.set(refusedBy, (this.#refusals.get(refusedBy) ?? 0) + 1)
    let counts = this.#operations.get(operation)
    if (!counts) {
      counts = { requests: new Map(), seconds: 0, buckets: Array(bounds.length + 1).fill(0) }
      this.#operations.set(operation, counts)
    }
    const knownMethod = usualMethods.has(method) ? method : 'other'
    const statuses = counts.requests.get(knownMethod)
    if (statuses) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    else counts.requests.set(knownMethod, new Map([[status, 1]]))
    const seconds = milliseconds / 1_000
    counts.seconds += seconds
    let bucket = 0
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++
    counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1
  }

  metrics(): Metric[] {
    const operations = [...this.#operations]
    const requests = operations.flatMap(([operation, counts]) =>
      [...counts.requests].flatMap(([method, statuses]) => valuesBy('status', statuses, { operation, method })),
    )
    return [
      counter(
        'masthead_http_requests_total',
        'Completed requests. Status 499: the caller left before the response.',
        requests,
      ),
      histogram(
        duration,
        'From the arrival of a request to the end of its response.',
        operations.flatMap(([operation, counts]) => durationsOf(operation, counts)),
      ),
      counter(
        'masthead_http_refusals_total',
        'Requests that were refused with 429, by limit.',
        valuesBy('limit', this.#refusals),
      ),
      counter('masthead_worker_requests_total', 'Completed requests, by the thread that served them.', this.#all),
    ]
  }
}

/** Prometheus expects cumulative buckets. */
const durationsOf = (operation: string, { seconds, buckets }: Counts): Value[] => {
  let count = 0
  const cumulative = buckets.map((inBucket, place) => {
    count += inBucket
    return { labels: { operation, le: bounds[place] ?? '+Inf' }, value: count, metricName: `${duration}_bucket` }
  })
  return [
    ...cumulative,
    { labels: { operation }, value: seconds, metricName: `${duration}_sum` },
    { labels: { operation }, value: count, metricName: `${duration}_count` },
  ]
}
