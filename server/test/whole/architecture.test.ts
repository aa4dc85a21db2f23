import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { changes, exportJobs, managementResources, type Resource, resources } from '@masthead/contract'

/** The rules of the house, by the text of its files. */
type Source = { path: string; code: string; imports: string[] }

const root = fileURLToPath(new URL('../../..', import.meta.url))

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|[\s;{(,])\/\/.*$/gm, '$1')

/** Packages by their names, files by their paths from the root; a computed path keeps its braces. */
const importsOf = (path: string, code: string): string[] =>
  [...code.matchAll(/(?:\bfrom\s*|(?<!['"`])\bimport\s*\(?\s*)(['"`])([^'"`\n]+)\1/g)].map(([, , target = '']) =>
    target.startsWith('.') ? join(dirname(path), target) : target,
  )

const read = (path: string): Source => {
  const code = withoutComments(readFileSync(join(root, path), 'utf8'))
  return { path, code, imports: importsOf(path, code) }
}

const isOurs = (path: string): boolean => !path.split('/').some((part) => part === 'node_modules' || part === 'dist')
const packages: string[] = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).workspaces
const sources = [...packages, 'release', 'tools'].flatMap((name) =>
  readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
    .map((file) => join(name, file))
    .filter((path) => isOurs(path) && /\.(ts|tsx|js|mjs)$/.test(path))
    .map(read),
)
const isTest = ({ path }: Source): boolean => /\.test\.tsx?$|^\w+\/(test|e2e)\/|\.e2e\.ts$/.test(path)
const product = sources.filter((source) => !isTest(source))
const below = (folder: string): Source[] => product.filter(({ path }) => path.startsWith(folder))

/** Fails with the names of the files that break a rule, and what in them does. */
const assertNone = (among: readonly Source[], breaches: (source: Source) => readonly string[]): void => {
  assert.ok(among.length > 0, 'there is nothing to look at')
  const found = among.flatMap((source) => breaches(source).map((breach) => `${source.path}: ${breach}`))
  assert.deepEqual(found, [])
}
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([match]) => match.trim())

test('contract imports only the schema library', () => {
  const others = ({ imports }: Source) => imports.filter((target) => !/^(typebox($|\/)|contract\/src\/)/.test(target))
  assertNone(below('contract/src/'), others)
})

test('nobody imports server, but tests that call it', () => {
  const others = product.filter(({ path }) => !path.startsWith('server/'))
  assertNone(others, ({ imports }) => imports.filter((target) => /^(server\/|masthead(\/|$))/.test(target)))
})

test('the client imports nothing but its own files', () => {
  assertNone(below('client/src/'), ({ imports }) => imports.filter((target) => !target.startsWith('client/src/')))
})

test('the server imports only what production installs', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8'))
  const installed = [...Object.keys(dependencies), '@masthead/contract']
  const isInstalled = (target: string) => installed.some((name) => target === name || target.startsWith(`${name}/`))
  // Sentences, too, hold words that look like an import.
  const isPackage = (target: string) => /^(?!server\/)(@[\w-]+\/)?[a-z][\w.-]*(\/[\w./-]+)?$/.test(target)
  assertNone(below('server/src/'), ({ imports }) =>
    imports.filter((target) => isPackage(target) && !isInstalled(target)),
  )
})

test('every package is under the licence of the house', () => {
  assert.match(readFileSync(join(root, 'LICENSE'), 'utf8'), /Apache License\s+Version 2\.0, January 2004/)
  for (const name of ['.', ...packages])
    assert.equal(JSON.parse(readFileSync(join(root, name, 'package.json'), 'utf8')).license, 'Apache-2.0', name)
})

test('every package has the version of the root, which `npm version` gives all of them', () => {
  const versionOf = (name: string) => JSON.parse(readFileSync(join(root, name, 'package.json'), 'utf8')).version
  assert.deepEqual(
    packages.filter((name) => versionOf(name) !== versionOf('.')),
    [],
  )
})

type Locked = { integrity?: string; link?: boolean; optionalDependencies?: Record<string, string> }
const locks = ['.', 'tools', 'bench/peers'].map((folder): Record<string, Locked> => {
  const text = readFileSync(join(root, folder, 'package-lock.json'), 'utf8')
  return JSON.parse(text).packages
})

test('what is installed for one processor is in the lock file for all', () => {
  // npm leaves out what the registry lacks at the moment, and says nothing.
  const missing = locks.flatMap((packages) =>
    Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) =>
          ![path, ...parentsOf(path)].some(
            (place) => [place, 'node_modules', name].filter(Boolean).join('/') in packages,
          ),
      ),
    ),
  )
  assert.deepEqual(missing, [])
})

test('the lock files hold a checksum of everything that is installed', () => {
  const unchecked = locks.flatMap((packages) =>
    Object.entries(packages).filter(
      ([path, { integrity, link }]) => path.includes('node_modules/') && !link && !/^sha512-/.test(integrity ?? ''),
    ),
  )
  assert.deepEqual(unchecked, [])
})

/** The packages, the outermost last, among whose dependencies one is looked for. */
const parentsOf = (path: string): string[] => {
  const at = path.lastIndexOf('/node_modules/')
  return at < 0 ? [''] : [path.slice(0, at), ...parentsOf(path.slice(0, at))]
}

test('http names no resource', () => {
  const names = Object.values<Resource>(resources).flatMap(({ name, singular }) => [name, singular])
  const named = new RegExp(`(?<![a-z])(${names.join('|')})(?![a-z])`, 'gi')
  assertNone(below('server/src/http/'), ({ code, imports }) => [
    ...matches(code, named),
    ...imports.filter((target) => target.startsWith('server/src/resources')),
  ])
})

for (const [what, home, all] of [
  ['a resource', 'server/src/resources', Object.values<Resource>({ ...resources, changes, exportJobs })],
  ['a management resource', 'server/src/management', Object.values<Resource>(managementResources)],
] as const) {
  describe(what, () => {
    const files = below(`${home}/`)
    const folderOf = (path: string) => /^[^/]+\/[^/]+\/[^/]+\/([^/]+)\//.exec(path)?.[1]

    test('imports nothing of http', () => {
      assertNone(files, ({ imports }) => imports.filter((target) => target.startsWith('server/src/http/')))
    })

    test('imports no sibling', () => {
      const isSibling = (path: string, target: string) =>
        target.startsWith(`${home}/`) && folderOf(target) !== undefined && folderOf(target) !== folderOf(path)
      assertNone(files, ({ path, imports }) => imports.filter((target) => isSibling(path, target)))
    })

    test('has a folder of its name with handlers, and there is no other folder', () => {
      const handlers = files.filter(({ path }) => path.endsWith('/handlers.ts')).map(({ path }) => folderOf(path))
      assert.deepEqual(handlers.sort(), all.map(({ name }) => name).sort())
      const folders = readdirSync(join(root, home), { withFileTypes: true }).filter((entry) => entry.isDirectory())
      assert.deepEqual(folders.map(({ name }) => name).sort(), handlers)
    })
  })
}

test('only one place tells where a request came from', () => {
  const others = below('server/src/').filter(({ path }) => !/^server\/src\/(app|caller-address)\.ts$/.test(path))
  assertNone(others, ({ code }) => matches(code, /remoteAddress|x-forwarded-for/gi))
})

test('only config.ts reads the environment', () => {
  const others = below('server/src/').filter(({ path }) => path !== 'server/src/config.ts')
  assertNone(others, ({ code }) => matches(code, /process\s*\.\s*env\b|\benv\b.*from 'node:process'/g))
})

test('SQL stands only in queries, records, identity, transfer, database and adapters', () => {
  const sql =
    /\b(select\s+[\w*(][^`'"]*\sfrom\s+\w|select\s+1\b|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s)/gi
  const home = /^server\/src\/(records|identity|transfer|database)\/|\/queries\.ts$|\badapter\.ts$/
  const [inside, outside] = [true, false].map((wanted) =>
    product.filter(({ path }) => home.test(path) === wanted && !path.startsWith('bench/')),
  )
  assert.ok(
    inside?.some(({ code }) => matches(code, sql).length > 0),
    'the pattern finds no SQL at all',
  )
  assertNone(outside ?? [], ({ code }) => matches(code, sql))
})

test('migrations are numbered one after the other: the version of a schema is how many it has', () => {
  const files = readdirSync(join(root, 'server/src/database/schema/migrations')).sort()
  assert.deepEqual(
    files.map((name) => /^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1]),
    files.map((_name, index) => String(index + 1).padStart(4, '0')),
  )
})

const cyclesIn = (imports: ReadonlyMap<string, Iterable<string>>): string[] => {
  const done = new Set<string>()
  const cyclesFrom = (path: string, trail: string[]): string[] => {
    if (trail.includes(path)) return [[...trail.slice(trail.indexOf(path)), path].join(' → ')]
    if (done.has(path)) return []
    const found = [...(imports.get(path) ?? [])].flatMap((target) => cyclesFrom(target, [...trail, path]))
    done.add(path)
    return found
  }
  return [...imports.keys()].flatMap((path) => cyclesFrom(path, []))
}

test('no file imports itself through others', () => {
  const imports = new Map(sources.map((source) => [source.path, source.imports]))
  assert.ok(imports.get('server/src/commands/program.ts')?.includes('server/src/commands/serve.ts'))
  assert.deepEqual(cyclesIn(imports), [])
})

test('no folder imports itself through the folders beside it', () => {
  const imports = new Map<string, Set<string>>()
  for (const { path, imports: targets } of product)
    for (const target of targets) {
      const [own, others] = [path.split('/'), target.split('/')]
      const depth = own.findIndex((part, at) => part !== others[at]) + 1
      if (depth === 0 || depth >= Math.min(own.length, others.length)) continue
      const [from, to] = [own, others].map((parts) => parts.slice(0, depth).join('/')) as [string, string] // of both
      imports.set(from, (imports.get(from) ?? new Set()).add(to))
    }
  assert.ok(imports.get('server/src/http')?.has('server/src/identity'))
  assert.deepEqual(cyclesIn(imports), [])
})

test('whatever a test gets from a service is held against the OpenAPI document', () => {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const reached = (path: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(path)) return seen
    seen.add(path)
    for (const target of byPath.get(path)?.imports ?? []) reached(target, seen)
    return seen
  }
  const [starting, judging] = ['server/src/app.ts', 'server/test/requests/judged-responses.ts']
  const tests = sources.filter(({ path }) => path.endsWith('.test.ts'))
  const callers = tests.filter(({ path, code }) => reached(path).has(starting) || /\bfetch\(/.test(code))
  assertNone(callers, ({ path }) => (reached(path).has(judging) ? [] : [`does not import ${judging}`]))
})

test('every test file is run once, by itself or with its folder', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const patterns = [...scripts.test.matchAll(/"([^"]+)"/g)].map(([, pattern = '']) => pattern)
  const started = globSync(patterns, { cwd: root }).filter(isOurs)
  const joined = started.flatMap((path) =>
    [...read(path).code.matchAll(/runFolder\(new URL\('([^']+)'/g)].flatMap(([, folder = '']) =>
      globSync('**/*.{test,e2e}.ts', { cwd: join(root, dirname(path), folder) }).map((file) =>
        join(dirname(path), folder, file),
      ),
    ),
  )
  const tests = sources.map(({ path }) => path).filter((path) => /\.(test|e2e)\.ts$/.test(path))
  assert.deepEqual([...started, ...joined].sort(), tests.sort())
})

test('nothing is exported by default', () => {
  const allowed = /\.config\.ts$/
  const others = sources.filter(({ path }) => !allowed.test(path))
  assertNone(others, ({ code }) => matches(code, /^export default\b|\bas default\b/gm))
})

test('only what a package exports passes on the exports of others', () => {
  const entries = /^(\w+\/src\/index|client\/src\/management)\.ts$/
  const others = sources.filter(({ path }) => !entries.test(path))
  assertNone(others, ({ code }) => matches(code, /^export\s+(type\s+)?(\*|\{[^}]*\})[^'"]*?\sfrom\s.*$/gm))
})

test('no literal is spread into another: its members stand there by themselves', () => {
  const spread = /\.\.\.\{.*|^\s*\.\.\.\[[^[\]]*\],?$/gm
  assert.equal(
    matches('{ ...{ a: 1 } }\n<Item {...{ a }} />\n...{\n...[1, 2],\n...[1].map(a),\n...rest', spread).length,
    4,
  )
  // A list may be spread that a method makes of an array.
  assertNone(
    sources.filter(({ path }) => path !== 'server/test/whole/architecture.test.ts'),
    ({ code }) => matches(code, spread),
  )
})

test('files are kebab-case nouns, and none is a drawer for leftovers', () => {
  const leftovers = /^(utils?|helpers?|common|misc|types)\b/
  assertNone(sources, ({ path }) =>
    path.split('/').filter((part) => leftovers.test(part) || !/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(part)),
  )
})
