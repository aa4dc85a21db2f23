import { baseAddress } from './base-address.ts'
import { type Deadline, withDeadline } from './deadline.ts'
import { downloaded } from './download.ts'
import { ifMatchOf, noteEtag } from './entity-tags.ts'
import { ConnectionError, isProblem, MastheadError, ProblemError, UnexpectedAnswerError } from './errors.ts'
import type { StreamEvent } from './event-parser.ts'
import { isEventStream, reconnecting } from './event-stream.ts'
import { basePath, changesRelation, type Problem } from './generated/contract.ts'
import { readObject } from './json-object.ts'
import { parameterIn } from './links.ts'
import { List, Page, type PageBody } from './list.ts'
import { randomText } from './random.ts'
import { ResponseCache } from './response-cache.ts'
import { type Failure, mayRepeat, pauseMilliseconds, readRetryAfter } from './retries.ts'

/** Gives the access token. After a refusal it is asked again with the token that was refused, and may give another. */
export type TokenSource = (refused?: string) => string | Promise<string>

export interface MastheadOptions {
  /** Address of the service, as `https://api.example.com`. */
  baseUrl: string | URL
  /** A personal access token or service token, an `OAuthSession`, or a function that gives the token. */
  token: string | TokenSource | { accessToken: TokenSource }
  /** How long a call may take, with all its retries, and a stream be silent: 60,000 unless said otherwise. */
  timeoutMilliseconds?: number | undefined
  /** How often a call is repeated that failed for a passing reason: 3 unless said otherwise. */
  retries?: number | undefined
  /** How much memory answers may take that are kept to be asked for by their `ETag`: 8 MiB unless said otherwise. */
  cacheBytes?: number | undefined
  hooks?: Hooks | undefined
}

/** Called as things happen, for logs and metrics. Addresses hold what was searched for; tokens are never shown. */
export interface Hooks {
  request?: ((request: SentRequest) => void) | undefined
  answer?: ((answer: ReceivedAnswer) => void) | undefined
  retry?: ((retry: ComingRetry) => void) | undefined
}
export interface SentRequest {
  /** The name of the operation in the contract, as `GetContacts`. */
  operation: string
  method: string
  url: string
  /** 1 for the first. */
  attempt: number
}
export interface ReceivedAnswer extends SentRequest {
  status: number
  requestId: string | null
  milliseconds: number
}
export interface ComingRetry extends SentRequest {
  error: MastheadError
  pauseMilliseconds: number
}

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** How long this call may take, with all its retries. */
  timeoutMilliseconds?: number | undefined
}
export interface ConditionalOptions<T> extends CallOptions {
  /** Only if the record is still as it came, else `precondition_failed`. The record, or its `ETag`. */
  ifMatch?: T | string | undefined
}
export interface KeyedOptions extends CallOptions {
  /** To do it once also over calls: those with the same key within 24 hours get the same answer. Made up when absent. */
  idempotencyKey?: string | undefined
}
export interface DownloadOptions extends CallOptions {
  /** The first byte to bring, to go on with a file that was begun before: 0 unless said otherwise. */
  from?: number | undefined
  /** How long a connection may bring nothing. */
  timeoutMilliseconds?: number | undefined
}
type AnyOptions = CallOptions & { ifMatch?: object | string | undefined; idempotencyKey?: string | undefined }

/** What came, to be read as the operation promises. */
type ParsedResponse = { value: object; etag: string | null; link: string | null }
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
type Request = {
  operation: string
  method: Method
  url: string
  headers: Record<string, string>
  body: string | undefined
  /** What comes is read later, as it comes. */
  isFile?: true
}
type Prepared = Omit<Request, 'headers'> & { headers: Headers }
type Received = { response: Response; text: string }

/** Sends calls until they are answered: with a token, a deadline, retries and what was kept from before. */
export class Caller {
  readonly #baseUrl: string
  readonly #tokens: TokenSource
  readonly #timeoutMilliseconds: number
  readonly #retries: number
  readonly #cache: ResponseCache
  readonly #hooks: Hooks

  constructor(options: MastheadOptions, path: string = basePath) {
    const { baseUrl, token, timeoutMilliseconds, retries, cacheBytes, hooks } = options
    this.#baseUrl = baseAddress(baseUrl) + path
    this.#tokens = asSource(token)
    this.#timeoutMilliseconds = timeoutMilliseconds ?? 60_000
    this.#retries = retries ?? 3
    this.#cache = new ResponseCache(cacheBytes ?? 8 * 1_024 * 1_024)
    this.#hooks = hooks ?? {}
  }

