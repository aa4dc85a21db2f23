import type { IncomingMessage, ServerResponse } from 'node:http'
import { largest } from '@masthead/contract'
import { Router } from '../api/router.ts'
import { type InFlight, stopping } from '../connections/in-flight.ts'
import type { Trace } from '../connections/watched-requests.ts'
import {
  asProblem,
  brokenPath,
  methodNotAllowed,
  nothingAt,
  problemResponse,
  urlTooLong,
} from '../responses/problems.ts'
import { type Guard, guarded, type Hosting, type PageHandler, type PageResponse, sendPage, Visit } from './visit.ts'

export type PageRoute = {
  /** With the names of its parameters in braces. */
  path: string
  /** They look at the visits of all methods. */
  guards?: readonly Guard[]
  GET?: PageHandler
  POST?: PageHandler
  /** What to show for an error, where it is not the body of a problem. */
  failure?: (error: unknown, visit: Visit) => Promise<PageResponse>
}

type Options = Hosting & { baseUrl: string; inFlight: InFlight; trace: Trace | null }

/** A route has the handlers of all its methods. */
const anyMethod = 'any'

/** All requests that are of no API: the pages of the console and of the authorization server, documents and scripts. */
export class Pages {
  readonly routes: PageRoute[] = []
  /** What is said where there is no page. */
  nothing: PageHandler = async ({ url }) => {
    throw nothingAt(url)
  }
  readonly #router = new Router<readonly Guard[], PageRoute>([])
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
    this.#router.addArea(path, guards)
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const { inFlight, watchers, trace } = this.#options
    const { area, routes, params, isBroken } = this.#find(request.url ?? '')
    const route = routes.get(anyMethod)
    const visit = new Visit(this.#options, request, response, { path: route?.path ?? null, params })
    inFlight.add(response, visit)
    for (const watcher of watchers) watcher.arrived()
    const respond = async (): Promise<PageResponse | null> => {
      if (inFlight.isStopping) throw stopping()
      if (visit.url.length > largest.urlBytes) throw urlTooLong()
      if (isBroken) throw brokenPath()
      return route ? guarded(route.guards ?? [], byMethod(route))(visit) : guarded(area, this.nothing)(visit)
    }
    const serve = async () => {
      const page = await respond().catch((error: unknown) => this.#failure(route, error, visit))
      if (page) sendPage(visit, page)
    }
    const answer = () => {
      serve().catch((err: unknown) => {
        visit.log.error({ reqId: visit.id, err }, 'a request failed, and what was to be said of it, too')
        response.destroy()
      })
    }
    if (trace) visit.endSpan = trace(request, visit.path ?? 'other', answer)
    else answer()
  }

  #find(url: string) {
    const destination = this.#router.find(url)
    if (!destination) throw new Error('the root is an area, so every URL is in one')
    return destination
  }

  async #failure(route: PageRoute | undefined, error: unknown, visit: Visit): Promise<PageResponse> {
    if (route?.failure) return route.failure(error, visit)
    return problemResponse(asProblem(error, visit), this.#options.baseUrl, visit.id)
  }
}

const byMethod =
  ({ GET, POST }: PageRoute): PageHandler =>
  async (visit) => {
    const { method } = visit
    const handler = method === 'POST' ? POST : method === 'GET' || method === 'HEAD' ? GET : undefined
    if (handler) return handler(visit)
    const allowed = [...(GET ? ['GET', 'HEAD'] : []), ...(POST ? ['POST'] : []), 'OPTIONS']
    if (method === 'OPTIONS') return { status: 204, headers: { allow: allowed.join(', ') } }
    throw methodNotAllowed(method, allowed)
  }
