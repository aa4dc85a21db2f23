import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** A package as a lock file describes it. */
export type Locked = {
  version: string
  integrity?: string
  license?: string
  optional?: boolean
  os?: string | string[]
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}
export type Tree = Record<string, Locked>
/** With its place in the repository. */
type Placed = Locked & { origin: string }

/** Their script is complete in itself, and what npm installs with them is for another use. */
const complete = new Set(['@scalar/fastify-api-reference'])

const { join } = posix
const lock: Tree = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')).packages

/**
 * What is installed for a workspace, by its path below the workspace: the packages of the lock file that production needs, laid out as if
 * the workspace stood alone. What the first dependency needs is at the top; a second version of a package lies below its user.
 */
export const lockedPackages = (workspace: string): Record<string, Placed> => {
  const tree: Record<string, Placed> = {}

  const place = (user: string, name: string, origin: string): string | undefined => {
    const found = resolveIn(tree, user, name)
    if (found !== undefined && at(found, tree).integrity === at(origin).integrity) return undefined
    const path = found === undefined ? `node_modules/${name}` : join(user, 'node_modules', name)
    tree[path] = { ...at(origin), origin }
    return path
  }

  let users: { path: string; origin: string }[] = [{ path: '', origin: workspace }]
  while (users.length > 0) {
    users = users.flatMap(({ path, origin }) =>
      (complete.has(nameOf(origin)) ? [] : namesNeeded(at(origin))).flatMap((name) => {
        const needed = resolveIn(lock, origin, name)
        if (needed === undefined) throw new Error(`package-lock.json lacks ${name}, which ${origin} needs`)
        const placed = place(path, name, needed)
        return placed === undefined ? [] : [{ path: placed, origin: needed }]
      }),
    )
  }
  const required = requiredOf(tree, at(workspace))
  for (const [path, placed] of Object.entries(tree)) placed.optional = !required.has(path)
  return Object.fromEntries(Object.entries(tree).sort(([one], [other]) => (one < other ? -1 : 1)))
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Where a package finds another: beside itself, or beside those that it lies in. */
export const resolveIn = (tree: Tree, user: string, name: string): string | undefined =>
  placesAround(user)
    .map((path) => join(path, 'node_modules', name))
    .find((path) => path in tree)

export const namesNeeded = ({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Locked) => {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional)
  return [...new Set([...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {}), ...peers])].sort()
}

const at = (path: string, tree = lock): Locked => {
  const found = tree[path]
  if (!found) throw new Error(`package-lock.json lacks ${path}`)
  return found
}

/** `node_modules/a/node_modules/b` lies in `node_modules/a`, which lies in ``, and so does the workspace `server`. */
const placesAround = (path: string): string[] => {
  if (path === '') return ['']
  const at = path.lastIndexOf('/node_modules/')
  return [path, ...placesAround(at < 0 ? '' : path.slice(0, at))]
}

/** What is needed even where nothing optional is installed. */
const requiredOf = (tree: Tree, root: Locked): Set<string> => {
  const required = new Set<string>()
  const walk = (user: string, { optionalDependencies = {}, ...needing }: Locked): void => {
    for (const name of namesNeeded(needing)) {
      const path = resolveIn(tree, user, name)
      // npm lists optional dependencies among the others, too.
      if (path === undefined || required.has(path) || name in optionalDependencies) continue
      required.add(path)
      walk(path, at(path, tree))
    }
  }
  walk('', root)
  return required
}
