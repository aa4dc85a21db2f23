import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '@masthead/contract'
import type { Handler } from '../../operation-call.ts'
import type { RequestWatcher, Trace } from '../connections/watched-requests.ts'
import { RefusedCallers } from './callers/refused-callers.ts'
import { Exchange, type ServedApi } from './exchange.ts'
import { newRoute, type Route } from './route.ts'
import { Router } from './router.ts'
import { takeSteps } from './steps.ts'

/** All requests below the base paths of the APIs. */
export class ApiRequests {
  readonly #router: Router<ServedApi, Route>
  readonly #watchers: readonly RequestWatcher[]
  readonly #trace: Trace | null

  constructor(pages: readonly string[], watchers: readonly RequestWatcher[], trace: Trace | null) {
    this.#router = new Router(pages)
    this.#watchers = watchers
    this.#trace = trace
  }

  open(
    contract: Api,
    handlers: ReadonlyMap<string, Handler>,
    given: Omit<ServedApi, 'contract' | 'refusedCallers'>,
  ): void {
    const { basePath, operations } = contract
    this.#router.addArea(basePath, { ...given, contract, refusedCallers: new RefusedCallers() })
    for (const named of operations) {
      const { method, path } = named.operation
      const route = newRoute(named, contract, { handlers, baseUrl: given.baseUrl })
      this.#router.addRoute(basePath + path, method, route)
    }
  }

  /** False where the URL is below no base path. */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    const destination = this.#router.find(request.url ?? '')
    if (!destination) return false
    const exchange = new Exchange(destination, request, response, this.#watchers)
    exchange.api.inFlight.add(response, exchange)
    for (const watcher of this.#watchers) watcher.arrived()
    if (this.#trace) exchange.endSpan = this.#trace(request, exchange.route?.name ?? 'other', () => takeSteps(exchange))
    else takeSteps(exchange)
    return true
  }
}
