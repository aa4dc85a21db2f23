import { createHash } from 'node:crypto'
import { Refusal } from '../../refusal.ts'
import type { Entry, FileEntry } from './archive.ts'

/** The first entry of a backup: what it is, so that one that cannot be used is refused before anything is unpacked. */
export type Description = {
  format: 1
  /** The major version of the PostgreSQL whose files these are. */
  postgres: string
  startedAt: string
  /** False when MASTHEAD_SECRET was given from outside: then it is kept elsewhere. */
  hasSecret: boolean
}
/** The last entry: what must have come before it. A backup without it is not complete. */
export type Manifest = { files: FileSum[] }
export type FileSum = { path: string; size: number; sha256: string }

export const descriptionPath = 'masthead-backup.json'
export const manifestPath = 'masthead-manifest.json'
export const secretPath = 'secret'
export const clusterPath = 'postgres'

const largestJsonBytes = 256 * 1024 * 1024

export const textEntry = (path: string, text: string | Buffer): FileEntry => {
  const content = Buffer.from(text)
  return {
    path,
    size: content.length,
    content: (async function* () {
      yield content
    })(),
  }
}

/** Passes a file on, and says at its end what was in it. */
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
  const parts: Buffer[] = []
  for await (const part of entry.content) parts.push(part)
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

/** Fails unless exactly these files came, each of them whole. */
export const verify = async (entry: Entry, found: readonly FileSum[]): Promise<void> => {
  const { files } = await readJson(entry)
  const expected = new Set(Array.isArray(files) ? files.map(lineOf) : [])
  const wrong = found.find((file) => !expected.delete(lineOf(file)))
  if (wrong) throw new Refusal(`${wrong.path} in it is damaged`)
  if (expected.size > 0) throw new Refusal(`${expected.size} files are missing from it`)
}

const lineOf = ({ path, size, sha256 }: FileSum): string => `${sha256} ${size} ${path}`
