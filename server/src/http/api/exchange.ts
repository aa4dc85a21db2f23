import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '@masthead/contract'
import type { Database } from '../../database/database.ts'
import type { RetriableRequest } from '../../database/idempotency-records.ts'
import type { Versions, VersionsSource } from '../../database/versions.ts'
import type { Principal, Principals } from '../../identity/principal.ts'
import type { Log } from '../../log/log.ts'
import type { SendMail } from '../../mail/mailer.ts'
import type { HandlerResult } from '../../operation-call.ts'
import type { WebhookSettings } from '../../webhooks/settings.ts'
import type { InFlight } from '../connections/in-flight.ts'
import { requestId } from '../connections/request-id.ts'
import { type EndSpan, type RequestWatcher, tellFinished } from '../connections/watched-requests.ts'
import type { Tags } from '../responses/conditional.ts'
import { chooseEncoding, type EncodedResponse, type Encoding } from '../responses/encoding.ts'
import type { CachedResponse, ResponseCache } from '../responses/response-cache.ts'
import type { Charge, RateLimiter } from './callers/rate-limit.ts'
import type { RefusedCallers } from './callers/refused-callers.ts'
import type { Followers } from './following/followers.ts'
import type { Route } from './route.ts'
import type { Destination } from './router.ts'

/** An API of the contract with all that its steps need. */
export type ServedApi = {
  contract: Api
  database: Database
  askVersions: VersionsSource
  principals: Principals
  baseUrl: string
  issuer: string | null
  sendMail: SendMail | null
  webhooks: WebhookSettings
  /** Null where nothing is limited. */
  limiter: RateLimiter | null
  refusedCallers: RefusedCallers
  /** Null where the same URL answers each caller differently. */
  cache: ResponseCache | null
  /** Pages of any origin may call it. */
  isOpenToAllOrigins: boolean
  addressOf: (request: IncomingMessage) => string
  inFlight: InFlight
  followers: Followers
  log: Log
}

/** What is read before it is certain that the caller may see it, and the versions that were known before. */
export type ReadAhead = { query: Record<string, unknown>; result: Promise<HandlerResult>; versions: Versions }

/** One request of an API and its response, with what the steps so far have found out. */
export class Exchange {
  readonly api: ServedApi
  readonly destination: Destination<ServedApi, Route>
  readonly route: Route | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: string
  readonly requestId: string
  readonly encoding: Encoding
  /** Of the token; also of one that was refused for its rate. */
  principal: Principal | null = null
  /** When the token was checked; null where the token had to be looked up. */
  versions: Versions | null = null
  charge: Charge | null = null
  refusedBy: string | null = null
  query: Record<string, unknown> = {}
  body: unknown = undefined
  bytes: Buffer | undefined = undefined
  /** Of `If-None-Match` for a read, of `If-Match` for a write. */
  tags: Tags = null
  retriable: RetriableRequest | null = null
  /** How a caller wants to wait for news. */
  following: { as: 'response'; seconds: number } | { as: 'stream'; after: string | undefined } | null = null
  /** What a cached response is found by: the URL, and what of it depends on the caller. */
  cacheKey = ''
  ahead: ReadAhead | null = null
  cached: CachedResponse | null = null
  isFromCache = false
  /** The response before it is encoded. */
  plain: EncodedResponse | null = null
  /** The tag of what the caller has already, where that is still current. */
  currentTag: string | null = null
  encoded: EncodedResponse | null = null
  endSpan: EndSpan | null = null
  readonly #watchers: readonly RequestWatcher[]
  readonly #began = performance.now()
  #restedMilliseconds = 0
  #restsSince: number | null = null
  #timeoutMilliseconds = 0

  constructor(
    destination: Destination<ServedApi, Route>,
    request: IncomingMessage,
    response: ServerResponse,
    watchers: readonly RequestWatcher[],
  ) {
    const { method = '', url = '', headers } = request
    this.api = destination.area
    this.destination = destination
    this.route = destination.routes.get(method === 'HEAD' ? 'GET' : method)
    this.request = request
    this.response = response
    this.url = url
    this.requestId = requestId(headers['x-request-id'])
    this.encoding = chooseEncoding(headers['accept-encoding'])
    this.#watchers = watchers
  }

  /**
   * Nothing is done for the call from now on, until it works again: it counts neither among those in flight of its token nor in the time that
   * responses take, and its connection may be silent.
   */
  rest(): void {
    // Where the caller has left, the charge has, too.
    if (this.#restsSince !== null || this.response.destroyed) return
    this.charge?.leave()
    this.#restsSince = performance.now()
    this.#timeoutMilliseconds = this.request.socket.timeout ?? 0
    this.request.socket.setTimeout(0)
  }

  work(): void {
    if (this.#restsSince === null) return
    this.#restedMilliseconds += performance.now() - this.#restsSince
    this.#restsSince = null
    this.request.socket.setTimeout(this.#timeoutMilliseconds)
  }

  /** The response was sent, or nobody is left to hear it. */
  ended(): void {
    const hasRested = this.#restsSince !== null || this.#restedMilliseconds > 0
    if (!hasRested) this.charge?.leave()
    this.work()
    if (this.#watchers.length === 0 && this.endSpan === null) return
    const { requestId, route, response, principal, refusedBy } = this
    const [operation, path] = route ? [route.name, route.path] : ['other', null]
    const milliseconds = performance.now() - this.#began - this.#restedMilliseconds
    const finished = { requestId, operation, path, milliseconds, principal, refusedBy }
    tellFinished(this.#watchers, this.endSpan, response, finished)
  }
}

/** Passes, or throws what the request is refused with. It gives a promise only where something has to be waited for. */
export type Step = (exchange: Exchange) => Promise<void> | undefined

/** What an earlier step has found. */
export const found = <T>(it: T | null | undefined): T => {
  if (it === null || it === undefined) throw new Error('a step of a call was left out')
  return it
}
