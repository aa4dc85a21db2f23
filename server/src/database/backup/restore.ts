import { createReadStream } from 'node:fs'
import { chmod, link, mkdir, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import { openDataFolder } from '../../data-folder.ts'
import { codeOf } from '../../error-message.ts'
import { fileTrouble } from '../../file-trouble.ts'
import { Refusal } from '../../refusal.ts'
import { newClient } from '../connections/connection.ts'
import { makeDraftFolder, ownVersion, syncFolder } from '../embedded/cluster.ts'
import { openEmbedded } from '../embedded/server.ts'
import { totalLevel } from '../tally-levels.ts'
import { type Entry, readArchive } from './archive.ts'
import { type Description, type FileSum, paths, readDescription, summed, verify } from './manifest.ts'

type RestoreRequest = {
  file: string
  dataDirectory: string
  signal: AbortSignal
  /** Called with the bytes of the file that have been read. */
  onProgress: (bytes: number, of: number) => void
}

/**
 * Unpacks a backup into an empty data directory. Every file is compared with its hash, and PostgreSQL recovers from the
 * backup once, before anything gets its name: a restore that fails leaves nothing.
 */
export const restore = async (request: RestoreRequest) => {
  const { file, dataDirectory, signal } = request
  if (!(await stat(file).catch(() => null))?.isFile())
    throw new Refusal(`there is no file ${file}: name one that \`masthead backup\` wrote`)
  const wasThere = (await stat(dataDirectory).catch(() => null)) !== null
  const folder = await openDataFolder(dataDirectory)
  let restored = false
  try {
    const draft = await makeDraftFolder(folder)
    try {
      await requireEmpty(folder, draft)
      // The account under which root runs PostgreSQL must reach the cluster in it.
      await chmod(draft, 0o711)
      const { startedAt, hasSecret } = await unpack(draft, request)
      const counts = await recover(draft)
      signal.throwIfAborted()
      await putInPlace(draft, folder, hasSecret)
      restored = true
      return { dataDirectory, startedAt, hasSecret, ...counts }
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  } catch (error) {
    if (signal.aborted)
      throw new Refusal('the restore was stopped, and nothing was restored: run it again', { cause: error })
    const trouble = fileTrouble(folder, error)
    throw trouble
      ? new Refusal(`${trouble}, and nothing was restored: choose another --data-dir`, { cause: error })
      : error
  } finally {
    if (!restored && !wasThere) await rmdir(folder).catch(() => {})
  }
}

const requireEmpty = async (folder: string, draft: string): Promise<void> => {
  // Every file system has lost+found at its root.
  const [found] = (await readdir(folder)).filter((name) => name !== 'lost+found' && name !== basename(draft))
  if (found === undefined) return
  throw new Refusal(
    `${folder} is not empty (it holds ${found}): move it away, or restore into another folder with --data-dir`,
  )
}

const unpack = async (draft: string, { file, signal, onProgress }: RestoreRequest): Promise<Description> => {
  const { size } = await stat(file)
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0
    for await (const chunk of chunks) {
      bytes += chunk.length
      onProgress(bytes, size)
      yield chunk
    }
  }
  const write = (unzipped: AsyncIterable<Buffer>) => writeEntries(readArchive(unzipped), draft)
  try {
    return await pipeline(createReadStream(file), counted, createZstdDecompress(), write, { signal })
  } catch (error) {
    const reason = whyUnusable(error)
    throw reason === null ? error : new Refusal(`${file} cannot be restored: ${reason}`, { cause: error })
  }
}

const writeEntries = async (entries: AsyncIterable<Entry>, draft: string): Promise<Description> => {
  const sums: FileSum[] = []
  let description: Description | undefined
  let isComplete = false
  for await (const entry of entries) {
    if (isComplete) throw new Refusal('something follows its end')
    const path = join(draft, entry.path)
    if (!description) {
      if (entry.path !== paths.description) throw new Refusal('it is not a backup of Masthead')
      description = await readDescription(entry)
      requireOwnVersion(description)
    } else if (entry.path === paths.manifest) {
      await verify(entry, sums)
      isComplete = true
    } else if (entry.path !== paths.secret && entry.path.split('/', 1)[0] !== paths.cluster) {
      throw new Refusal(`it holds ${entry.path}, which belongs to no backup`)
    } else if ('folder' in entry) {
      await mkdir(path, { mode: 0o700 })
    } else {
      // PostgreSQL syncs its own files when it recovers.
      const flush = entry.path === paths.secret
      await writeFile(
        path,
        summed(entry.path, entry.content, (sum) => sums.push(sum)),
        { flag: 'wx', mode: 0o600, flush },
      )
    }
  }
  if (!description || !isComplete) throw new Refusal('it is not complete')
  return description
}

const requireOwnVersion = ({ postgres }: Description): void => {
  if (postgres === ownVersion) return
  throw new Refusal(
    `it holds files of PostgreSQL ${postgres}, and this program brings ${ownVersion}: restore it with the Masthead that made it, ` +
      'which is then upgraded as any other',
  )
}

const again = '; copy it again, or take another backup'

/** Returns null when the file is not the cause. */
const whyUnusable = (error: unknown): string | null => {
  // Where another program is needed, the message says so.
  if (error instanceof Refusal) return error.message.includes('restore it with') ? error.message : error.message + again
  const code = codeOf(error)
  if (code === 'ZSTD_error_prefix_unknown') return `it is not a backup of Masthead${again}`
  // The archive contains a file twice, or one in a folder that it does not contain.
  if (/^(Z_|ZSTD_|EEXIST$|ENOENT$|ENOTDIR$)/.test(code)) return `it is damaged${again}`
  return null
}

/**
 * Starts PostgreSQL, which recovers from the backup and refuses WAL that ends before the copy did, and stops it. Returns the
 * number of tenants, and of records of each resource.
 */
const recover = async (draft: string) => {
  await using server = await openEmbedded(draft)
  const client = newClient({ connectionString: server.connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<{ tenants: number }>('select count(*)::integer as tenants from tenants')
    const { rows: counts } = await client.query<{ resource: string; count: number }>(
      `select resource, sum(count)::double precision as count from tallies where facet = '' and level = ${totalLevel}
        group by resource order by resource`,
    )
    const records = Object.fromEntries(counts.map(({ resource, count }) => [resource, count]))
    return { tenants: rows[0]?.tenants ?? 0, records }
  } finally {
    await client.end()
  }
}

/** The database is moved last, so that a process that finds it finds the secret too. */
const putInPlace = async (draft: string, folder: string, hasSecret: boolean): Promise<void> => {
  const secret = join(folder, paths.secret)
  try {
    if (hasSecret) await link(join(draft, paths.secret), secret)
    await rename(join(draft, paths.cluster), join(folder, paths.cluster)).catch(async (error) => {
      if (hasSecret) await rm(secret)
      throw error
    })
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY'].includes(codeOf(error))) throw error
    throw new Refusal(
      `something else was started in ${folder} meanwhile, and nothing was restored: stop it, and restore into an empty folder`,
      { cause: error },
    )
  }
  await syncFolder(folder)
}
