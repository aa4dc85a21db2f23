import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Outcome, runMasthead, until } from '../../test/processes/masthead-process.ts'
import { freeAddress } from '../../test/service.ts'

const main = fileURLToPath(new URL('../main.js', import.meta.url))
const root = fileURLToPath(new URL('../../..', import.meta.url))
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error)).trim()

const print = async (): Promise<string> => {
  const { code, stdout, stderr } = await runMasthead(['service', 'install', '--print'], {})
  assert.deepEqual([code, stderr], [0, ''])
  return stdout
}

const analyze = (...args: string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    execFile('systemd-analyze', args, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })

const isAnalyzed = await analyze('--version').then(({ code }) => code === 0)

describe('the systemd unit', () => {
  test('is printed by who may not install it, and says so with --json, too', async () => {
    const unit = await print()
    assert.ok(unit.includes(`\nExecStart=${process.execPath} ${main} serve\n`), unit)
    for (const line of ['User=masthead', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'TimeoutStopSec=15'])
      assert.ok(unit.includes(`\n${line}\n`), line)
    const { stdout } = await runMasthead(['service', 'install', '--print', '--json'], {})
    assert.equal(JSON.parse(stdout).unit, unit)
  })

  test('lets imports and exports lower their priority, which it denies together with what raises it', async () => {
    assert.match(await print(), /SystemCallFilter=~@privileged @resources\nSystemCallFilter=setpriority\n/)
  })

  test('is one that systemd understands, and exposes little', {
    skip: !isAnalyzed && 'no systemd-analyze',
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'masthead-unit-'))
    after(() => rm(folder, { recursive: true }))
    const file = join(folder, 'masthead.service')
    await writeFile(file, await print())
    assert.deepEqual(await analyze('verify', file), { code: 0, stdout: '', stderr: '' })
    // Of 100. What is left is that it serves a network, and compiles JavaScript to machine code.
    const { code, stdout } = await analyze('security', '--offline=true', '--no-pager', '--threshold=15', file)
    assert.equal(code, 0, stdout)
  })
})

/** A machine of its own as far as files go: /etc, /run and /var/lib are copies, and systemctl only notes what it was asked. */
const startMachine = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-machine-'))
  await chmod(folder, 0o755)
  const asked = join(folder, 'run/asked')
  try {
    for (const name of ['run/systemd/system', 'lib', 'bin']) await mkdir(join(folder, name), { recursive: true })
    await cp('/etc', join(folder, 'etc'), {
      recursive: true,
      filter: (path) => !/\/(masthead|ssl|alternatives)/.test(path),
    })
    await mkdir(join(folder, 'etc/systemd/system'), { recursive: true })
    await writeFile(join(folder, 'bin/systemctl'), '#!/bin/sh\necho "$@" >> /run/asked\n', { mode: 0o755 })
    const places = { etc: '/etc', run: '/run', lib: '/var/lib' }
    const mounts = Object.entries(places).map(([name, path]) => `mount --bind ${folder}/${name} ${path}`)
    const script = [...mounts, 'echo ready', 'exec sleep infinity'].join(' && ')
    const holder = spawn('unshare', ['--mount', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'pipe'] })
    const stop = async () => {
      if (holder.exitCode === null) {
        const gone = once(holder, 'close')
        holder.kill('SIGKILL')
        await gone
      }
      await rm(folder, { recursive: true, force: true })
    }
    let [said, complaint] = ['', '']
    holder.stdout.setEncoding('utf8').on('data', (text) => (said += text))
    holder.stderr.setEncoding('utf8').on('data', (text) => (complaint += text))
    await Promise.race([once(holder, 'close'), until('its files are in place', () => said === 'ready\n')])
    if (said === '') {
      await stop()
      return { reason: complaint.trim() }
    }
    /** Starts a program in it, as root or as another user, with nothing of our environment. */
    const start = (words: readonly string[], { user = 'root', variables = {} as Record<string, string> } = {}) => {
      // The group of nobody has another name on other distributions.
      const [uid, gid] = user === 'nobody' ? [65_534, 65_534] : [user, user]
      const as = user === 'root' ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
      const environment = { PATH: `${folder}/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`, ...variables }
      const enter = ['--mount', `--target=${holder.pid}`, '--wd=/', '--', ...as, ...words]
      return spawn('nsenter', enter, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    }
    const masthead = async (command: string, user = 'root', program = main): Promise<Outcome> => {
      const child = start([process.execPath, program, ...command.split(' ')], { user })
      const said = { stdout: '', stderr: '' }
      child.stdout.setEncoding('utf8').on('data', (text) => (said.stdout += text))
      child.stderr.setEncoding('utf8').on('data', (text) => (said.stderr += text))
      const [code] = await once(child, 'close')
      return { code, ...said }
    }
    return { folder, start, masthead, asked: () => readFileSync(asked, 'utf8').trim().split('\n'), stop }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    return { reason: messageOf(error) }
  }
}

