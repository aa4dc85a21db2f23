import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../log/log.ts'
import { requestId } from '../connections/request-id.ts'
import { type EndSpan, type RequestWatcher, tellFinished } from '../connections/watched-requests.ts'
import type { PageResponse } from './page-response.ts'

/** What every visit has from the service. */
export type VisitOptions = {
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
  readonly requestId: string
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
    { log, watchers, addressOf }: VisitOptions,
    request: IncomingMessage,
    response: ServerResponse,
    { path, params }: { path: string | null; params: Readonly<Record<string, string>> },
  ) {
    const { method = '', url = '', headers } = request
    this.request = request
    this.response = response
    this.method = method
    this.url = url
    this.requestId = requestId(headers['x-request-id'])
    this.address = addressOf(request)
    this.log = log
    this.path = path
    this.params = params
    this.headers = { 'x-request-id': this.requestId }
    this.#watchers = watchers
  }

  /** The response was sent, or nobody is left to hear it. */
  ended(): void {
    const { requestId, path, refusedBy } = this
    const operation = path ?? 'other'
    const milliseconds = performance.now() - this.#began
    const finished = { requestId, operation, path, milliseconds, principal: null, refusedBy }
    tellFinished(this.#watchers, this.endSpan, this.response, finished)
  }
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
