import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import pg from 'pg'
import {
  isAlive,
  type Outcome,
  postmasterOf,
  runMasthead,
  type Serving,
  spawnMasthead,
  startServing,
  temporaryDataDirectory,
  until,
} from '../../test/processes/masthead-process.ts'
import { assertTallies } from '../../test/records/tallies.ts'
import { writeArchive } from '../database/backup/archive.ts'
import { type FileSum, summed, textEntry } from '../database/backup/manifest.ts'
import { clientOptions } from '../database/connections/connection.ts'
import { openEmbedded } from '../database/embedded/server.ts'

const run = promisify(execFile)
const data = await temporaryDataDirectory()
const restoredData = await temporaryDataDirectory()
const folder = await mkdtemp(join(tmpdir(), 'masthead-backups-'))
after(() => rm(folder, { recursive: true, force: true }))
const environment = { MASTHEAD_DATA_DIR: data, RATE_LIMIT: 'off' }
const file = join(folder, 'masthead.tar.zst')

const json = async (command: string) => {
  const { code, stdout, stderr } = await runMasthead([...command.split(' '), '--json'], environment)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}
const assertRefusal = ({ code, stdout, stderr }: Outcome, complaint: RegExp) => {
  assert.match(stderr, complaint)
  assert.deepEqual([code, stdout, stderr.trim().split('\n').length], [1, '', 1])
}

/** Asks the PostgreSQL of a folder as its superuser, and leaves it as it was. */
const ask = async <T>(dataDirectory: string, question: (client: pg.Client) => Promise<T>): Promise<T> => {
  const { connectionString, close } = await openEmbedded(dataDirectory)
  const client = new pg.Client(clientOptions(connectionString))
  client.on('error', () => {})
  try {
    await client.connect()
    return await question(client)
  } finally {
    await client.end()
    await close()
  }
}
const slots = `select active_pid from pg_replication_slots`
const isBackingUp = (client: pg.Client) => client.query(slots).then(({ rowCount }) => rowCount === 1)

