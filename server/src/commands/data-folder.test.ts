import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Outcome, runMasthead } from '../../test/processes/masthead-process.ts'

const main = fileURLToPath(new URL('../main.js', import.meta.url))
const isRoot = process.getuid?.() === 0
const nobody = 65_534

/** Runs a command as a user whom permissions bind: root has all of them. */
const runUnprivileged = (args: readonly string[], environment: Record<string, string>): Promise<Outcome> => {
  if (!isRoot) return runMasthead(args, environment)
  const as = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', process.execPath, main]
  return new Promise((resolve) => {
    execFile(
      'setpriv',
      [...as, ...args],
      { env: { PATH: process.env.PATH, ...environment } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}
const cannotBeOther =
  process.platform === 'win32' || (isRoot && (await runUnprivileged(['--version'], {})).code !== 0)
    ? 'no other user can run this program'
    : false

describe('a data folder that cannot be used', () => {
  let home: string
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'masthead-folder-'))
    await chmod(home, 0o755)
  })
  after(() => rm(home, { recursive: true, force: true }))

  /** `status`, `upgrade check` and `doctor` say the same of it, and so does the start. */
  const assertTold = async (data: string, found: RegExp, todo: RegExp, run = runMasthead) => {
    const environment = { MASTHEAD_DATA_DIR: data, PORT: '1' }
    const status = JSON.parse((await run(['status', '--json'], environment)).stdout)
    assert.match(status.database.trouble, new RegExp(`${found.source}: ${todo.source}`))
    const check = await run(['upgrade', 'check'], environment)
    assert.deepEqual([check.code, check.stderr], [1, ''])
    assert.match(check.stdout, new RegExp(`^Blocked: .*${found.source}\n {2}${todo.source}.*\n$`))
    const doctor = await run(['doctor', '--json'], environment)
    const findings: { check: string; status: string; found: string }[] = JSON.parse(doctor.stdout).findings
    const database = findings.find((finding) => finding.check === 'database')
    assert.equal(database?.status, 'failure')
    assert.match(database?.found ?? '', found)
    const start = await run(['serve'], environment)
    assert.deepEqual([start.code, start.stdout], [1, ''])
    assert.match(start.stderr, new RegExp(`^masthead: .*${found.source}: ${todo.source}.*\n$`))
  }

  test('because it is a file, or lies below one, is told as that', async () => {
    const file = join(home, 'file')
    await writeFile(file, '')
    await assertTold(file, /file is a file, not a folder/, /choose another folder by --data-dir/)
    const below = join(file, 'below/it')
    await assertTold(below, /it cannot be made, because \S+file is a file, not a folder/, /choose another folder/)
  })

  test('because it belongs to another user names that user and how to act as it', { skip: cannotBeOther }, async () => {
    await assertTold(
      '/masthead-none',
      /\/masthead-none cannot be made, because \/ belongs to another user \(root\)/,
      /run this command as that user \(`sudo --preserve-env=MASTHEAD_DATA_DIR masthead …`\), or choose/,
      runUnprivileged,
    )
  })

  test('because its owner may not write to it says how that is allowed', { skip: cannotBeOther }, async () => {
    const own = join(home, 'own')
    await mkdir(own)
    if (isRoot) await chown(own, nobody, nobody)
    await chmod(own, 0o500)
    await assertTold(
      own,
      /own does not let its owner read and write it/,
      /run `chmod u\+rwx '\S+own'`/,
      runUnprivileged,
    )
  })

  test('because it lies in a folder that hides it is not taken for missing', {
    skip: isRoot ? cannotBeOther : 'only root makes a folder of another user',
  }, async () => {
    const hidden = join(home, 'hidden')
    await mkdir(join(hidden, 'data'), { recursive: true })
    await chmod(hidden, 0o700)
    await assertTold(
      join(hidden, 'data'),
      /data cannot be reached, because \S+hidden belongs to another user \(root\)/,
      /run this command as that user/,
      runUnprivileged,
    )
  })

  test('because it or its PostgreSQL is a link to what is not there says so', async () => {
    const link = join(home, 'link')
    await symlink(join(home, 'not-mounted'), link)
    await assertTold(link, /link is a link to \S+not-mounted, which is not there/, /mount what it leads to, or choose/)
    const data = join(home, 'linking')
    await mkdir(data)
    await symlink(join(home, 'not-mounted'), join(data, 'postgres'))
    await assertTold(
      data,
      /postgres is a link to \S+not-mounted, which is not there/,
      /mount what it leads to, or choose/,
    )
  })

  test('and is not there is not the one that is served', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
    after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // it listens on a port
    await writeFile(join(home, 'plain'), '')
    const environment = { MASTHEAD_DATA_DIR: join(home, 'plain/data'), HOST: '127.0.0.1', PORT: String(port) }
    assert.match((await runMasthead(['status'], environment)).stdout, /plain\/data: not the one that is served\n/)
  })

  test('because its PostgreSQL is damaged, or was never one, leads to a backup', async () => {
    const damaged = join(home, 'damaged')
    await mkdir(join(damaged, 'postgres'), { recursive: true })
    await writeFile(join(damaged, 'postgres/PG_VERSION'), 'junk\n')
    await assertTold(
      damaged,
      /PG_VERSION is damaged: it holds no version of PostgreSQL/,
      /restore a backup into an empty/,
    )
    const other = join(home, 'other')
    await mkdir(join(other, 'postgres/things'), { recursive: true })
    await assertTold(other, /is no data folder of PostgreSQL: it has no file PG_VERSION/, /choose another folder/)
  })

  test('because the system makes no folder there ends the start at once', {
    skip: process.platform !== 'linux',
  }, async () => {
    for (const data of ['/proc/masthead', '/proc/masthead/data']) {
      const { code, stderr } = await runMasthead(['serve'], { MASTHEAD_DATA_DIR: data })
      assert.equal(code, 1)
      assert.match(stderr, /^masthead: \/proc\/masthead\S* cannot be made.*: .*choose another folder by --data-dir/)
    }
  })
})

test('control characters in the name of the data folder are shown escaped', async () => {
  const { stdout } = await runMasthead(['status'], { MASTHEAD_DATA_DIR: '/nowhere/a\x1b[31mb\x07', PORT: '1' })
  assert.match(stdout, /embedded, in \/nowhere\/a\\x1b\[31mb\\x07/)
  assert.doesNotMatch(stdout, /(?!\n)\p{Cc}/u)
})