  async call<T extends object>(
    operation: string,
    method: Method,
    segments: readonly string[],
    { ifMatch, idempotencyKey, ...options }: AnyOptions,
    body?: object,
    query?: object,
  ): Promise<T> {
    const { value, etag } = await this.#send(options, {
      operation,
      method,
      url: this.#urlOf(segments, query),
      headers: {
        ...(body && { 'content-type': 'application/json' }),
        ...(ifMatch !== undefined && { 'if-match': ifMatchOf(ifMatch) }),
        ...(method === 'POST' && { 'idempotency-key': idempotencyKey ?? randomText() }),
      },
      body: body && JSON.stringify(body),
    })
    noteEtag(value, etag)
    return value as T // by the contract
  }

  list<T>(operation: string, segments: readonly string[], options: CallOptions, query: object): List<T> {
    const load = async (cursor?: string): Promise<Page<T>> => {
      // A cursor says by itself where the page begins.
      const url = this.#urlOf(segments, cursor === undefined ? query : { ...query, page: undefined, cursor })
      const { value, link } = await this.#send(options, { operation, method: 'GET', url, headers: {}, body: undefined })
      const cursors = {
        next: parameterIn(link, 'next', 'cursor'),
        changes: parameterIn(link, changesRelation, 'after'),
      }
      return new Page(value as PageBody<T>, cursors, load) // by the contract
    }
    return new List(load)
  }

  /** Events as they come, over as many connections as it takes: each goes on after the last event. Ends by the signal. */
  events(
    operation: string,
    segments: readonly string[],
    { signal, timeoutMilliseconds }: CallOptions,
    queryAfter: (lastId: string | undefined) => object,
  ): AsyncGenerator<StreamEvent[], void, undefined> {
    const headers = { accept: 'text/event-stream' }
    const requestAfter = (lastId: string | undefined): Request => ({
      operation,
      method: 'GET',
      url: this.#urlOf(segments, queryAfter(lastId)),
      headers,
      body: undefined,
    })
    const quietMilliseconds = timeoutMilliseconds ?? this.#timeoutMilliseconds
    return reconnecting(
      { signal, quietMilliseconds },
      {
        open: (lastId, attempt, connection) => {
          const request = requestAfter(lastId)
          return this.#withToken((token) => this.#open(request, token, attempt, connection))
        },
        onPause: (lastId, attempt, error, pauseMilliseconds) =>
          this.#hooks.retry?.({ ...shown(requestAfter(lastId), attempt), error, pauseMilliseconds }),
      },
    )
  }

  /** The bytes of a file, over as many connections as it takes. */
  download(
    operation: string,
    segments: readonly string[],
    { signal, timeoutMilliseconds, from }: DownloadOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const requestFrom = (at: number, etag: string | null): Request => ({
      operation,
      method: 'GET',
      url: this.#urlOf(segments),
      body: undefined,
      isFile: true,
      headers: {
        accept: '*/*',
        ...(at > 0 && { range: `bytes=${at}-` }),
        ...(at > 0 && etag !== null && { 'if-range': etag }),
      },
    })
    const quietMilliseconds = timeoutMilliseconds ?? this.#timeoutMilliseconds
    return downloaded(
      { signal, quietMilliseconds, retries: this.#retries, from: from ?? 0 },
      {
        open: (at, etag, attempt, connection) =>
          this.#withToken((token) => this.#open(requestFrom(at, etag), token, attempt, connection)),
        onPause: (at, attempt, error, pauseMilliseconds) =>
          this.#hooks.retry?.({ ...shown(requestFrom(at, null), attempt), error, pauseMilliseconds }),
      },
    )
  }

  #urlOf(segments: readonly string[], query: object = {}): string {
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
    const path = segments.map((segment) => `/${encodeSegment(segment)}`).join('')
    return this.#baseUrl + path + (`${parameters}` && `?${parameters}`)
  }

  #send({ signal, timeoutMilliseconds }: CallOptions, request: Request): Promise<ParsedResponse> {
    return withDeadline(timeoutMilliseconds ?? this.#timeoutMilliseconds, signal, (deadline) =>
      this.#repeat(request, deadline),
    )
  }

  async #repeat(request: Request, deadline: Deadline): Promise<ParsedResponse> {
    const isIdempotent = request.method === 'POST' || request.headers['if-match'] === undefined
    for (let attempt = 1; ; attempt++) {
      const outcome = await deadline.during(
        this.#withToken((token) => this.#attempt(request, token, attempt, deadline.signal)),
      )
      if (!(outcome instanceof MastheadError)) return outcome
      const pause = pauseMilliseconds(outcome, attempt)
      const isLast = attempt > this.#retries || pause >= deadline.remainingMilliseconds
      if (isLast || !mayRepeat(outcome, isIdempotent)) throw outcome
      this.#hooks.retry?.({ ...shown(request, attempt), error: outcome, pauseMilliseconds: pause })
      await deadline.sleep(pause)
    }
  }

  /** Where a token is refused, and its source has another one, that is tried too. */
  async #withToken<T>(send: (token: string) => Promise<T | Failure>): Promise<T | Failure> {
    const token = await this.#freshToken()
    const outcome = await send(token)
    if (!isProblem(outcome, 'invalid_token')) return outcome
    const renewed = await this.#freshToken(token)
    return renewed === token ? outcome : send(renewed)
  }

  async #freshToken(refused?: string): Promise<string> {
    const token = await this.#tokens(refused)
    // RFC 6750 §2.1. Said here, because the platform would show the token.
    if (/^[\w.~+/-]+=*$/.test(token ?? '')) return token
    throw new TypeError('`token` must be an access token: it is missing, or holds a space or a line break')
  }

  async #attempt(
    request: Request,
    token: string,
    attempt: number,
    signal: AbortSignal,
  ): Promise<ParsedResponse | Failure> {
    const { method, url } = request
    const kept = method === 'GET' ? this.#cache.find(token, url) : undefined
    const headers = headersOf(request, token)
    if (kept) {
      headers.set('if-none-match', kept.etag)
      // Fetch would say `no-cache` beside a tag, for which the service reads its database and charges the call.
      if (!headers.has('cache-control')) headers.set('cache-control', 'max-age=0')
    }
    const received = await this.#exchange({ ...request, headers }, attempt, signal)
    if (received instanceof ConnectionError) return received
    const { response, text } = received
    const [link, etag] = [response.headers.get('link'), response.headers.get('etag')]
    if (response.status === 304 && kept)
      return { value: JSON.parse(kept.text), etag: kept.etag, link: link ?? kept.link }
    const value = readObject(text)
    if (!response.ok || !value) return failureOf(request, response, value)
    if (method === 'GET' && etag !== null) this.#cache.keep(token, url, { text, etag, link })
    return { value, etag, link }
  }

  async #open(request: Request, token: string, attempt: number, signal: AbortSignal): Promise<Response | Failure> {
    const received = await this.#exchange({ ...request, headers: headersOf(request, token) }, attempt, signal)
    if (received instanceof ConnectionError) return received
    const { response, text } = received
    const isExpected = request.isFile ? isFilePart(response) : response.ok && isEventStream(response)
    return isExpected ? response : failureOf(request, response, readObject(text))
  }

  async #exchange(request: Prepared, attempt: number, signal: AbortSignal): Promise<Received | ConnectionError> {
    const { method, url, headers, body, isFile = false } = request
    signal.throwIfAborted()
    this.#hooks.request?.(shown(request, attempt))
    const begun = performance.now()
    const received = await receive(url, { method, headers, body: body ?? null, signal }, isFile)
    if (received instanceof ConnectionError) return received
    const { response } = received
    this.#hooks.answer?.({
      ...shown(request, attempt),
      status: response.status,
      requestId: response.headers.get('x-request-id'),
      milliseconds: performance.now() - begun,
    })
    return received
  }
}

