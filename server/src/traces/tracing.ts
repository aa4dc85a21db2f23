import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { schemeReader } from '../caller-address.ts'
import type { Observe } from '../database/observed-database.ts'
import { codeOf } from '../error-message.ts'
import { callerLeft, type Trace } from '../http/connections/watched-requests.ts'
import type { Log } from '../log/log.ts'
import { version } from '../version.ts'

/** The share of requests that are traced, and whether the caller's trace header decides for its own. */
export type Sampling = { share: number; asCaller: boolean }

const flushTimeoutMilliseconds = 1_500
const leastMillisecondsBetweenWarnings = 60_000
const longestSpanName = 100

/**
 * Sends a span for each request, and below it one for each statement, by OTLP. Spans follow the conventions of
 * OpenTelemetry and contain nothing that a caller wrote: no addresses, no values and no messages of errors.
 */
export const startTracing = (sampling: Sampling, trustedProxies: readonly string[], log: Log) => {
  diag.setLogger(warningsTo(log), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
  const schemeOf = schemeReader(trustedProxies)
  const ours = resourceFromAttributes({ 'service.name': 'masthead', 'service.version': version })
  const root = new TraceIdRatioBasedSampler(sampling.share)
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(ours)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: sampling.asCaller ? new ParentBasedSampler({ root }) : root,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('masthead')
  const current = new AsyncLocalStorage<Context>()

  /** Statements of the request become children of its span. */
  const traceRequest: Trace = (request, operation, serve) => {
    const parent = propagator.extract(ROOT_CONTEXT, request.headers, traceParentOnly)
    const span = tracer.startSpan(operation, { kind: SpanKind.SERVER }, parent)
    current.run(trace.setSpan(parent, span), serve)
    return ({ requestId, path, method, status, principal }) => {
      span.setAttributes({
        'http.request.method': method,
        ...(path !== null && { 'http.route': path }),
        'url.scheme': schemeOf(request),
        'masthead.request.id': requestId,
        ...(principal && { 'masthead.tenant.id': principal.tenantId, 'masthead.principal.kind': principal.kind }),
      })
      if (status === callerLeft) fail(span, 'caller_left')
      else span.setAttribute('http.response.status_code', status)
      if (status >= 500) fail(span, String(status))
      span.end()
    }
  }

  const observe: Observe = async (text, work) => {
    const parent = current.getStore()
    if (!parent) return work()
    const { name, attributes } = text === null ? transaction : describe(text)
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent)
    try {
      return await current.run(trace.setSpan(parent, span), work)
    } catch (error) {
      fail(span, codeOf(error) || 'error')
      throw error
    } finally {
      span.end()
    }
  }

  /** Sends the remaining spans, within the timeout. */
  const stop = async (): Promise<void> => {
    await Promise.race([provider.shutdown().catch(() => {}), delay(flushTimeoutMilliseconds, null, { ref: false })])
  }

  return { trace: traceRequest, observe, stop }
}

const propagator = new W3CTraceContextPropagator()

/** `tracestate` is ignored, because callers can write anything into it. */
const traceParentOnly = {
  keys: () => ['traceparent'],
  get: (headers: Record<string, unknown>, name: string): string | undefined => {
    const value = name === 'traceparent' ? headers[name] : undefined
    return typeof value === 'string' ? value : undefined
  },
}

const fail = (span: Span, type: string): void => {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

type Description = { name: string; attributes: Attributes }

const transaction: Description = { name: 'transaction', attributes: { 'db.system.name': 'postgresql' } }
const descriptions = new Map<string, Description>()

/** The cache is bounded, because statements are few and contain no values. */
const describe = (text: string): Description => {
  const known = descriptions.get(text)
  if (known) return known
  const query = text.replaceAll(/\s+/g, ' ').trim()
  const name = summary(query)
  const description = {
    name,
    attributes: { 'db.system.name': 'postgresql', 'db.query.summary': name, 'db.query.text': query },
  }
  descriptions.set(text, description)
  return description
}

/** Summarises a statement, as in `insert heads, insert contacts`. */
const summary = (query: string): string => {
  const subqueries = new Set([...query.matchAll(/(\w+) as (?:materialized )?\(/g)].map(([, name]) => name))
  const steps = [...query.matchAll(/\b(insert into|update|delete from|from) (?!set\b)(\w+)\b(?!\()/g)]
    .filter(([, , table]) => !subqueries.has(table))
    .map(([, verb = '', table]) => `${verb === 'from' ? 'select' : verb.split(' ')[0]} ${table}`)
  const [, called] = /\bfrom (\w+)\(/.exec(query) ?? []
  const [first = 'statement'] = called ? [`select ${called}`] : (/^\w+( \w+)?/.exec(query) ?? [])
  const whole = [...new Set(steps)].join(', ')
  return (whole.length > longestSpanName ? whole.slice(0, whole.lastIndexOf(',', longestSpanName)) : whole) || first
}

const warningsTo = (log: Log) => {
  let nextAt = 0
  const error = (json: string) => {
    if (Date.now() < nextAt) return
    nextAt = Date.now() + leastMillisecondsBetweenWarnings
    // OpenTelemetry passes an error as the JSON of its properties.
    const [, reason = 'the collector did not take them'] = /"message":"((?:[^"\\]|\\.)*)"/.exec(json) ?? []
    log.warn(`traces cannot be sent: ${reason}`)
  }
  const ignore = () => {}
  return { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore }
}
