import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Refusal } from '../../refusal.ts'

/**
 * The files to copy from a running cluster, after "Making a Base Backup Using the Low Level API" in the manual of
 * PostgreSQL and what pg_basebackup excludes.
 */
type ClusterFiles = { folders: string[]; files: string[] }

/** Their contents belong to one run of the server. The WAL is copied at the end, when its range is known. */
const emptied = new Set(
  'pg_dynshmem pg_notify pg_replslot pg_serial pg_snapshots pg_stat_tmp pg_subtrans pg_wal'.split(' '),
)
const excluded = [
  /^postmaster\.(pid|opts)$/,
  /^\.s\.PGSQL\./,
  /^pg_internal\.init/,
  /^pgsql_tmp/,
  /^(backup_label|tablespace_map)(\.old)?$/,
  /^(backup_manifest|postgresql\.auto\.conf\.tmp|current_logfiles\.tmp)$/,
  // Temporary relations.
  /^t\d+_\d+/,
]
export const controlFile = 'global/pg_control'

/** Must be called after the backup has begun: the WAL contains later files. */
export const listClusterFiles = async (cluster: string): Promise<ClusterFiles> => {
  const found: ClusterFiles = { folders: [], files: [] }
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(cluster, folder), { withFileTypes: true }).catch(unlessGone)) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (excluded.some((pattern) => pattern.test(entry.name))) continue
      // One of these may be a link to another disk.
      if (entry.isDirectory() || emptied.has(path)) {
        found.folders.push(path)
        if (!emptied.has(path)) await visit(path)
      } else if (entry.isSymbolicLink()) {
        throw new Refusal(
          `${path} of the database is a link, and a backup holds only what is in the folder itself: move what it leads to there`,
        )
      } else if (entry.isFile() && path !== controlFile) {
        found.files.push(path)
      }
    }
  }
  await visit('')
  return found
}

/** Returns null when the server has removed the file meanwhile, which the WAL accounts for. */
export const openFile = (path: string): Promise<FileHandle | null> =>
  // It must not follow a link, or the owner of the folder could have any file read.
  open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error) => unlessGone(error) && null)

const chunkBytes = 256 * 1024

/** Yields exactly `size` bytes even when the file shrinks or grows meanwhile; the WAL restores its right state. */
export async function* contentOf(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let left = size; left > 0; ) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, left))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length)
    const part = bytesRead > 0 ? buffer.subarray(0, bytesRead) : buffer.fill(0)
    left -= part.length
    yield part
  }
}

/** Reads until two reads agree, because the server may be writing the file. */
export const readControlFile = async (cluster: string): Promise<Buffer> => {
  const path = join(cluster, controlFile)
  for (let before = Buffer.alloc(0), tries = 0; tries < 100; tries++) {
    await using handle = await openFile(path)
    if (!handle) throw new Error(`${path} is missing`)
    const content = await handle.readFile()
    if (content.equals(before)) return content
    before = content
  }
  throw new Error(`${path} changes all the time`)
}

const unlessGone = (error: NodeJS.ErrnoException): [] => {
  if (error.code === 'ENOENT') return []
  throw error
}