const headersOf = (request: Request, token: string): Headers =>
  new Headers({ accept: 'application/json', authorization: `Bearer ${token}`, ...request.headers })

/** A stream is read later, as it comes. */
const receive = async (url: string, init: RequestInit, isFile: boolean): Promise<Received | ConnectionError> => {
  try {
    const response = await fetch(url, init)
    const isStream = isEventStream(response) || (isFile && isFilePart(response))
    return { response, text: isStream ? '' : await response.text() }
  } catch (cause) {
    // The caller's own reason, or that the time is over.
    init.signal?.throwIfAborted()
    return new ConnectionError(`${init.method} ${withoutQuery(url)}`, cause)
  }
}

/** A file, a part of it, or that there is no more of it. */
const isFilePart = ({ ok, status }: Response): boolean => ok || status === 416

const failureOf = ({ method, url }: Request, { status, headers }: Response, value: object | undefined): Failure => {
  const retryAfter = readRetryAfter(headers.get('retry-after'))
  const isOurs = headers.get('content-type')?.startsWith('application/problem+json')
  if (isOurs && value) return new ProblemError(value as Problem, retryAfter) // by the contract
  const what = `${method} ${withoutQuery(url)} was answered with ${status} by something that is not Masthead`
  return new UnexpectedAnswerError(`${what}: is baseUrl right?`, status, retryAfter)
}

const shown = ({ operation, method, url }: Omit<Request, 'headers'>, attempt: number): SentRequest => ({
  operation,
  method,
  url,
  attempt,
})

const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? ''

const asSource = (token: MastheadOptions['token']): TokenSource => {
  if (typeof token === 'function') return token
  return typeof token === 'object' ? (refused) => token.accessToken(refused) : () => token
}

/** An address would take dots for steps up, and nothing for another address. */
const encodeSegment = (segment: string): string => {
  if (typeof segment === 'string' && !['', '.', '..'].includes(segment)) return encodeURIComponent(segment)
  throw new TypeError(`${JSON.stringify(segment)} is no identifier`)
}
