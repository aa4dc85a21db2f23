import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { appendFile, chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { type EmbeddedServer, openEmbedded } from './server.ts'

const isMountAllowed = spawnSync('unshare', ['--mount', 'mount', '--bind', '/etc', '/etc']).status === 0
const cannotPretend = process.getuid?.() === 0 && isMountAllowed ? false : 'only root can change what a system has'

describe('embedded PostgreSQL', () => {
  let home: string
  let data: string

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'masthead-'))
    data = join(home, 'data')
  })
  after(async () => {
    for (const name of await readdir(home)) await stopLeftover(join(home, name))
    await rm(home, { recursive: true })
  })

  test('creates a cluster that orders text by bytes and knows letters of every script', async () => {
    const said: string[] = []
    await using server = closing(await openEmbedded(data, (line) => said.push(line)))
    assert.match(said.join('\n'), /^Creating .*$/)
    await ask(server.connectionString, 'create extension pg_trgm')
    const [row] = await ask(
      server.connectionString,
      `select show_trgm('мир') as cyrillic, show_trgm('é') as accented, show_trgm('日本') as chinese,
        array(select * from unnest(array['é', 'b', 'a', 'Z', 'я']) as t(x) order by x) as sorted,
        current_setting('server_encoding') as encoding, current_setting('fsync') as fsync`,
    )
    assert.ok(row)
    const { cyrillic, accented, chinese, ...rest } = row
    assert.deepEqual(
      [cyrillic, accented, chinese].map((trigrams) => (trigrams as unknown[]).length),
      [4, 2, 3],
    )
    assert.deepEqual(rest, { sorted: ['Z', 'a', 'b', 'é', 'я'], encoding: 'UTF8', fsync: 'on' })
  })

  test('keeps its password and socket to itself and listens on no port', async () => {
    await using server = closing(await openEmbedded(data))
    assert.equal(statSync(join(data, 'postgres')).mode & 0o777, 0o700)
    assert.equal(statSync(join(data, 'postgres/masthead-password')).mode & 0o777, 0o600)
    const [row] = await ask(server.connectionString, 'show listen_addresses')
    assert.deepEqual(row, { listen_addresses: '' })
    const guess = server.connectionString.replace(/postgres:.*@/, 'postgres:guess@')
    await assert.rejects(ask(guess, 'select 1'), { code: '28P01' })
  })

  test('the last one out stops it', async () => {
    await using first = closing(await openEmbedded(data))
    await using second = closing(await openEmbedded(data))
    await first.close()
    await ask(second.connectionString, 'select 1')
    await Promise.all([second.close(), second.close()])
    assert.equal(postmasterOf(data), undefined)
  })

  test('of many that leave at once one stops it, and newcomers get a server all the same', async () => {
    for (let round = 0; round < 5; round++) {
      const leaving = await Promise.all([openEmbedded(data), openEmbedded(data)])
      const [newcomer] = await Promise.all([openEmbedded(data), ...leaving.map((server) => server.close())])
      await ask(newcomer.connectionString, 'select 1')
      await newcomer.close()
    }
    assert.equal(postmasterOf(data), undefined)
  })

  test('adopts a server that outlived its process', async () => {
    const pid = await outlive(data)
    await using server = closing(await openEmbedded(data))
    assert.equal(postmasterOf(data), pid)
    await ask(server.connectionString, 'select 1')
    await server.close()
    assert.equal(postmasterOf(data), undefined)
  })

  test('recovers what was committed when PostgreSQL was killed while nobody watched', async () => {
    await using server = closing(await openEmbedded(data))
    await ask(server.connectionString, 'create table kept as select 42 as answer')
    await server.close()
    kill(await outlive(data))
    await using next = closing(await openEmbedded(data))
    assert.deepEqual(await ask(next.connectionString, 'select answer from kept'), [{ answer: 42 }])
  })

  test('is not fooled by a stranger that has the pid of a killed server', async () => {
    const pid = await outlive(data)
    const { uid, gid } = statSync(join(data, 'postgres'))
    const stranger = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid, gid } : {})
    try {
      const locks = ['postmaster.pid', '.s.PGSQL.5432.lock'].map((name) => join(data, 'postgres', name))
      const reused = locks.map((path) => readFileSync(path, 'utf8').replace(/^\d+/, `${stranger.pid}`))
      kill(pid)
      for (const [index, path] of locks.entries()) await writeFile(path, reused[index] ?? '')
      await using server = closing(await openEmbedded(data))
      await ask(server.connectionString, 'select 1')
      assert.equal(stranger.exitCode, null)
    } finally {
      stranger.kill()
    }
  })

  test('comes back after kill -9 of PostgreSQL, at the same address', async () => {
    const said: string[] = []
    await using server = closing(await openEmbedded(data, (line) => said.push(line)))
    for (let round = 0; round < 2; round++) {
      const killed = postmasterOf(data)
      kill(killed)
      await until(() => answers(server.connectionString))
      assert.notEqual(postmasterOf(data), killed)
    }
    assert.match(said[0] ?? '', /bringing it back/)
    await server.close()
    assert.equal(postmasterOf(data), undefined)
  })

  test('two processes that start at once share one server', async () => {
    const fresh = join(home, 'raced')
    await mkdir(join(fresh, 'postgres.new-999999999-left'), { recursive: true })
    const users = await Promise.all([startUser(fresh), startUser(fresh)])
    assert.ok(postmasterOf(fresh))
    assert.deepEqual((await readdir(fresh)).sort(), ['postgres', 'postgres.log'])
    for (const user of users) await endUser(user)
    assert.equal(postmasterOf(fresh), undefined)
  })

  test('listens on loopback, and on the same port again, where the path is too long for a socket', async () => {
    const far = join(home, 'far'.padEnd(100, '-'))
    await using first = closing(await openEmbedded(far))
    assert.match(first.connectionString, /host=127\.0\.0\.1/)
    kill(postmasterOf(far))
    await until(() => answers(first.connectionString))
    await first.close()
    await using second = closing(await openEmbedded(far))
    assert.equal(second.connectionString, first.connectionString)
  })

  test('serves root from a folder that any account may pass', { skip: process.getuid?.() !== 0 }, async () => {
    await chmod(home, 0o711)
    await using server = closing(await openEmbedded(data))
    await ask(server.connectionString, 'select 1')
  })

  describe('as root, on a system without an account for it', { skip: cannotPretend }, () => {
    test('makes one that is its own, and says so once', async () => {
      const system = await pretendSystem(home)
      const first = await system.run()
      assert.deepEqual([first.code, first.stdout], [0, '[]\n'], first.stderr)
      const [created, cluster, ...rest] = first.stderr.split('\n')
      assert.equal(created, 'Created the system account "masthead", because PostgreSQL does not run as root')
      assert.match(cluster ?? '', /^Creating a PostgreSQL cluster /)
      assert.deepEqual(rest, [''])
      assert.match(system.accounts(), /^masthead:x:\d+:\d+:[^:]*:\/nonexistent:\/usr\/sbin\/nologin$/m)
      assert.equal(system.ownerOfCluster(), 'masthead')
      assert.deepEqual(await system.run(), { code: 0, stdout: '[]\n', stderr: '' })
    })

    test('where none can be made uses nobody, and warns of it at each start', async () => {
      const system = await pretendSystem(
        home,
        'mount --bind /bin/false /usr/sbin/useradd; mount --bind /bin/false /usr/sbin/adduser',
      )
      for (const lines of [2, 1]) {
        const { code, stderr } = await system.run()
        const warning = /^\/\S+\/postgres belongs to the account "nobody", .*: chown -R masthead: \/\S+\/postgres$/m
        assert.deepEqual([code, stderr.split('\n').length - 1], [0, lines], stderr)
        assert.match(stderr, warning)
      }
      assert.equal(system.ownerOfCluster(), 'nobody')
    })
  })

  test('has a part of the memory of the machine, unless an operator has chosen another', async () => {
    const shared = async () => {
      await using server = closing(await openEmbedded(data))
      const [row] = await ask(
        server.connectionString,
        `select pg_size_bytes(current_setting('shared_buffers')) as bytes`,
      )
      return Number(row?.bytes) / 1_024 ** 2
    }
    const own = await shared()
    assert.ok(own >= 128 && own <= Math.max(128, Math.min(1_024, totalmem() / 1_024 ** 2 / 4)), `${own} MB`)
    await appendFile(join(data, 'postgres/postgresql.conf'), "shared_buffers = '96MB'\n")
    assert.equal(await shared(), 96)
  })

  test('says in one line what PostgreSQL complains of', async () => {
    await appendFile(join(data, 'postgres/postgresql.conf'), 'work_mem = much\n')
    await assert.rejects(openEmbedded(data), { message: /^PostgreSQL did not start in .*: .*postgresql\.conf.*$/ })
  })

  test('refuses a folder of other things', async () => {
    await mkdir(join(home, 'other/postgres/things'), { recursive: true })
    await assert.rejects(openEmbedded(join(home, 'other')), {
      message: /is no data folder of PostgreSQL: it has no file PG_VERSION: choose another/,
    })
  })
})

