import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, cp, glob, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { licenceTexts } from './licences.ts'
import { lockedPackages } from './locked-packages.ts'
import { sbomOf } from './sbom.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)
const readJson = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'))
const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Builds and packs Masthead and its client into a folder, and returns the paths of the tarballs. The same sources give the same bytes. */
export const pack = async (destination: string): Promise<string[]> => {
  await run('npm', ['run', 'build'], { cwd: root })
  await copyFile(join(root, 'LICENSE'), join(root, 'client/LICENSE'))
  await fixModes(join(root, 'client/dist'))
  return [await packServer(destination), await packFolder(join(root, 'client'), destination)]
}

/**
 * Packs what is built. The package has the layout of the repository, compiled to JavaScript, because Node strips no types below
 * node_modules.
 */
export const packServer = async (destination: string): Promise<string> => {
  const staging = await mkdtemp(join(tmpdir(), 'masthead-pack-'))
  try {
    await stage(staging)
    return await packFolder(staging, destination)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

const packFolder = async (folder: string, destination: string): Promise<string> => {
  await mkdir(destination, { recursive: true })
  const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', resolve(destination)]
  const { stdout } = await run('npm', words, { cwd: folder })
  return join(resolve(destination), stdout.trim())
}

const stage = async (staging: string): Promise<void> => {
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', 'release/tsconfig.build.json', '--outDir', staging], {
    cwd: root,
  })
  for await (const path of glob('server/src/**/*.{sql,css}', { cwd: root })) await copy(staging, path)
  for (const path of ['console/dist', 'client/dist', 'client/README.md', 'docs']) await copy(staging, path)
  for (const path of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE']) await copy(staging, path)
  await stageContract(staging)
  await withoutDeadLinks(staging)

  const { version, description, license, engines } = await readJson('package.json')
  const { type, dependencies, optionalDependencies } = await readJson('server/package.json')
  const contract = '@masthead/contract'
  const manifest = {
    name: 'masthead',
    version,
    description,
    license,
    type,
    engines,
    bin: { masthead: 'server/src/main.js' },
    exports: {
      './client': { types: './client/dist/index.d.ts', default: './client/dist/index.js' },
      './package.json': './package.json',
    },
    dependencies: { [contract]: version, ...dependencies },
    optionalDependencies,
    // What is signed is what runs: only what differs by platform is left to npm, in exactly this version.
    bundleDependencies: [contract, ...Object.keys(dependencies)],
  }
  const write = (path: string, value: unknown) => writeFile(join(staging, path), toJson(value))
  await write('package.json', manifest)
  // version.ts and cluster.ts read it.
  await write('server/package.json', { version, type, optionalDependencies })

  await stageDependencies(staging)
  await write('sbom.cdx.json', await sbomOf(manifest))
  await writeFile(join(staging, 'THIRD-PARTY-LICENSES'), await licenceTexts())
  await fixModes(staging)
}

const copy = async (staging: string, path: string): Promise<void> => {
  await mkdir(dirname(join(staging, path)), { recursive: true })
  await cp(join(root, path), join(staging, path), { recursive: true })
}

/** A link of a document, with its text and where it leads. */
const link = /(?<!!)\[([^\]]+)\]\(([^)\s]+)\)/g

/** Documents also link to files that only a clone has. In the package such a link is its text. */
const withoutDeadLinks = async (staging: string): Promise<void> => {
  for await (const path of glob('{*,client/*,docs/**/*}.md', { cwd: staging })) {
    const file = join(staging, path)
    const leadsNowhere = (target: string): boolean =>
      !/^(#|[a-z]+:)/.test(target) && !existsSync(join(dirname(file), target.replace(/#.*/, '')))
    const text = await readFile(file, 'utf8')
    await writeFile(
      file,
      text.replace(link, (whole, name, target) => (leadsNowhere(target) ? name : whole)),
    )
  }
}

/** The contract is nobody's dependency but Masthead's, so it comes inside. */
const stageContract = async (staging: string): Promise<void> => {
  const folder = join(staging, 'node_modules/@masthead')
  await mkdir(folder, { recursive: true })
  await rename(join(staging, 'contract'), join(folder, 'contract'))
  const { name, version, license, type, exports, dependencies } = await readJson('contract/package.json')
  const compiled = Object.entries<string>(exports).map(([key, path]) => [key, path.replace(/\.ts$/, '.js')])
  const manifest = { name, version, license, type, exports: Object.fromEntries(compiled), dependencies }
  await writeFile(join(folder, 'contract/package.json'), toJson(manifest))
}

/** Types and source maps are half of the files, and nobody compiles against the packages or debugs them. */
const isOfUse = (path: string): boolean => !/\.(map|d\.[cm]?ts)$|\/node_modules$/.test(path)

const stageDependencies = async (staging: string): Promise<void> => {
  for (const [path, { origin, os }] of Object.entries(lockedPackages('server')))
    if (!os) await cp(join(root, origin), join(staging, path), { recursive: true, filter: isOfUse })
}

/** The modes of a checkout depend on the umask of who made it. */
const fixModes = async (staging: string): Promise<void> => {
  for (const entry of await readdir(staging, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() || entry.name === 'main.js' ? 0o755 : 0o644)
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { destination: { type: 'string', default: '.' } } })
  for (const path of await pack(values.destination)) process.stdout.write(`${path}\n`)
}