/** Copied after all files of PostgreSQL, for a second or so: time to interfere. It takes no room on the disk. */
const ballast = join(data, 'postgres/zz-ballast')
const startBackup = async (to: string) => {
  await writeFile(ballast, '')
  await truncate(ballast, 256 * 1024 * 1024)
  const { child, ended } = spawnMasthead(['backup', to], environment)
  await until('the backup has copied the tables', async () => (await openedBy(child.pid)).includes(ballast))
  return { child, ended }
}
const openedBy = async (pid: number | undefined): Promise<string[]> => {
  const folder = `/proc/${pid}/fd`
  return Promise.all((await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')))
}

let serving: Serving
let token = ''
let accountId = ''
const call = async (path: string, body?: object) => {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
  const given = body ? { method: 'POST', body: JSON.stringify(body) } : {}
  const response = await fetch(path.startsWith('http') ? path : serving.announced.api + path, { headers, ...given })
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
}
/** The id under which each write was answered, by the name that it gave. */
const answered = new Map<string, string>()
const startWriters = () => {
  let stopped = false
  const write = async (writer: string) => {
    for (let number = 0; !stopped; number++) {
      const name = `${writer}-${number}`
      const { status, body } = await call('/contacts', { accountId, name, notes: 'x'.repeat(2_000) })
      // A machine that is slow to write may keep one waiting for too long.
      if (status === 201) answered.set(name, body.id)
      else assert.equal(status, 503)
    }
  }
  const round = answered.size
  const writers = Promise.all(Array.from({ length: 6 }, (_, index) => write(`${round}-${index}`)))
  return async () => {
    stopped = true
    await writers
  }
}
const moreWrites = (count: number) => {
  const enough = answered.size + count
  return until(`${count} more writes are answered`, () => answered.size >= enough)
}
const allContacts = async (): Promise<Map<string, string>> => {
  const found = new Map<string, string>()
  for (let next = '/contacts?pageSize=200'; next !== ''; ) {
    const page = await call(next)
    for (const { name, id } of page.body.items) found.set(name, id)
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
  }
  return found
}

/** How far a copy gets that takes everything. */
const lastCursor = async (): Promise<string> => {
  for (let query = ''; ; ) {
    const { body } = await call(`/changes?limit=1000${query}`)
    if (!body.hasMore) return body.cursor
    query = `&after=${body.cursor}`
  }
}
const lostOf = (names: Iterable<string>, found: Map<string, string>): string[] =>
  [...names].filter((name) => found.get(name) !== answered.get(name))

describe('a backup', () => {
  before(async () => {
    serving = await startServing(['--port', '0'], environment)
    await json('tenant create acme --name Acme')
    const scopes = 'contacts:read,contacts:write,accounts:write'
    token = (await json(`token create --tenant acme --service writer --scopes ${scopes}`)).token
    accountId = (await call('/accounts', { company: 'Kept Ltd' })).body.accountId
  })

  const answeredBefore = new Set<string>()
  const cursors = { before: '', after: '' }
  let lost = 0
  test('is taken while others write, however much log is written meanwhile', async () => {
    await ask(data, async (client) => {
      // As little as PostgreSQL allows to be kept without being asked to.
      for (const setting of [`max_wal_size = '32MB'`, `min_wal_size = '32MB'`]) {
        await client.query(`alter system set ${setting}`)
      }
      await client.query('select pg_reload_conf()')
      const stopWriters = startWriters()
      await moreWrites(100)
      cursors.before = await lastCursor()
      const { child, ended } = await startBackup(file)
      child.kill('SIGSTOP')
      assert.equal(await isBackingUp(client), true)
      for (let round = 0; round < 5; round++) {
        await moreWrites(10)
        await client.query('select pg_switch_wal()')
        await client.query('checkpoint')
      }
      // Files are cut while they are read.
      await truncate(ballast, 0)
      for (const name of answered.keys()) answeredBefore.add(name)
      child.kill('SIGCONT')
      const outcome = await ended
      assert.equal(outcome.code, 0, outcome.stderr)
      await moreWrites(20)
      await stopWriters()
      cursors.after = await lastCursor()
      assert.equal(await isBackingUp(client), false)
      await rm(ballast)

      const restored = await runMasthead(['restore', file, '--json', '--data-dir', restoredData], {})
      assert.equal(restored.code, 0, restored.stderr)
      const { records, tenants, hasSecret, startedAt } = JSON.parse(restored.stdout)
      assert.deepEqual([tenants, hasSecret, records.accounts], [1, true, 1])
      assert.ok(Date.now() - Date.parse(startedAt) < 100_000)
      assert.ok(records.contacts >= answeredBefore.size && records.contacts < answered.size)
      lost = answered.size - records.contacts
      assert.equal(statSync(file).mode & 0o777, 0o600)
      assert.deepEqual(await readdir(folder), ['masthead.tar.zst'])
    })
  })
  test('is served from by its copy, with every write that was answered before it ended', async () => {
    const original = serving
    serving = await startServing(['--port', '0', '--data-dir', restoredData], { RATE_LIMIT: 'off' })
    try {
      const found = await allContacts()
      assert.deepEqual(lostOf(answeredBefore, found), [])
      await ask(restoredData, assertTallies)
      const isRefused = async () => (await call(`/changes?after=${cursors.after}`)).body.code === 'invalid_cursor'
      assert.ok(await isRefused(), 'a cursor of what the copy lacks is good')
      for (let count = 0; count <= lost; count++) {
        const created = await call('/contacts', { accountId, name: 'only in the copy' })
        assert.equal(created.status, 201)
      }
      assert.ok(await isRefused(), 'it is good once the copy has as many writes')
      assert.equal((await call(`/changes?after=${cursors.before}`)).status, 200)
    } finally {
      assert.equal((await serving.stop()).code, 0)
      serving = original
    }
    const found = await allContacts()
    assert.deepEqual(lostOf(answered.keys(), found), [])
    assert.equal(found.has('only in the copy'), false)
    assert.equal((await call(`/changes?after=${cursors.after}`)).status, 200)
    assert.equal(await readFile(join(restoredData, 'secret'), 'utf8'), await readFile(join(data, 'secret'), 'utf8'))
  })

  test('that is interrupted leaves no file, and PostgreSQL as it was', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await ask(data, async (client) => {
        const to = join(folder, `${signal}.tar.zst`)
        const { child, ended } = await startBackup(to)
        assert.equal(await isBackingUp(client), true)
        child.kill(signal)
        const outcome = await ended
        await until('PostgreSQL knows', async () => !(await isBackingUp(client)))
        assert.equal(existsSync(to), false)
        if (signal === 'SIGKILL') return
        assertRefusal(outcome, /^masthead: the backup was stopped, and there is none: run it again\n$/)
        assert.deepEqual(await readdir(folder), ['masthead.tar.zst'])
      })
    }
    await rm(ballast)
    assert.equal((await call('/contacts', { accountId })).status, 201)
  })

  test('whose session PostgreSQL ends fails, says so and leaves no file', async () => {
    const before = await readdir(folder)
    await ask(data, async (client) => {
      const { ended } = await startBackup(join(folder, 'ended.tar.zst'))
      await client.query(`select pg_terminate_backend(active_pid) from pg_replication_slots`)
      assertRefusal(await ended, /^masthead: the backup failed: terminating connection due to administrator command\n$/)
      assert.deepEqual(await readdir(folder), before)
    })
    await rm(ballast)
  })

  test('starts PostgreSQL where none runs, and stops it again', async () => {
    assert.equal((await serving.stop()).code, 0)
    const shown = await json(`backup ${join(folder, 'idle.tar.zst')}`)
    assert.deepEqual(Object.keys(shown), ['file', 'bytes', 'startedAt', 'hasSecret'])
    assert.equal(postmasterOf(data), undefined)
  })

  test('is not made where it would be lost, or in the place of something else', async () => {
    const cases: [words: string[], environment: Record<string, string>, complaint: RegExp][] = [
      [[file], environment, /masthead\.tar\.zst is there already: choose another name/],
      [[join(data, 'b.tar.zst')], environment, /would be lost with the data/],
      [[join(folder, 'none/b.tar.zst')], environment, /there is no folder .*none/],
      [[join(folder, 'b')], { MASTHEAD_DATA_DIR: join(folder, 'no') }, /there is no database in .*: say where with/],
      [[join(folder, 'b')], { DATABASE_URL: 'postgres://x@127.0.0.1/x' }, /server of your own.*operating\.md/],
    ]
    for (const [words, given, complaint] of cases)
      assertRefusal(await runMasthead(['backup', ...words], given), complaint)
    assert.equal(existsSync(join(folder, 'no')), false)
  })
})

