import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { refusedLicences } from './licences.ts'
import { notesOf } from './release-notes.ts'
import { allowedSigner, isAllowedSigner, writeRelease } from './signed-release.ts'

/** Makes a release: `npm run release`. */
const usage = `Usage: npm run release -- --key <file> [--into <folder>]

Makes the release of the version in package.json: asks for its dump, freezes the contract, runs the gate, packs twice and compares, and writes the tarballs,
release notes, SHA256SUMS and its signature. Refuses when something is not committed, when release/allowed_signers does not name the key, or
when the gate fails, and writes nothing then. Publishes nothing.

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
const allowedSigners = join(root, 'release/allowed_signers')
if (!existsSync(allowedSigners))
  refuse(
    `release/allowed_signers must tell those who verify which key signs. Commit it with this line, and your public key in it:\n${allowedSigner('ssh-ed25519 AAAA…')}`,
  )
// Before all that takes long.
if (!(await isAllowedSigner(key, allowedSigners).catch(({ message }: Error) => refuse(message))))
  refuse(
    `release/allowed_signers does not name ${key}, so nobody could verify the release: sign with the key that it names, or add this one`,
  )
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
await writeRelease(key, notes, values.into).catch(({ message }: Error) => refuse(message))
say(`Masthead ${version} is in ${values.into}. Tag it: git tag --sign v${version}`)
