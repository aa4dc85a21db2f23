import type { Answered } from '../http/connections/watched-requests.ts'
import { counter, histogram, type Metric, type Value } from './metric.ts'

/** Of one operation: requests by method and status, how long they took in all, and how many fell into each bucket. */
type Counts = { requests: Map<string, Map<number, number>>; seconds: number; buckets: number[] }

/** Upper bounds, in seconds; the last bucket has none. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const usualMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Counted here rather than by a library, because it is done for every request: it makes nothing that must be cleared away. */
export class RequestCounts {
  readonly #operations = new Map<string, Counts>()
  readonly #refusals = new Map<string, number>()
  #all = 0

  add({ operation, method, status, milliseconds, refusedBy }: Answered): void {
    this.#all++
    if (refusedBy) this.#refusals.set(refusedBy, (this.#refusals.get(refusedBy) ?? 0) + 1)
    const counts = this.#operations.get(operation) ?? this.#begin(operation)
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
    return [
      counter(
        'masthead_http_requests_total',
        'Requests that are over. Status 499: the caller left before the answer.',
        operations.flatMap(([operation, { requests }]) =>
          [...requests].flatMap(([method, statuses]) =>
            [...statuses].map(([status, value]) => ({ labels: { operation, method, status }, value })),
          ),
        ),
      ),
      histogram(
        durations,
        'From the arrival of a request to the end of its answer.',
        operations.flatMap(([operation, counts]) => durationsOf(operation, counts)),
      ),
      counter(
        'masthead_http_refusals_total',
        'Requests that were refused with 429, by the limit that they met.',
        [...this.#refusals].map(([limit, value]) => ({ labels: { limit }, value })),
      ),
      counter('masthead_worker_requests_total', 'Requests that are over, by the thread that served them.', this.#all),
    ]
  }

  #begin(operation: string): Counts {
    const counts = { requests: new Map(), seconds: 0, buckets: Array(bounds.length + 1).fill(0) }
    this.#operations.set(operation, counts)
    return counts
  }
}

const durations = 'masthead_http_request_duration_seconds'

/** As Prometheus has them: each bucket holds those below it, too. */
const durationsOf = (operation: string, { seconds, buckets }: Counts): Value[] => {
  let count = 0
  const below = buckets.map((inBucket, place) => {
    count += inBucket
    return { labels: { operation, le: bounds[place] ?? '+Inf' }, value: count, metricName: `${durations}_bucket` }
  })
  return [
    ...below,
    { labels: { operation }, value: seconds, metricName: `${durations}_sum` },
    { labels: { operation }, value: count, metricName: `${durations}_count` },
  ]
}
