import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../log/log.ts'
import { requestId } from '../connections/request-id.ts'
import { callerLeft, type EndSpan, type RequestWatcher } from '../connections/watched-requests.ts'
import { isCurrent, readTags } from '../responses/conditional.ts'
import { openToAllOrigins, preflightHeaders } from '../responses/cross-origin.ts'

/** What every visit has from the service. */
export type Hosting = {
  log: Log
  watchers: readonly RequestWatcher[]
  addressOf: (request: IncomingMessage) => string
}

/** One request of a page and its response. */
export class Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  readonly url: string
  readonly id: string
  /** The address of the caller, behind trusted proxies too. */
  readonly address: string
  readonly log: Log
  /** The pattern of the route; null where there is none. */
  readonly path: string | null
  readonly params: Readonly<Record<string, string>>
  /** What the response carries whatever it is, also when it is an error. */
  readonly headers: Record<string, string>
  /** The limit by which it was refused with 429. */
  refusedBy: string | null = null
  /** The body, once a guard has read it. */
  bytes: Buffer | undefined = undefined
  form: Readonly<Record<string, string>> = {}
  endSpan: EndSpan | null = null
  readonly #watchers: readonly RequestWatcher[]
  readonly #began = performance.now()

  constructor(
    { log, watchers, addressOf }: Hosting,
    request: IncomingMessage,
    response: ServerResponse,
    { path, params }: { path: string | null; params: Readonly<Record<string, string>> },
  ) {
    const { method = '', url = '', headers } = request
    this.request = request
    this.response = response
    this.method = method
    this.url = url
    this.id = requestId(headers['x-request-id'])
    this.address = addressOf(request)
    this.log = log
    this.path = path
    this.params = params
    this.headers = { 'x-request-id': this.id }
    this.#watchers = watchers
  }

  /** The response was sent, or nobody is left to hear it. */
  ended(): void {
    if (this.#watchers.length === 0 && this.endSpan === null) return
    const { id, path, method, response, refusedBy } = this
    const finished = {
      requestId: id,
      operation: path ?? 'other',
      path,
      method,
      status: response.writableFinished ? response.statusCode : callerLeft,
      milliseconds: performance.now() - this.#began,
      principal: null,
      refusedBy,
    }
    for (const watcher of this.#watchers) watcher.finished(finished)
    this.endSpan?.(finished)
  }
}

export type PageResponse = {
  /** 200 unless said otherwise. */
  status?: number
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer
}

/** Null where the response was sent already, or will be by another. */
export type PageHandler = (visit: Visit) => Promise<PageResponse | null>

/** Looks at a visit before its page: the response is a refusal, and null lets it pass. */
export type Guard = (visit: Visit) => Promise<PageResponse | null>

export const guarded =
  (guards: readonly Guard[], handler: PageHandler): PageHandler =>
  async (visit) => {
    for (const guard of guards) {
      const refusal = await guard(visit)
      if (refusal) return refusal
    }
    return handler(visit)
  }

/** For pages that are open to all origins, with the methods that they take. */
export const allowAllOrigins =
  (methods: readonly string[]): Guard =>
  async ({ headers, method }) => {
    Object.assign(headers, openToAllOrigins)
    return method === 'OPTIONS' ? { status: 204, headers: preflightHeaders(methods) } : null
  }

/** With its tag, and without what the caller has already. */
export const tagged = ({ headers: asked }: IncomingMessage, etag: string, page: PageResponse): PageResponse => {
  const headers = { ...page.headers, etag }
  if (!isCurrent(readTags('If-None-Match', asked['if-none-match']), etag)) return { ...page, headers }
  const { 'content-type': _type, 'content-encoding': _encoding, ...others } = headers as Record<string, string>
  return { status: 304, headers: others }
}

export const json = (value: unknown) => ({
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})

export const sendPage = ({ response, headers }: Visit, page: PageResponse): void => {
  // Whoever began a response before it failed has said what it is.
  if (response.headersSent) return
  const { status = 200, body = '' } = page
  const hasBody = status !== 204 && status !== 304
  const length = hasBody && { 'content-length': String(Buffer.byteLength(body)) }
  response.writeHead(status, { ...headers, ...page.headers, ...length })
  response.end(hasBody ? body : undefined)
}
