import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import consoleManifest from '../console/package.json' with { type: 'json' }
import { type Locked, lockedPackages, nameOf, namesNeeded, resolveIn, type Tree } from './locked-packages.ts'

type Manifest = Locked & { name: string; description: string; license: string }

/** What the package with this manifest is made of, as CycloneDX 1.6: what npm installs for it, and what is compiled into the console. */
export const sbomOf = async (manifest: Manifest) => {
  const { name, version, description, license } = manifest
  const installed = lockedPackages('server')
  const compiledIn = lockedPackages('console')
  const trees = [installed, compiledIn]
  const components = new Map(
    trees.flatMap((tree) => Object.entries(tree)).map(([path, locked]) => component(path, locked)),
  )
  const dependencies = new Map(trees.flatMap((tree) => Object.keys(tree).map((path) => edges(tree, path))))
  const root = purl(name, version)
  const direct = [...usedBy(manifest, '', installed), ...usedBy(consoleManifest, '', compiledIn)]
  const content = {
    metadata: {
      ...(await timestamp()),
      component: { type: 'application', 'bom-ref': root, name, version, description, purl: root, ...licenses(license) },
    },
    components: sorted(components),
    dependencies: [{ ref: root, dependsOn: [...new Set(direct)].sort() }, ...sorted(dependencies)],
  }
  // The same content has the same number.
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const serialNumber = `urn:uuid:${digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5')}`
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, ...content }
}

const sorted = <T>(map: Map<string, T>): T[] =>
  [...map].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value)

const purl = (name: string, version: string): string => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`

const refOf = (tree: Tree, path: string): string => purl(nameOf(path), tree[path]?.version ?? '')

const component = (path: string, { version, integrity = '', license = '', optional }: Locked) => {
  const [, group, name = nameOf(path)] = /^(@[^/]+)\/(.+)$/.exec(nameOf(path)) ?? []
  const ref = purl(nameOf(path), version)
  const digest = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
  return [
    ref,
    {
      type: 'library',
      'bom-ref': ref,
      ...(group && { group }),
      name,
      version,
      purl: ref,
      scope: optional ? 'optional' : 'required',
      hashes: [{ alg: 'SHA-512', content: digest }],
      ...licenses(license),
    },
  ] as const
}

const licenses = (license: string) => ({
  licenses: [/ /.test(license) ? { expression: license } : { license: { id: license } }],
})

const edges = (tree: Tree, path: string) => {
  const ref = refOf(tree, path)
  return [ref, { ref, dependsOn: usedBy(tree[path] ?? { version: '' }, path, tree) }] as const
}

/** What the package at the path finds of what it needs. The contract, which is our own, is not in the tree. */
const usedBy = (needing: Locked, path: string, tree: Tree): string[] =>
  namesNeeded(needing)
    .flatMap((name) => resolveIn(tree, path, name) ?? [])
    .map((one) => refOf(tree, one))
    .sort()

/** The time of the commit, because that of the build would differ between two builds. */
const timestamp = async (): Promise<{ timestamp?: string }> => {
  const { stdout } = await promisify(execFile)('git', ['log', '-1', '--format=%ct'], {
    cwd: import.meta.dirname,
  }).catch(() => ({ stdout: '' }))
  const seconds = process.env.SOURCE_DATE_EPOCH ?? stdout.trim()
  return seconds ? { timestamp: new Date(Number(seconds) * 1_000).toISOString() } : {}
}