/** The command line on a system with accounts of its own, but none for PostgreSQL. */
async function pretendSystem(home: string, change = 'true') {
  const folder = await mkdtemp(join(home, 'system-'))
  await chmod(home, 0o711)
  await chmod(folder, 0o711)
  const [etc, data] = [join(folder, 'etc'), join(folder, 'data')]
  await cp('/etc', etc, { recursive: true, verbatimSymlinks: true })
  for (const name of ['passwd', 'group', 'shadow', 'gshadow']) {
    const lines = await readFile(join(etc, name), 'utf8').catch(() => '')
    await writeFile(join(etc, name), lines.replaceAll(/^(postgres|masthead):.*\n/gm, ''))
  }
  const main = fileURLToPath(new URL('../../main.js', import.meta.url))
  const script = `mount --bind "$0" /etc; ${change}; exec "$@"`
  const command = ['-c', script, etc, process.execPath, main, 'tenant', 'list', '--json']
  const accounts = () => readFileSync(join(etc, 'passwd'), 'utf8')
  return {
    accounts,
    run: async () => {
      const child = spawn('unshare', ['--mount', '/bin/sh', ...command], {
        env: { PATH: process.env.PATH, MASTHEAD_DATA_DIR: data },
      })
      const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
      return { code, stdout, stderr }
    },
    ownerOfCluster: () => {
      const { uid } = statSync(join(data, 'postgres'))
      return accounts().match(new RegExp(`^(\\w+):x:${uid}:`, 'm'))?.[1]
    },
  }
}

