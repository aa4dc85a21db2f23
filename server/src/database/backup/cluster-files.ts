import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Refusal } from '../../refusal.ts'

/**
 * What belongs into a copy of a running cluster, after "Making a Base Backup Using the Low Level API" of PostgreSQL's
 * manual and what pg_basebackup leaves out.
 */
export type ClusterFiles = { folders: string[]; files: string[] }

/** Their contents are of one run of the server; the log is copied apart, when it is known how much of it is needed. */
const emptied = new Set([
  ...['pg_dynshmem', 'pg_notify', 'pg_replslot', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans', 'pg_wal'],
])
const leftOut = [
  /^postmaster\.(pid|opts)$/,
  /^\.s\.PGSQL\./,
  /^pg_internal\.init/,
  /^pgsql_tmp/,
  /^(backup_label|tablespace_map)(\.old)?$/,
  /^(backup_manifest|postgresql\.auto\.conf\.tmp|current_logfiles\.tmp)$/,
  // Relations of a session.
  /^t\d+_\d+/,
]
/** Says where the server is; read apart, because it must be whole. */
export const controlFile = 'global/pg_control'

/** Made after the backup has begun: what comes later is in the log. */
export const listClusterFiles = async (cluster: string): Promise<ClusterFiles> => {
  const found: ClusterFiles = { folders: [], files: [] }
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(cluster, folder), { withFileTypes: true }).catch(unlessGone)) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (leftOut.some((pattern) => pattern.test(entry.name))) continue
      if (entry.isDirectory()) {
        found.folders.push(path)
        if (!emptied.has(path)) await visit(path)
      } else if (emptied.has(path)) {
        // Moved to another disk, with a link in its place.
        found.folders.push(path)
      } else if (entry.isSymbolicLink()) {
        throw new Refusal(`${path} of the database is a link: a backup holds only what lies in the folder itself`)
      } else if (entry.isFile() && path !== controlFile) {
        found.files.push(path)
      }
    }
  }
  await visit('')
  return found
}

/** Null when it has gone meanwhile: the log knows. */
export const openFile = (path: string): Promise<FileHandle | null> =>
  // Follows no link, or whoever owns the folder could have any file read.
  open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })

const chunkBytes = 256 * 1024

/** As many bytes as said, also of a file that is cut or grows while it is read; the log brings it to where it should be. */
export async function* contentOf(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let left = size; left > 0; ) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, left))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length)
    const part = bytesRead > 0 ? buffer.subarray(0, bytesRead) : buffer.fill(0)
    left -= part.length
    yield part
  }
}

/** Read until it is twice the same: the server may be writing it. */
export const readControlFile = async (cluster: string): Promise<Buffer> => {
  const path = join(cluster, controlFile)
  for (let former = Buffer.alloc(0), tries = 0; tries < 100; tries++) {
    const handle = await openFile(path)
    if (!handle) throw new Error(`${path} is missing`)
    const content = await handle.readFile().finally(() => handle.close())
    if (content.equals(former)) return content
    former = content
  }
  throw new Error(`${path} changes all the time`)
}

const unlessGone = (error: NodeJS.ErrnoException): [] => {
  if (error.code === 'ENOENT') return []
  throw error
}
