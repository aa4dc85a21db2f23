import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import serverPackage from '../../package.json' with { type: 'json' }
import { schemeReader } from '../caller-address.ts'
import type { Observe } from '../database/observed-database.ts'
import { callerLeft, type Trace } from '../http/connections/watched-requests.ts'
import type { Log } from '../log/log.ts'

/** The share of traces that are sent, and whether callers that trace decide for theirs. */
export type Sampling = { share: number; asCaller: boolean }

/** How long a stop waits until what was traced is sent. */
const flushMilliseconds = 1_500
/** How often at most the log says that traces cannot be sent. */
const complaintMilliseconds = 60_000

/**
 * A span for each request and below it one for each statement, in the words of OpenTelemetry, sent by OTLP to where its
 * variables say. Nothing in them is what a caller wrote: neither addresses nor values, and no messages of errors.
 */
export class Tracing {
  readonly #provider: TracerProvider
  readonly #tracer: Tracer
  readonly #schemeOf: (request: IncomingMessage) => string
  readonly #current = new AsyncLocalStorage<Context>()

  constructor(sampling: Sampling, trustedProxies: readonly string[], log: Log) {
    this.#schemeOf = schemeReader(trustedProxies)
    diag.setLogger(failuresTo(log), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
    const ours = resourceFromAttributes({ 'service.name': 'masthead', 'service.version': serverPackage.version })
    this.#provider = new TracerProvider({
      resource: defaultResource()
        .merge(ours)
        .merge(detectResources({ detectors: [envDetector] })),
      sampler: samplerOf(sampling),
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
    })
    this.#tracer = this.#provider.getTracer('masthead')
  }

  /** What the database is asked while a request is served belongs to its span. */
  readonly trace: Trace = (request, operation, serve) => {
    const parent = propagator.extract(ROOT_CONTEXT, request.headers, traceParentOnly)
    const span = this.#tracer.startSpan(operation, { kind: SpanKind.SERVER }, parent)
    this.#current.run(trace.setSpan(parent, span), serve)
    return ({ requestId, path, method, status, principal }) => {
      span.setAttributes({
        'http.request.method': method,
        ...(path !== null && { 'http.route': path }),
        'url.scheme': this.#schemeOf(request),
        'masthead.request.id': requestId,
        ...(principal && { 'masthead.tenant.id': principal.tenantId, 'masthead.principal.kind': principal.kind }),
      })
      if (status === callerLeft) fail(span, 'caller_left')
      else span.setAttribute('http.response.status_code', status)
      if (status >= 500) fail(span, String(status))
      span.end()
    }
  }

  readonly observe: Observe = async (text, work) => {
    const parent = this.#current.getStore()
    if (!parent) return work()
    const { name, attributes } = text === null ? transaction : describe(text)
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent)
    try {
      return await this.#current.run(trace.setSpan(parent, span), work)
    } catch (error) {
      fail(span, error instanceof Error && 'code' in error ? String(error.code) : 'error')
      throw error
    } finally {
      span.end()
    }
  }

  /** Sends what is left, as far as that does not take long. */
  async stop(): Promise<void> {
    const tooLong = Promise.withResolvers<void>()
    const timer = setTimeout(tooLong.resolve, flushMilliseconds)
    await Promise.race([this.#provider.shutdown().catch(() => {}), tooLong.promise])
    clearTimeout(timer)
  }
}

const samplerOf = ({ share, asCaller }: Sampling): Sampler => {
  const root = new TraceIdRatioBasedSampler(share)
  return asCaller ? new ParentBasedSampler({ root }) : root
}

const propagator = new W3CTraceContextPropagator()

/** What a caller puts into `tracestate` is nobody's business here. */
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
const longestName = 100
const descriptions = new Map<string, Description>()

/** Texts are few, and their values are elsewhere. */
const describe = (text: string): Description => {
  const known = descriptions.get(text)
  if (known) return known
  const query = text.replaceAll(/\s+/g, ' ').trim()
  const name = summary(query)
  const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name, 'db.query.text': query }
  const description = { name, attributes }
  descriptions.set(text, description)
  return description
}

/** What is done to which tables, as far as the text tells: `insert heads, insert contacts`. */
const summary = (query: string): string => {
  const given = new Set([...query.matchAll(/(\w+) as \(/g)].map(([, name]) => name))
  const steps = [...query.matchAll(/\b(insert into|update|delete from|from) (?!set\b)(\w+)\b(?!\()/g)]
    .filter(([, , table]) => !given.has(table))
    .map(([, verb = '', table]) => `${verb === 'from' ? 'select' : verb.split(' ')[0]} ${table}`)
  const [, called] = /\bfrom (\w+)\(/.exec(query) ?? []
  const [first = 'statement'] = called ? [`select ${called}`] : (/^\w+( \w+)?/.exec(query) ?? [])
  return [...new Set(steps)].join(', ').slice(0, longestName) || first
}

const failuresTo = (log: Log) => {
  let silentUntil = 0
  const complain = (told: string) => {
    if (Date.now() < silentUntil) return
    silentUntil = Date.now() + complaintMilliseconds
    log.warn(`traces cannot be sent: ${reasonOf(told)}`)
  }
  const ignore = () => {}
  return { error: complain, warn: ignore, info: ignore, debug: ignore, verbose: ignore }
}

/** OpenTelemetry tells an error as the JSON of its properties. */
const reasonOf = (told: string): string => {
  const [, message = 'the collector did not take them'] = /"message":"((?:[^"\\]|\\.)*)"/.exec(told) ?? []
  return message
}
