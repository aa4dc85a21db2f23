import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { allowedSigner } from '../signed-release.ts'

/** `npm run release` in a repository of its own, made of the files as they are here and ready for a release up to the gate. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const home = await mkdtemp(join(tmpdir(), 'masthead-refusals-'))
after(() => rm(home, { recursive: true, force: true }))
const clone = join(home, 'clone')
const [key, strange] = [join(home, 'key'), join(home, 'strange')]
const inClone = (path: string): string => join(clone, path)

const person = { NAME: 'Test', EMAIL: 'test@masthead.example' }
const names = Object.entries(person).flatMap(([name, value]) =>
  ['AUTHOR', 'COMMITTER'].map((role) => [`GIT_${role}_${name}`, value]),
)
const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1', ...Object.fromEntries(names) }
const run = (program: string, ...words: string[]) => promisify(execFile)(program, words, { cwd: clone, env })
const commit = async (): Promise<void> => {
  await run('git', 'add', '--all')
  await run('git', 'commit', '--quiet', '--message', 'Change')
}
const clean = () => run('git', 'clean', '--quiet', '--force', '-d', '-x')

/** The commit that lacks nothing but the gate. */
let ready = ''

/** Why it refuses; it has made nothing then. The change is undone. */
const refusal = async (signer = key): Promise<string> => {
  const { stdout: changed } = await run('git', 'status', '--porcelain')
  const { code, stderr } = await run(process.execPath, 'release/release.ts', '--key', signer).catch((error) => error)
  assert.equal(code, 1)
  const { stdout: left } = await run('git', 'status', '--porcelain', '--ignored')
  const { stdout: tags } = await run('git', 'tag')
  assert.deepEqual([left, tags], [changed, ''])
  await run('git', 'reset', '--quiet', '--hard', ready)
  await clean()
  return stderr
}

const hasKeys = spawnSync('ssh-keygen', ['-?']).error === undefined

describe('a release is refused', { skip: hasKeys ? false : 'ssh-keygen is not installed' }, () => {
  before(async () => {
    const listed = await promisify(execFile)('git', ['ls-files', '-z'], { cwd: root })
    const isThere = (path: string) => path !== '' && existsSync(join(root, path))
    for (const path of listed.stdout.split('\0').filter(isThere)) await cp(join(root, path), inClone(path))
    for (const path of [key, strange]) await run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', path)
    await writeFile(inClone('release/allowed_signers'), `${allowedSigner(await readFile(`${key}.pub`, 'utf8'))}\n`)
    const changelog = await readFile(inClone('CHANGELOG.md'), 'utf8')
    await writeFile(inClone('CHANGELOG.md'), changelog.replace(/^## Unreleased$.*?^## /ms, '## Unreleased\n\n## '))
    await copyFile(inClone('contract/src/openapi.json'), inClone('contract/released.json'))
    const { version } = JSON.parse(await readFile(inClone('package.json'), 'utf8'))
    await writeFile(inClone(`server/test/upgrades/releases/${version}.json.gz`), '', { flag: 'a' })
    await run('git', 'init', '--quiet')
    await commit()
    await clean()
    ready = (await run('git', 'rev-parse', 'HEAD')).stdout.trim()
  })

  test('without a key that release/allowed_signers names', async () => {
    assert.match(await refusal(join(home, 'none')), /^release: ssh-keygen cannot sign with .*none$/m)
    assert.match(await refusal(strange), /^release: release\/allowed_signers does not name .*strange/m)
    await rm(inClone('release/allowed_signers'))
    assert.match(
      await refusal(),
      /^release: release\/allowed_signers must tell .*\n.* namespaces="masthead" ssh-ed25519/,
    )
  })

  test('while something is not committed', async () => {
    await writeFile(inClone('new.ts'), '')
    assert.equal(await refusal(), 'release: before the release, these files are not committed:\n?? new.ts\n')
  })

  test('while the changelog has something below "Unreleased"', async () => {
    const text = await readFile(inClone('CHANGELOG.md'), 'utf8')
    await writeFile(inClone('CHANGELOG.md'), text.replace('## Unreleased\n', '## Unreleased\n\n- Something.\n'))
    await commit()
    assert.match(await refusal(), /^release: CHANGELOG\.md has something below "Unreleased"/)
  })

  test('when the gate fails', async () => {
    await writeFile(inClone('.ci/run'), '#!/bin/sh\necho "a test failed" >&2\nexit 1\n')
    await commit()
    assert.equal(await refusal(), 'a test failed\nrelease: the gate failed\n')
  })
})
