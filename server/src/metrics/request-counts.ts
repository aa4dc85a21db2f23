import { Counter, Histogram, type Registry } from 'prom-client'
import type { FinishedRequest } from '../http/connections/watched-requests.ts'

const usualMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export const requestCounter = (registry: Registry): ((finished: FinishedRequest) => void) => {
  const registers = [registry]
  const requests = new Counter({
    name: 'masthead_http_requests_total',
    help: 'Completed requests. Status 499: the caller left before the response.',
    labelNames: ['operation', 'method', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'masthead_http_request_duration_seconds',
    help: 'From the arrival of a request to the end of its response.',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  const refusals = new Counter({
    name: 'masthead_http_refusals_total',
    help: 'Requests that were refused with 429, by limit.',
    labelNames: ['limit'],
    registers,
  })
  const all = new Counter({
    name: 'masthead_worker_requests_total',
    help: 'Completed requests, by the thread that served them.',
    registers,
  })
  return ({ operation, method, status, milliseconds, refusedBy }) => {
    requests.inc({ operation, method: usualMethods.has(method) ? method : 'other', status })
    durations.observe({ operation }, milliseconds / 1_000)
    if (refusedBy) refusals.inc({ limit: refusedBy })
    all.inc()
  }
}
