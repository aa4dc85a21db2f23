import { execFileSync } from 'node:child_process'
import { constants, readFileSync, rmSync, statSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { findCause } from './privileges.ts'

export type Endpoint = { host: string; port: number }
export type Postmaster = {
  pid: number
  /** whether the process that the lock file names is this cluster's server */
  alive: boolean
  /** where it answers, once it says that it is ready */
  endpoint: Endpoint | undefined
}

// On the command line, not in postgresql.conf, so that a newer program changes them on an older cluster.
const settings = { max_connections: 100, unix_socket_permissions: '0700' }

/**
 * Returns when the server is ready, or when another process got in the way and the caller had better look again.
 * Says `onBegun` when there is nothing left to do but wait.
 */
export async function startPostmaster(
  cluster: Cluster,
  usualPort: number | undefined,
  onBegun: () => void,
): Promise<void> {
  removeFalseLocks(cluster.folder)
  const logged = await prepareLog(cluster)
  const all = { ...settings, ...(await chooseEndpoint(cluster.folder, usualPort)) }
  const options = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`)
  const args = ['-w', '-t', '60', '-D', cluster.folder, '-l', cluster.log, '-o', options.join(' ')]
  const starting = cluster.run(cluster.programs.pg_ctl, 'start', ...args)
  onBegun()
  const { ok, output } = await starting
  if (ok) return
  const log = (await readFile(cluster.log)).subarray(logged).toString()
  // The memory is in use while orphans of a killed server finish their last statement.
  const contended = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(log)
  if (contended || findPostmaster(cluster.folder)?.alive) return
  throw new Error(`PostgreSQL did not start in ${cluster.folder}: ${findCause(log || output)}`)
}

/** Returns when the server is gone; a successor that another process has started by then may run already. */
export async function stopPostmaster(cluster: Cluster): Promise<void> {
  const pid = findPostmaster(cluster.folder)?.pid
  // Not -w: it would take the successor for the server that it waits for.
  const { ok, output } = await cluster.run(cluster.programs.pg_ctl, 'stop', '-W', '-m', 'fast', '-D', cluster.folder)
  if (!ok) throw new Error(`PostgreSQL did not stop in ${cluster.folder}: ${findCause(output)}`)
  for (const deadline = performance.now() + 60_000; findPostmaster(cluster.folder)?.pid === pid; await delay(10)) {
    if (performance.now() > deadline)
      throw new Error(`PostgreSQL in ${cluster.folder} still stops after 60 s (see ${cluster.log})`)
  }
}

/** Reads postmaster.pid: process, folder, start time, port, socket folder, address, shared memory, status. */
export function findPostmaster(folder: string): Postmaster | undefined {
  const lines = readOrEmpty(join(folder, 'postmaster.pid')).split('\n')
  const [, , , port, socketFolder, address, , status] = lines
  const pid = Number(lines[0])
  if (!pid) return undefined
  const endpoint = { host: socketFolder ? resolve(folder, socketFolder) : (address ?? ''), port: Number(port) }
  return { pid, alive: runs(pid, folder) === true, endpoint: status?.trim() === 'ready' ? endpoint : undefined }
}

/** PostgreSQL takes any live process of its user for its own, such as a zombie or, after a reboot, a stranger. */
function removeFalseLocks(folder: string): void {
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const path = join(folder, name)
    const pid = Number.parseInt(readOrEmpty(path), 10)
    // A lock is empty for an instant while its server starts, and for good after a crash at that instant.
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY)
    if (pid > 0 ? runs(pid, folder) === false : age > 5_000) rmSync(path, { force: true })
  }
}

/** Whether this process is the server of this folder; undefined when there is no such process, or no way to tell. */
function runs(pid: number, folder: string): boolean | undefined {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(folder)
    if (process.platform === 'win32') return process.kill(pid, 0) || undefined
    return execFileSync('ps', ['-p', `${pid}`, '-o', 'args='], { encoding: 'utf8' }).includes(folder)
  } catch {
    return undefined
  }
}

async function chooseEndpoint(folder: string, usualPort: number | undefined): Promise<Record<string, string | number>> {
  const socket = join(folder, '.s.PGSQL.5432')
  const longestSocket = process.platform === 'darwin' ? 103 : 107
  if (process.platform !== 'win32' && Buffer.byteLength(socket) <= longestSocket) {
    // Relative to the cluster, whose path may hold what a list of folders cannot.
    return { port: 5432, listen_addresses: '', unix_socket_directories: '.' }
  }
  const port = usualPort ?? (await findFreePort(readLastPort(folder)))
  return { port, listen_addresses: '127.0.0.1', unix_socket_directories: '' }
}

// The same port again where possible: another process may still hold a connection string that names it.
function readLastPort(folder: string): number {
  const options = readOrEmpty(join(folder, 'postmaster.opts'))
  return options.includes('listen_addresses=127') ? Number(options.match(/"port=(\d+)"/)?.[1] ?? 0) : 0
}

function findFreePort(preferred: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error) => (preferred === 0 ? reject(error) : resolve(findFreePort(0))))
    probe.listen(preferred, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : preferred))
    })
  })
}

/** Gives the log to the account that will write it, and says how much it holds already. */
async function prepareLog({ log, account }: Cluster): Promise<number> {
  // Root follows no link here, or the folder's owner could have any file given away.
  const flags = constants.O_CREAT | constants.O_APPEND | constants.O_WRONLY | constants.O_NOFOLLOW
  const handle = await open(log, flags, 0o600)
  try {
    if (account) await handle.chown(account.uid, account.gid)
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
