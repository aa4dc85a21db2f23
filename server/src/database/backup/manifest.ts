import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Refusal } from '../../refusal.ts'
import type { Entry, FileEntry } from './archive.ts'

/** The first entry of a backup, so that an unusable one is refused before anything is unpacked. */
export type Description = {
  format: 1
  /** The major version of the PostgreSQL that wrote the files. */
  postgres: string
  startedAt: string
  /** False when the secret of the installation was given by MASTHEAD_SECRET. */
  hasSecret: boolean
}
/** The last entry, `{ files: FileSum[] }`, lists the files before it. A backup without it is incomplete. */
export type FileSum = { path: string; size: number; sha256: string }

export const paths = {
  description: 'masthead-backup.json',
  manifest: 'masthead-manifest.json',
  secret: 'secret',
  cluster: 'postgres',
}

const largestJsonBytes = 256 * 1024 * 1024

export const textEntry = (path: string, text: string | Buffer): FileEntry => {
  const content = Buffer.from(text)
  return { path, size: content.length, content: Readable.from([content]) }
}

/** Passes content through, and calls `onEnd` with its size and hash. */
export async function* summed(
  path: string,
  content: AsyncIterable<Buffer>,
  onEnd: (sum: FileSum) => void,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let size = 0
  for await (const part of content) {
    hash.update(part)
    size += part.length
    yield part
  }
  onEnd({ path, size, sha256: hash.digest('hex') })
}

const readJson = async (entry: Entry): Promise<Record<string, unknown>> => {
  if ('folder' in entry || entry.size > largestJsonBytes) throw new Refusal('its description is damaged')
  const parts = await Array.fromAsync(entry.content)
  try {
    return Object(JSON.parse(Buffer.concat(parts).toString('utf8')))
  } catch (cause) {
    throw new Refusal('its description is damaged', { cause })
  }
}

export const readDescription = async (entry: Entry): Promise<Description> => {
  const { format, postgres, startedAt, hasSecret } = await readJson(entry)
  if (format !== 1) throw new Refusal('it was made by a newer Masthead: restore it with that')
  if (typeof postgres !== 'string' || typeof startedAt !== 'string' || typeof hasSecret !== 'boolean') {
    throw new Refusal('its description is damaged')
  }
  return { format, postgres, startedAt, hasSecret }
}

/** Refuses a backup unless exactly these files are in its manifest. */
export const verify = async (manifest: Entry, found: readonly FileSum[]): Promise<void> => {
  const { files } = await readJson(manifest)
  const lineOf = ({ path, size, sha256 }: FileSum) => `${sha256} ${size} ${path}`
  const expected = new Set(Array.isArray(files) ? files.map(lineOf) : [])
  const wrong = found.find((file) => !expected.delete(lineOf(file)))
  if (wrong) throw new Refusal(`${wrong.path} in it is damaged`)
  if (expected.size > 0) throw new Refusal(`${expected.size} files are missing from it`)
}