const smallArchive = async (): Promise<Buffer> => {
  const sums: FileSum[] = []
  async function* entries() {
    const description = { format: 1, postgres: '18', startedAt: new Date().toISOString(), hasSecret: false }
    yield textEntry('masthead-backup.json', JSON.stringify(description))
    yield { path: 'postgres', folder: true as const }
    for (const [path, text] of Object.entries({ PG_VERSION: '18\n', 'masthead-password': 'x' })) {
      const { size, content } = textEntry(`postgres/${path}`, text)
      yield { path: `postgres/${path}`, size, content: summed(`postgres/${path}`, content, (sum) => sums.push(sum)) }
    }
    yield textEntry('masthead-manifest.json', JSON.stringify({ files: sums }))
  }
  return buffer(writeArchive(entries()))
}

describe('a restore', () => {
  const target = join(folder, 'target')
  const restoring = (from: string) => runMasthead(['restore', from, '--data-dir', target], {})
  /** A file of these bytes. */
  const made = async (bytes: Uint8Array): Promise<string> => {
    const path = join(folder, 'made.tar.zst')
    await writeFile(path, bytes)
    return path
  }

  test('refuses a folder that is not empty, and says what to do', async () => {
    assertRefusal(
      await runMasthead(['restore', file, '--data-dir', restoredData], {}),
      /is not empty \(it holds \w+\): move it away, or restore into another folder with --data-dir/,
    )
  })

  test('refuses a file that was damaged anywhere, and leaves nothing behind', async () => {
    const backup = await readFile(join(folder, 'idle.tar.zst'))
    const flipped = (bytes: Buffer, at: number) => {
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      return bytes
    }
    /** Few files, as they are packed, so that only our own sums can tell what was done to them. */
    const small = await smallArchive()
    const content = small.indexOf('18\n')
    const cases: [bytes: Uint8Array, complaint: RegExp][] = [
      [flipped(Buffer.from(backup), Math.floor(backup.length / 2)), /made\.tar\.zst cannot be restored: /],
      [backup.subarray(0, backup.length / 2), /cannot be restored: it is damaged/],
      [Buffer.from('something else'), /cannot be restored: it is not a backup of Masthead/],
      [zstdCompressSync(flipped(Buffer.from(small), content)), /restored: postgres\/PG_VERSION in it is damaged/],
      [zstdCompressSync(flipped(Buffer.from(small), content - 512)), /restored: a header in it is damaged/],
      [zstdCompressSync(small.subarray(0, -1_024)), /cannot be restored: it ends in the middle/],
      [zstdCompressSync(small.subarray(0, -2_048)), /cannot be restored: it ends in the middle/],
    ]
    for (const [bytes, complaint] of cases) {
      assertRefusal(await restoring(await made(bytes)), complaint)
      assert.equal(existsSync(target), false)
    }
    assertRefusal(await restoring(join(folder, 'nothing')), /there is no file .*nothing/)
    // Undamaged, it comes as far as to PostgreSQL.
    assertRefusal(
      await restoring(await made(zstdCompressSync(small))),
      /nothing was restored: PostgreSQL did not start/,
    )
    assert.equal(existsSync(target), false)
  })

  test('refuses what leads out of the folder', async () => {
    const home = join(folder, 'hostile')
    await mkdir(join(home, 'postgres'), { recursive: true })
    const description = { format: 1, postgres: '18', startedAt: new Date(), hasSecret: false }
    await writeFile(join(home, 'masthead-backup.json'), JSON.stringify(description))
    await writeFile(join(home, 'escaped'), 'out')
    await symlink('/etc', join(home, 'postgres/link'))
    const cases: [args: string[], complaint: RegExp][] = [
      [['--transform', 's,^escaped,../escaped,', 'escaped'], /a path that leads elsewhere: "\.\.\/escaped"/],
      [['--transform', 's,^escaped,/tmp/escaped,', 'escaped'], /a path that leads elsewhere: "\/tmp\/escaped"/],
      [['--transform', 's,^escaped,postgres/../../e,', 'escaped'], /a path that leads elsewhere/],
      [['escaped'], /it holds escaped, which belongs to no backup/],
      [['postgres'], /something other than files and folders|leads elsewhere/],
    ]
    for (const [args, complaint] of cases) {
      const tar = join(folder, 'hostile.tar')
      await run('tar', ['-C', home, '-P', '--format=ustar', '-cf', tar, 'masthead-backup.json', ...args])
      assertRefusal(await restoring(await made(zstdCompressSync(await readFile(tar)))), complaint)
      assert.equal(existsSync(target), false)
    }
  })

  test('of files of another PostgreSQL is refused before anything is unpacked', async () => {
    const raw = zstdDecompressSync(await readFile(join(folder, 'idle.tar.zst')))
    raw.write('"postgres":"17"', raw.indexOf('"postgres":"18"'))
    assertRefusal(
      await restoring(await made(zstdCompressSync(raw))),
      /PostgreSQL 17, and this program brings 18: restore/,
    )
  })

  test('that is stopped leaves nothing behind', async () => {
    const { child, ended } = spawnMasthead(['restore', file, '--data-dir', target], {})
    await until('it has begun', () => existsSync(target))
    child.kill('SIGTERM')
    assertRefusal(await ended, /^masthead: the restore was stopped, and nothing was restored: run it again\n$/)
    assert.equal(existsSync(target), false)
  })

  test('says what is in it', async () => {
    const { code, stdout, stderr } = await restoring(join(folder, 'idle.tar.zst'))
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^tenants +accounts +contacts\n1 +1 +\d+\n\nThe backup of 20\S+Z is in .*target\.\n$/)
    const postmaster = postmasterOf(target)
    assert.ok(postmaster === undefined || !isAlive(postmaster))
    assert.deepEqual((await readdir(target)).sort(), ['postgres', 'secret'])
  })
})
