import { nearestName } from '../../nearest-name.ts'

/** What the paths below one segment lead to. */
type Branch<Area, Route> = {
  segments: Map<string, Branch<Area, Route>>
  /** Any other segment is the value of this parameter. */
  parameter: { name: string; branch: Branch<Area, Route> } | null
  /** What begins here: an API at its base path, or what answers where there is no page. */
  area: Area | null
  routes: Map<string, Route>
  isPage: boolean
}

/** Where a URL leads to below the base path of an area. */
export type Destination<Area, Route> = {
  area: Area
  /** By method; none where there is no such path. */
  routes: ReadonlyMap<string, Route>
  params: Readonly<Record<string, string>>
  /** The path cannot be decoded. */
  isBroken: boolean
  /** The path that was probably meant, where there is nothing. */
  meant?: () => string | null
}

const newBranch = <Area, Route>(): Branch<Area, Route> => ({
  segments: new Map(),
  parameter: null,
  area: null,
  routes: new Map(),
  isPage: false,
})

/** Paths as a tree. A segment that is named goes before a parameter. */
export class Router<Area, Route> {
  readonly #root = newBranch<Area, Route>()

  /** `pages` are paths below a base path that are no part of its area. */
  constructor(pages: readonly string[]) {
    for (const path of pages) this.#branchAt(path).isPage = true
  }

  addArea(basePath: string, area: Area): void {
    this.#branchAt(basePath).area = area
  }

  addRoute(path: string, method: string, route: Route): void {
    this.#branchAt(path).routes.set(method, route)
  }

  /** Null where the URL is below no base path. */
  find(url: string): Destination<Area, Route> | null {
    const end = endOfPath(url)
    const params: Record<string, string> = {}
    let branch = this.#root
    let area = branch.area
    for (let from = startOfPath(url) + 1; from <= end; ) {
      const slash = url.indexOf('/', from)
      const to = slash < 0 || slash > end ? end : slash
      const segment = decoded(url.slice(from, to))
      const named = segment === null ? undefined : branch.segments.get(segment)
      // Nothing is named by an empty text: a slash at the end is too much.
      const next = named ?? (segment ? branch.parameter?.branch : undefined)
      if (segment === null || !next)
        return (
          area && {
            area,
            routes: new Map(),
            params,
            isBroken: decoded(url.slice(from, end)) === null,
            meant: () => this.#meant(url),
          }
        )
      if (!named && branch.parameter) params[branch.parameter.name] = segment
      branch = next
      area = branch.area ?? area
      from = to + 1
    }
    return area && !branch.isPage ? { area, routes: branch.routes, params, isBroken: false } : null
  }

  /** The path without slashes that are too many, with the names that are nearest to those that it has. */
  #meant(url: string): string | null {
    let path = ''
    let branch = this.#root
    for (const segment of url.slice(startOfPath(url), endOfPath(url)).split('/').filter(Boolean)) {
      const name = branch.segments.has(segment) ? segment : nearestName(segment, [...branch.segments.keys()])
      const next = (name !== null && branch.segments.get(name)) || branch.parameter?.branch
      if (!next) return null
      path += `/${next === branch.parameter?.branch ? segment : name}`
      branch = next
    }
    return branch.routes.size > 0 ? path : null
  }

  #branchAt(path: string): Branch<Area, Route> {
    let branch = this.#root
    for (const segment of path.split('/').slice(1)) {
      const [, name] = /^\{(\w+)\}$/.exec(segment) ?? []
      const known = name === undefined ? branch.segments.get(segment) : branch.parameter?.branch
      const next = known ?? newBranch<Area, Route>()
      if (name === undefined) branch.segments.set(segment, next)
      else if (branch.parameter && branch.parameter.name !== name)
        throw new Error(`two names for one parameter: ${path}`)
      else branch.parameter = { name, branch: next }
      branch = next
    }
    return branch
  }
}

/** RFC 9112 §3.2.2: "a server MUST accept the absolute-form in requests", whose host the caller may choose. */
const startOfPath = (url: string): number => {
  if (url.startsWith('/')) return 0
  const [origin = ''] = /^https?:\/\/[^/?#]*/i.exec(url) ?? []
  return origin.length
}

const endOfPath = (url: string): number => {
  const query = url.indexOf('?')
  const fragment = url.indexOf('#')
  if (query < 0 && fragment < 0) return url.length
  return query < 0 || (fragment >= 0 && fragment < query) ? fragment : query
}

const decoded = (segment: string): string | null => {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