const whyNot = (): string | null => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root installs a service'
  if (/^\/(var\/)?tmp\//.test(main)) return 'a service cannot see this program, which lies below /tmp'
  try {
    execFileSync('setpriv', ['--reuid=65534', '--clear-groups', process.execPath, main, '--version'], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `no other user can run this program: ${messageOf(error)}`
  }
}

describe('masthead service', async () => {
  const reason = whyNot()
  const machine = reason === null ? await startMachine() : { reason }
  if ('reason' in machine) {
    test('is tried on a machine of its own', { skip: machine.reason })
    return
  }
  after(machine.stop)
  const { folder, masthead, start } = machine
  const unit = join(folder, 'etc/systemd/system/masthead.service')
  const settings = join(folder, 'etc/masthead/masthead.env')
  const expected = (line: RegExp) => new RegExp(`${line.source}\\n`)

  test('install refuses a program below /tmp, which the unit hides, and leaves nothing', async () => {
    // Not tmpdir(), which may be elsewhere.
    const place = await mkdtemp('/tmp/masthead-hidden-')
    after(() => rmdir(place))
    // Only inside the machine, and it ends with it.
    const [mounted] = await once(start(['mount', '--bind', root, place]), 'close')
    assert.equal(mounted, 0)
    const { code, stdout, stderr } = await masthead('service install', 'root', join(place, 'server/src/main.js'))
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^masthead: a systemd service cannot see \/tmp\/\S+\/main\.js, .*: install Masthead elsewhere by `npm install --global`/,
    )
    await assert.rejects(stat(unit))
  })

  test('install writes an account, a folder, settings and a unit, and says each', async () => {
    const { code, stdout, stderr } = await masthead('service install')
    assert.deepEqual([code, stderr], [0, ''])
    for (const line of [
      /Created \/var\/lib\/masthead for the data, which masthead owns\./,
      /Wrote the settings to \/etc\/masthead\/masthead\.env, which only root may read\./,
      /Wrote \/etc\/systemd\/system\/masthead\.service: it runs \S+ as masthead, hardened\./,
      / +systemctl enable --now masthead +.*/,
    ])
      assert.match(stdout, expected(line))
    assert.equal(await readFile(unit, 'utf8'), await print())
    assert.equal((await stat(settings)).mode & 0o777, 0o600)
    assert.deepEqual(machine.asked(), ['daemon-reload'])
  })

  test('install, once more, keeps the settings and replaces only a unit that it wrote', async () => {
    await writeFile(settings, `${await readFile(settings, 'utf8')}PORT=${new URL(await freeAddress()).port}\n`)
    const own = await readFile(unit, 'utf8')
    await writeFile(unit, own.replace('RestartSec=5', 'RestartSec=9'))
    assert.match((await masthead('service install')).stdout, /Kept the settings .*\nReplaced \/etc\/systemd/)
    assert.match((await masthead('service install')).stdout, /masthead\.service is up to date\.\n/)
    await writeFile(unit, '[Service]\n')
    const { code, stdout, stderr } = await masthead('service install')
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^masthead: \S+ is a unit of your own: --force replaces it, and .* shows by what\n$/)
    assert.equal((await masthead('service install --force')).code, 0)
    assert.equal(await readFile(unit, 'utf8'), own)
  })

  test('serves as its account, and commands of root reach its database without a word about where it is', async () => {
    const [, ...command] = /^ExecStart=(\S+) (\S+) (serve)$/m.exec(await readFile(unit, 'utf8')) ?? []
    const variables = Object.fromEntries(
      [...(await readFile(settings, 'utf8')).matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    )
    const server = start(command, { user: 'masthead', variables })
    after(() => server.kill('SIGKILL'))
    let said = ''
    server.stdout.setEncoding('utf8').on('data', (text) => (said += text))
    server.stderr.setEncoding('utf8').on('data', (text) => (said += text))
    await until('it serves', () => said.includes('Ctrl-C') || server.exitCode !== null)
    assert.equal(server.exitCode, null, said)

    assert.match(said, /No tenant yet\. In another terminal:\n {2}sudo masthead tenant create acme /)
    assert.match(
      (await masthead('status')).stdout,
      new RegExp(`serves at http://localhost:${variables.PORT}\n.*/var/lib/masthead\n`),
    )

    const created = await masthead('tenant create acme --name Acme --json')
    assert.deepEqual([created.code, created.stderr], [0, ''])
    assert.equal((await masthead('tenant list')).stdout.includes('acme'), true)
    const { code, stderr } = await masthead('tenant list', 'nobody')
    assert.equal(code, 1)
    assert.match(stderr, /^masthead: only root may read \/etc\/masthead\/masthead\.env, .*: run `sudo masthead …`/)
    assert.equal((await masthead('--version', 'nobody')).code, 0)

    // Who names a folder of their own needs no settings of the service.
    const own = join(folder, 'own')
    await mkdir(own)
    await chown(own, 65_534, 65_534)
    const { stdout } = await masthead(`upgrade check --data-dir ${own}`, 'nobody')
    assert.equal(stdout, 'There is no database yet: the first start makes it.\n')
    const tried = start([process.execPath, main, 'serve', '--port', '0', '--data-dir', own], { user: 'nobody' })
    after(() => tried.kill('SIGKILL'))
    let shown = ''
    tried.stdout.setEncoding('utf8').on('data', (text) => (shown += text))
    await until('it serves, too', () => shown.includes('Ctrl-C') || tried.exitCode !== null)
    assert.match(
      shown,
      new RegExp(`\\n {2}export MASTHEAD_DATA_DIR=${own} PORT=\\d+\\n {2}masthead tenant create acme `),
    )
    tried.kill('SIGTERM')
    await once(tried, 'close')

    server.kill('SIGTERM')
    const [ended] = await once(server, 'close')
    assert.equal(ended, 0, said)
    const owner = await stat(join(folder, 'lib/masthead'))
    for (const name of ['secret', 'postgres'])
      assert.equal((await stat(join(folder, 'lib/masthead', name))).uid, owner.uid)
  })

  test('uninstall stops it and removes the unit, and the data stays', async () => {
    const { code, stdout } = await masthead('service uninstall')
    assert.equal(code, 0)
    assert.match(stdout, /Removed \/etc\/systemd\/system\/masthead\.service\.\nThe data and settings stay: \/var\/lib/)
    assert.deepEqual(machine.asked().slice(-2), ['disable --now masthead', 'daemon-reload'])
    await assert.rejects(stat(unit))
    await stat(join(folder, 'lib/masthead/postgres'))
    const again = await masthead('service uninstall')
    assert.match(again.stderr, /^masthead: there is no service: `masthead service install` makes one\n$/)
  })

  test('needs root', async () => {
    const { code, stderr } = await masthead('service install', 'nobody')
    assert.equal(code, 1)
    assert.match(stderr, /^masthead: only root can do this: run `sudo masthead service install`\n$/)
  })
})