function closing(server: EmbeddedServer): EmbeddedServer & AsyncDisposable {
  return { ...server, [Symbol.asyncDispose]: server.close }
}

async function ask(connectionString: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

function answers(connectionString: string): Promise<boolean> {
  return ask(connectionString, 'select 1').then(
    () => true,
    () => false,
  )
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 50_000; !(await condition()); await delay(20)) {
    assert.ok(Date.now() < deadline, 'the condition did not come true within 50 s')
  }
}

function postmasterOf(data: string): number | undefined {
  const path = join(data, 'postgres/postmaster.pid')
  return existsSync(path) ? Number.parseInt(readFileSync(path, 'utf8'), 10) : undefined
}

function kill(pid: number | undefined): void {
  assert.ok(pid)
  process.kill(pid, 'SIGKILL')
}

async function stopLeftover(data: string): Promise<void> {
  const pid = postmasterOf(data)
  if (pid === undefined) return
  process.kill(pid, 'SIGINT')
  await until(() => postmasterOf(data) === undefined)
}

/** A process of its own that uses the cluster until its standard input ends. */
async function startUser(data: string): Promise<ChildProcess> {
  const program = `
    import { openEmbedded } from ${JSON.stringify(import.meta.resolve('./server.ts'))}
    const server = await openEmbedded(${JSON.stringify(data)})
    process.stdin.on('end', () => server.close()).resume()
    process.stderr.write('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe', cwd: dirname(data) })
  let said = ''
  let printed = ''
  child.stderr.on('data', (text) => (said += text))
  child.stdout.on('data', (text) => (printed += text))
  await until(() => said !== '')
  assert.deepEqual({ said, printed }, { said: 'ready', printed: '' })
  return child
}

async function endUser(child: ChildProcess, signal?: 'SIGKILL'): Promise<void> {
  const gone = new Promise((resolve) => child.once('close', resolve))
  if (signal) child.kill(signal)
  else child.stdin?.end()
  await gone
}

/** Starts PostgreSQL by a process that is killed, and says the server's pid. */
async function outlive(data: string): Promise<number> {
  await endUser(await startUser(data), 'SIGKILL')
  const pid = postmasterOf(data)
  assert.ok(pid)
  return pid
}
