import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { refusedLicences } from './licences.ts'
import { pack } from './pack.ts'
import { notesOf } from './release-notes.ts'

/** Makes a release: `npm run release`. */
const usage = `Usage: npm run release -- --key <file> [--into <folder>]

Makes the release of the version in package.json: asks for its dump, runs the gate, freezes the contract, packs twice and compares, and writes the tarballs,
release notes, SHA256SUMS and its signature. Refuses when something is not committed, or when the gate fails. Publishes nothing.

  --key <file>     the SSH key that signs, or its public half when an agent has it
  --into <folder>  where to write it all (default: released)
  --help           print this
`

const root = fileURLToPath(new URL('..', import.meta.url))
const say = (text: string): boolean => process.stdout.write(`${text}\n`)

const refuse = (reason: string): never => {
  process.stderr.write(`release: ${reason}\n`)
  process.exit(1)
}

const git = async (...words: string[]): Promise<string> =>
  (await promisify(execFile)('git', words, { cwd: root })).stdout.trimEnd()

const requireClean = async (after: string): Promise<void> => {
  const changed = await git('status', '--porcelain')
  if (changed) refuse(`${after}, these files are not committed:\n${changed}`)
}

const { values } = parseArgs({
  options: {
    key: { type: 'string' },
    into: { type: 'string', default: 'released' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(usage)
  process.exit()
}
const key = values.key ?? refuse('--key must name the SSH key that signs')
const sign = (...words: string[]) =>
  spawnSync('ssh-keygen', ['-Y', 'sign', '-n', 'masthead', '-f', key, ...words], {
    ...{ input: '', stdio: ['pipe', 'ignore', 'inherit'] },
  })
// Before all that takes long.
if (sign().status !== 0) refuse(`ssh-keygen cannot sign with ${key}`)
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))

await requireClean('before the release')
const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
const notes = notesOf(changelog, version) ?? refuse(`CHANGELOG.md has no section "## ${version}"`)
if (!existsSync(join(root, `server/test/upgrades/releases/${version}.json.gz`)))
  refuse(`later releases are tried on a database of ${version}: make it by \`npm run release:dump\`, and commit it`)
if (!/^## Unreleased\s*^## /m.test(changelog))
  refuse(`CHANGELOG.md has something below "Unreleased": move it below "## ${version}"`)
const licences = refusedLicences()
if (licences.length > 0) refuse(`these licences are not on the list: ${licences.join(', ')}`)

// A later change of the API is compared with what is released now.
await copyFile(join(root, 'contract/src/openapi.json'), join(root, 'contract/released.json'))
if (await git('status', '--porcelain', '--', 'contract/released.json'))
  refuse('contract/released.json is now what this release promises: commit it, and run this again')

say('The gate runs …')
const gate = spawnSync(join(root, '.ci/run'), { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
if (gate.status !== 0) refuse('the gate failed')
await requireClean('after the gate')

say('Packing twice …')
const second = await mkdtemp(join(tmpdir(), 'masthead-release-'))
const tarballs = await pack(values.into)
const sums: string[] = []
try {
  const sumOf = async (path: string): Promise<string> =>
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
  const again = await pack(second)
  for (const [index, path] of tarballs.entries()) {
    const sum = await sumOf(path)
    if (sum !== (await sumOf(again[index] ?? ''))) refuse(`two builds of ${basename(path)} differ`)
    sums.push(`${sum}  ${basename(path)}\n`)
  }
} finally {
  await rm(second, { recursive: true, force: true })
}
await writeFile(join(values.into, 'SHA256SUMS'), sums.join(''))
await writeFile(join(values.into, 'RELEASE-NOTES.md'), notes)
await rm(join(values.into, 'SHA256SUMS.sig'), { force: true })
if (sign(join(values.into, 'SHA256SUMS')).status !== 0) refuse('SHA256SUMS could not be signed')
say(`Masthead ${version} is in ${values.into}. Tag it: git tag --sign v${version}`)
