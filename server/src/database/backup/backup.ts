import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
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
import {
  clusterPath,
  type Description,
  descriptionPath,
  type FileSum,
  manifestPath,
  secretPath,
  summed,
  textEntry,
} from './manifest.ts'
import { type RunningBackup, withRunningBackup } from './running-backup.ts'

export type BackupRequest = {
  dataDirectory: string
  file: string
  /** Stops it. */
  signal: AbortSignal
  say: (line: string) => void
  /** Called often, with how much of the database has been copied. */
  onProgress: (bytes: number, ofAbout: number) => void
}

export type BackedUp = { file: string; bytes: number; startedAt: string; hasSecret: boolean }

/**
 * Copies the embedded database while it serves, with the secret of the installation, into one file: everything that was
 * committed when the copy ended. The file appears under its name when it is complete and on the disk.
 */
export const backUp = async (request: BackupRequest): Promise<BackedUp> => {
  const { dataDirectory, file, signal, say } = request
  const folder = await checkPlaces(dataDirectory, file)
  const secret = await readFile(join(dataDirectory, secretPath)).catch(() => null)
  const startedAt = new Date().toISOString()
  const unfinished = join(folder, `${unfinishedPrefix}${randomBytes(6).toString('hex')}`)
  const server = await openEmbedded(dataDirectory, say)
  try {
    await withRunningBackup(server.connectionString, async (backup) => {
      const description: Description = { format: 1, postgres: backup.version, startedAt, hasSecret: secret !== null }
      const archive = writeArchive(entriesOf(backup, description, secret, request))
      const out = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true })
      await pipeline(archive, createZstdCompress(), out, { signal })
    })
    await checkPlaces(dataDirectory, file)
    const { size } = await stat(unfinished)
    await rename(unfinished, file)
    await syncFolder(folder)
    return { file, bytes: size, startedAt, hasSecret: secret !== null }
  } catch (error) {
    if (signal.aborted) throw new Refusal('the backup was stopped: there is none', { cause: error })
    const isOfOthers = error instanceof Error && 'path' in error && error.path !== unfinished
    const trouble = isOfOthers ? null : fileTrouble(folder, error)
    throw trouble ? new Refusal(`${trouble}: there is no backup`, { cause: error }) : error
  } finally {
    await rm(unfinished, { force: true })
    await server.close()
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
  const file = (path: string, size: number, content: AsyncIterable<Buffer>): FileEntry => ({
    path,
    size,
    content: summed(path, content, (sum) => {
      sums.push(sum)
      bytes += sum.size
      onProgress(bytes, sizeBytes)
    }),
  })
  const text = (path: string, text: string | Buffer): FileEntry => {
    const { size, content } = textEntry(path, text)
    return file(path, size, content)
  }
  yield textEntry(descriptionPath, JSON.stringify(description))
  if (secret) yield text(secretPath, secret)
  yield { path: clusterPath, folder: true }
  const { folders, files } = await listClusterFiles(cluster)
  for (const path of folders) yield { path: `${clusterPath}/${path}`, folder: true }
  for (const path of files) {
    await using handle = await openFile(join(cluster, path))
    if (!handle) continue
    const { size } = await handle.stat()
    yield file(`${clusterPath}/${path}`, size, contentOf(handle, size))
  }
  yield text(`${clusterPath}/${controlFile}`, await readControlFile(cluster))
  const { label, log } = await end()
  yield text(`${clusterPath}/backup_label`, label)
  for (const name of log) {
    await using handle = await openFile(join(cluster, 'pg_wal', name))
    if (!handle)
      throw new Error(
        `PostgreSQL has removed ${name} of its log, which the backup needs: is max_slot_wal_keep_size set?`,
      )
    const { size } = await handle.stat()
    yield file(`${clusterPath}/pg_wal/${name}`, size, contentOf(handle, size))
  }
  yield textEntry(manifestPath, JSON.stringify({ files: sums }))
}

/** Answers the folder that the file comes into. */
const checkPlaces = async (dataDirectory: string, file: string): Promise<string> => {
  if (!(await isThere(join(dataDirectory, clusterPath)))) {
    throw new Refusal(`there is no database in ${dataDirectory}: say where with --data-dir or MASTHEAD_DATA_DIR`)
  }
  if (await isThere(file)) throw new Refusal(`${file} is there already: choose another name`)
  const folder = dirname(resolve(file))
  if (!(await stat(folder).catch(() => null))?.isDirectory()) throw new Refusal(`there is no folder ${folder}`)
  const place = relative(await realpath(dataDirectory), join(await realpath(folder), basename(file)))
  if (!place.startsWith('..') && !isAbsolute(place))
    throw new Refusal(`${file} would be lost with the data beside it: choose another folder`)
  await removeAbandoned(folder)
  return folder
}

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null

const unfinishedPrefix = '.masthead-backup-'
const abandonedAfterMilliseconds = 86_400_000

/** What a killed backup left. */
const removeAbandoned = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(unfinishedPrefix)) continue
    const written = (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? Date.now()
    if (Date.now() - written > abandonedAfterMilliseconds) await rm(join(folder, name), { force: true })
  }
}
