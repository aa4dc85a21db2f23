import { execFileSync } from 'node:child_process'
import { constants, readFileSync, rmSync, statSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../free-port.ts'
import type { Cluster } from './cluster.ts'
import { findCause } from './privileges.ts'

export type Endpoint = { host: string; port: number }

/** They are passed on the command line, not in postgresql.conf, so that a newer program changes them on an older cluster. */
const settings = { max_connections: 100, unix_socket_permissions: '0700' }

const mebibyte = 1_024 * 1_024
/** What a new cluster has, however much memory there is. */
const usualBuffers = '128MB'

/**
 * A quarter of the memory, as PostgreSQL recommends, and at most a gigabyte: more records and indexes are at hand, and a create takes
 * half of the processor time in a tenant with a million. What an operator has set stays.
 */
const buffersFor = async (folder: string): Promise<{ shared_buffers?: string }> => {
  const files = ['postgresql.conf', 'postgresql.auto.conf'].map((name) => readFile(join(folder, name), 'utf8'))
  const text = (await Promise.all(files.map((file) => file.catch(() => '')))).join('\n')
  const [, set] = [...text.matchAll(/^\s*shared_buffers\s*=?\s*'?([\w.]+)/gim)].at(-1) ?? []
  if (set !== undefined && set !== usualBuffers) return {}
  // In a container, what it may have.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return { shared_buffers: `${Math.min(1_024, Math.max(128, Math.floor(memory / mebibyte / 4)))}MB` }
}

/**
 * Returns when the server is ready, or when another process interfered and the caller should look again. `meanwhile` is
 * called while the server starts.
 */
export const startPostmaster = async (
  cluster: Cluster,
  usualPort: number | undefined,
  meanwhile: () => void,
): Promise<void> => {
  removeStaleLocks(cluster.folder)
  const loggedBytes = await prepareLog(cluster)
  const all = {
    ...settings,
    ...(await buffersFor(cluster.folder)),
    ...(await chooseEndpoint(cluster.folder, usualPort)),
  }
  const options = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`)
  const args = ['-w', '-t', '60', '-D', cluster.folder, '-l', cluster.log, '-o', options.join(' ')]
  const starting = cluster.run(cluster.programs.pg_ctl, 'start', ...args)
  meanwhile()
  const { ok, output } = await starting
  if (ok) return
  const log = (await readFile(cluster.log)).subarray(loggedBytes).toString()
  // The memory is in use while orphans of a killed server finish their last statement.
  const isContended = /lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(log)
  if (isContended || findPostmaster(cluster.folder)?.isAlive) return
  throw new Error(`PostgreSQL did not start in ${cluster.folder}: ${findCause(log || output)}; see ${cluster.log}`)
}

/** Returns when the server has stopped; another process may have started a successor by then. */
export const stopPostmaster = async ({ folder, log, programs, run }: Cluster): Promise<void> => {
  const pid = findPostmaster(folder)?.pid
  // With -w, pg_ctl would mistake the successor for the server that it waits for.
  const { ok, output } = await run(programs.pg_ctl, 'stop', '-W', '-m', 'fast', '-D', folder)
  if (!ok) throw new Error(`PostgreSQL did not stop in ${folder}: ${findCause(output)}; see ${log}`)
  for (const deadline = performance.now() + 60_000; findPostmaster(folder)?.pid === pid; await delay(10)) {
    if (performance.now() > deadline) throw new Error(`PostgreSQL in ${folder} has not stopped after 60 s; see ${log}`)
  }
}

/**
 * Reads postmaster.pid: process, folder, start time, port, socket folder, address, shared memory, status. The process is
 * alive if it is the server of this cluster; there is no endpoint until it is ready.
 */
export const findPostmaster = (folder: string) => {
  const lines = readOrEmpty(join(folder, 'postmaster.pid')).split('\n')
  const [, , , port, socketFolder, address, , status] = lines
  const pid = Number(lines[0])
  if (!pid) return undefined
  const endpoint = { host: socketFolder ? resolve(folder, socketFolder) : (address ?? ''), port: Number(port) }
  return { pid, isAlive: isServer(pid, folder) === true, endpoint: status?.trim() === 'ready' ? endpoint : undefined }
}

/** PostgreSQL respects the lock of any live process of its user, such as a zombie or, after a reboot, an unrelated one. */
const removeStaleLocks = (folder: string): void => {
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const path = join(folder, name)
    const pid = Number.parseInt(readOrEmpty(path), 10)
    // A lock file is empty for an instant while its server starts, and forever after a crash at that instant.
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY)
    if (pid > 0 ? isServer(pid, folder) === false : age > 5_000) rmSync(path, { force: true })
  }
}

/** Whether this process is the server of this folder; undefined when it does not exist or the platform cannot tell. */
const isServer = (pid: number, folder: string): boolean | undefined => {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(folder)
    if (process.platform === 'win32') return process.kill(pid, 0) || undefined
    return execFileSync('ps', ['-p', `${pid}`, '-o', 'args='], { encoding: 'utf8' }).includes(folder)
  } catch {
    return undefined
  }
}

const chooseEndpoint = async (folder: string, usualPort?: number): Promise<Record<string, string | number>> => {
  const longestSocketBytes = process.platform === 'darwin' ? 103 : 107
  if (process.platform !== 'win32' && Buffer.byteLength(join(folder, '.s.PGSQL.5432')) <= longestSocketBytes) {
    // The path is relative, because that of the cluster may contain what a list of folders cannot.
    return { port: 5432, listen_addresses: '', unix_socket_directories: '.' }
  }
  // Another process may hold a connection string that names the last port.
  const options = readOrEmpty(join(folder, 'postmaster.opts'))
  const last = options.includes('listen_addresses=127') ? Number(options.match(/"port=(\d+)"/)?.[1] ?? 0) : 0
  const port = usualPort ?? (await freePort('127.0.0.1', last).catch(() => freePort('127.0.0.1', 0)))
  return { port, listen_addresses: '127.0.0.1', unix_socket_directories: '' }
}

/** Gives the log to the account that will write it, and returns its size. */
const prepareLog = async ({ log, account }: Cluster): Promise<number> => {
  // As root this must not follow a link, or the owner of the folder could obtain any file.
  const flags = constants.O_CREAT | constants.O_APPEND | constants.O_WRONLY | constants.O_NOFOLLOW
  await using handle = await open(log, flags, 0o600)
  if (account) await handle.chown(account.uid, account.gid)
  return (await handle.stat()).size
}

const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
