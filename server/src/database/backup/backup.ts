import { randomBytes } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { fileTrouble } from '../../file-trouble.ts'
import { Refusal } from '../../refusal.ts'
import { syncFolder } from '../embedded/cluster.ts'
import { openEmbedded } from '../embedded/server.ts'
import { type Entry, type FileEntry, writeArchive } from './archive.ts'
import { contentOf, controlFile, listClusterFiles, openFile, readControlFile } from './cluster-files.ts'
import { type Description, type FileSum, paths, summed, textEntry } from './manifest.ts'
import { type RunningBackup, withRunningBackup } from './running-backup.ts'

type BackupRequest = {
  dataDirectory: string
  file: string
  signal: AbortSignal
  say: (line: string) => void
  /** Called with the bytes that have been copied, and about how many there are. */
  onProgress: (bytes: number, ofAbout: number) => void
}

/**
 * Copies the embedded database while it serves, with the secret of the installation, into one file: everything that was
 * committed when the copy ended. The file gets its name when it is complete and synced to the disk.
 */
export const backUp = async (request: BackupRequest) => {
  const { dataDirectory, file, signal, say } = request
  const folder = await checkPaths(dataDirectory, file)
  const secret = await readFile(join(dataDirectory, paths.secret)).catch(() => null)
  const startedAt = new Date().toISOString()
  const unfinished = join(folder, `${unfinishedPrefix}${randomBytes(6).toString('hex')}`)
  await using server = await openEmbedded(dataDirectory, say)
  try {
    await withRunningBackup(server.connectionString, async (backup) => {
      const description: Description = { format: 1, postgres: backup.version, startedAt, hasSecret: secret !== null }
      const archive = writeArchive(entriesOf(backup, description, secret, request))
      const out = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true })
      await pipeline(archive, createZstdCompress(), out, { signal: AbortSignal.any([signal, backup.lost]) })
    })
    await checkPaths(dataDirectory, file)
    const { size } = await stat(unfinished)
    await rename(unfinished, file)
    await syncFolder(folder)
    return { file, bytes: size, startedAt, hasSecret: secret !== null }
  } catch (error) {
    if (signal.aborted) throw new Refusal('the backup was stopped, and there is none: run it again', { cause: error })
    const isOfDatabase = error instanceof Error && 'path' in error && error.path !== unfinished
    const trouble = isOfDatabase ? null : fileTrouble(folder, error)
    throw trouble
      ? new Refusal(`${trouble}, and there is no backup: choose another folder for it`, { cause: error })
      : error
  } finally {
    await rm(unfinished, { force: true })
  }
}

async function* entriesOf(
  { cluster, sizeBytes, end }: RunningBackup,
  description: Description,
  secret: Buffer | null,
  { onProgress }: BackupRequest,
): AsyncGenerator<Entry> {
  const sums: FileSum[] = []
  let bytes = 0
  const file = ({ path, size, content }: FileEntry): FileEntry => ({
    path,
    size,
    content: summed(path, content, (sum) => {
      sums.push(sum)
      bytes += sum.size
      onProgress(bytes, sizeBytes)
    }),
  })
  async function* copyOf(path: string, whenGone = () => {}): AsyncGenerator<Entry> {
    await using handle = await openFile(join(cluster, path))
    if (!handle) return whenGone()
    const { size } = await handle.stat()
    yield file({ path: `${paths.cluster}/${path}`, size, content: contentOf(handle, size) })
  }
  yield textEntry(paths.description, JSON.stringify(description))
  if (secret) yield file(textEntry(paths.secret, secret))
  yield { path: paths.cluster, folder: true }
  const { folders, files } = await listClusterFiles(cluster)
  for (const path of folders) yield { path: `${paths.cluster}/${path}`, folder: true }
  for (const path of files) yield* copyOf(path)
  // It says from where the server recovers, so it is copied last.
  yield file(textEntry(`${paths.cluster}/${controlFile}`, await readControlFile(cluster)))
  const { label, wal } = await end()
  yield file(textEntry(`${paths.cluster}/backup_label`, label))
  for (const name of wal)
    yield* copyOf(`pg_wal/${name}`, () => {
      throw new Error(
        `PostgreSQL has removed ${name}, which the backup needs: leave max_slot_wal_keep_size unset, and run it again`,
      )
    })
  yield textEntry(paths.manifest, JSON.stringify({ files: sums }))
}

/** Returns the folder of the file. */
const checkPaths = async (dataDirectory: string, file: string): Promise<string> => {
  if (!existsSync(join(dataDirectory, paths.cluster))) {
    throw new Refusal(`there is no database in ${dataDirectory}: say where with --data-dir or MASTHEAD_DATA_DIR`)
  }
  if (existsSync(file)) throw new Refusal(`${file} is there already: choose another name`)
  const folder = dirname(resolve(file))
  if (!(await stat(folder).catch(() => null))?.isDirectory())
    throw new Refusal(`there is no folder ${folder}: create it first, or choose another`)
  const place = relative(await realpath(dataDirectory), join(await realpath(folder), basename(file)))
  if (!place.startsWith('..') && !isAbsolute(place))
    throw new Refusal(`${file} would be lost with the data beside it: choose another folder`)
  await removeAbandoned(folder)
  return folder
}

const unfinishedPrefix = '.masthead-backup-'
const abandonedAfterMilliseconds = 86_400_000

/** Removes what killed backups left. */
const removeAbandoned = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(unfinishedPrefix)) continue
    const written = (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? Date.now()
    if (Date.now() - written > abandonedAfterMilliseconds) await rm(join(folder, name), { force: true })
  }
}
