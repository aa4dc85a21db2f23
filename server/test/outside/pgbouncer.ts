import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import pg from 'pg'
import { until } from '../processes/masthead-process.ts'
import { freePort } from './redis-server.ts'

const program = '/usr/sbin/pgbouncer'

/** Why tests with a pooler are skipped, or false. */
export const withoutPgbouncer = spawnSync(program, ['--version']).status === 0 ? false : 'there is no pgbouncer'

/** A pooler before the server of the tests, with few sessions, so that everybody gets those of others. Returns its address. */
export const startPgbouncer = async (connectionString: string, mode: 'session' | 'transaction'): Promise<string> => {
  const direct = new URL(connectionString)
  const host = direct.searchParams.get('host') ?? direct.hostname
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'masthead-pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  const target = `host=${host} port=${direct.searchParams.get('port') ?? direct.port} user=${direct.username} password=${direct.password}`
  await writeFile(
    file,
    `[databases]
* = ${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = ${mode}
default_pool_size = 3
unix_socket_dir =
`,
  )
  // It does not run as root, and the socket of the server is its owner's alone.
  const owner = process.getuid?.() === 0 ? await stat(host) : null
  const account = owner && { uid: owner.uid, gid: owner.gid }
  if (account) {
    for (const path of [folder, file]) await chown(path, account.uid, account.gid)
    await chmod(dirname(host), 0o711)
  }
  const pooler = spawn(program, [file], { stdio: 'ignore', ...account })
  const address = `postgres://${direct.username}@127.0.0.1:${port}${direct.pathname}`
  after(async () => {
    const ended = once(pooler, 'exit')
    pooler.kill('SIGINT')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  await until('the pooler answers', async () => {
    const client = new pg.Client(address)
    client.on('error', () => {})
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    )
  })
  return address
}
