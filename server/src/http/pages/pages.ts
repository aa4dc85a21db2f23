import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Destination, Router } from '../api/router.ts'
import { admit, type InFlight } from '../connections/in-flight.ts'
import type { Trace } from '../connections/watched-requests.ts'
import { openToAllOrigins, preflightHeaders } from '../responses/cross-origin.ts'
import { asProblem, brokenPath, methodNotAllowed, nothingAt, problemResponse } from '../responses/problems.ts'
import { type PageResponse, sendPage } from './page-response.ts'
import { type Guard, guarded, type PageHandler, Visit, type VisitOptions } from './visit.ts'

export type PageRoute = {
  /** With the names of its parameters in braces. */
  path: string
  /** Pages of any origin may call it. */
  isOpenToAllOrigins?: true
  guards?: readonly Guard[]
  GET?: PageHandler
  POST?: PageHandler
  /** What to show for an error, where it is not the body of a problem. */
  failure?: (error: unknown, visit: Visit) => Promise<PageResponse>
}

type Options = VisitOptions & { baseUrl: string; inFlight: InFlight; trace: Trace | null }

/** A route has the handlers of all its methods. */
const anyMethod = 'any'

/** All requests that belong to no API: the pages of the console and of the authorization server, documents and scripts. */
export class Pages {
  readonly routes: PageRoute[] = []
  /** What is said where there is no page. */
  nothing: PageHandler = async ({ url }) => {
    throw nothingAt(url)
  }
  readonly #router = new Router<PageHandler, PageRoute>([])
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
    this.guardBelow('', [])
  }

  add(...routes: PageRoute[]): void {
    for (const route of routes) {
      this.routes.push(route)
      this.#router.addRoute(route.path, anyMethod, route)
    }
  }

  /** Guards for what is asked for below this path and is not there. */
  guardBelow(path: string, guards: readonly Guard[]): void {
    const nothing = guarded(guards, (visit) => this.nothing(visit))
    this.#router.addArea(path, nothing)
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const { inFlight, watchers, trace } = this.#options
    const destination = this.#router.find(request.url ?? '')
    if (!destination) throw new Error('everything is below the root')
    const path = destination.routes.get(anyMethod)?.path ?? null
    const visit = new Visit(this.#options, request, response, { path, params: destination.params })
    inFlight.add(response, visit)
    for (const watcher of watchers) watcher.arrived()
    const respond = () => {
      this.#respond(visit, destination).catch((err: unknown) => {
        visit.log.error({ reqId: visit.requestId, err }, 'a request failed, and so did its response')
        response.destroy()
      })
    }
    if (trace) visit.endSpan = trace(request, path ?? 'other', respond)
    else respond()
  }

  async #respond(visit: Visit, { area, routes, isBroken }: Destination<PageHandler, PageRoute>): Promise<void> {
    const route = routes.get(anyMethod)
    const response = async () => {
      admit(this.#options.inFlight, visit.url)
      if (isBroken) throw brokenPath()
      return route ? responseOf(route, visit) : area(visit)
    }
    try {
      send(visit, await response())
    } catch (error) {
      send(visit, await this.#failure(route, error, visit))
    }
  }

  async #failure(route: PageRoute | undefined, error: unknown, visit: Visit): Promise<PageResponse> {
    if (route?.failure) return route.failure(error, visit)
    return problemResponse(asProblem(error, visit), this.#options.baseUrl, visit.requestId)
  }
}

const send = ({ response, headers }: Visit, page: PageResponse | null): void => {
  if (page) sendPage(response, page, headers)
}

const responseOf = async (route: PageRoute, visit: Visit): Promise<PageResponse | null> => {
  const { guards = [], isOpenToAllOrigins, GET, POST } = route
  const { method } = visit
  if (isOpenToAllOrigins) Object.assign(visit.headers, openToAllOrigins)
  const handler = method === 'POST' ? POST : method === 'GET' || method === 'HEAD' ? GET : undefined
  if (handler) return guarded(guards, handler)(visit)
  const allowed = [...(GET ? ['GET', 'HEAD'] : []), ...(POST ? ['POST'] : []), 'OPTIONS']
  if (method !== 'OPTIONS') throw methodNotAllowed(method, allowed)
  return { status: 204, headers: isOpenToAllOrigins ? preflightHeaders(allowed) : { allow: allowed.join(', ') } }
}
