import { createReadStream, type Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Refusal } from '../../refusal.ts'
import { tooManyBytes } from './bounds.ts'

/** The bytes of a file, unpacked. They can be read again and again, and come in pieces. */
export type ByteSource = {
  /** What messages call it. */
  path: string
  /** In bytes, compressed or not. */
  size: number
  /** How many of them have been read so far. */
  bytes: () => number
  /** In pieces of about so many bytes. */
  read: (chunkSize?: number) => AsyncGenerator<Buffer>
}

type Opened = { stats: Stats; beginning: Buffer }

type DiskFile = ByteSource & { isZip: boolean }

/** Large enough to make batches of rows cheap, small enough to save memory. */
const usualChunk = 16 * 1024

export const openDiskFile = async (path: string, mostBytes: number): Promise<DiskFile> => {
  const opened = await inspect(path)
  const isGzip = startsWith(opened.beginning, [0x1f, 0x8b])
  let bytes = () => 0
  async function* read(chunkSize = usualChunk): AsyncGenerator<Buffer> {
    refuseOther(path, opened.stats, (await inspect(path)).stats)
    const file = createReadStream(path, { highWaterMark: chunkSize })
    bytes = () => file.bytesRead
    // Errors of both streams arrive at the reader of the last one.
    const contents = isGzip ? pipeline(file, createGunzip({ chunkSize }), () => {}) : file
    try {
      yield* counted(path, contents, mostBytes)
    } catch (error) {
      throw asRefusal(path, error)
    }
  }
  const isZip = startsWith(opened.beginning, [0x50, 0x4b, 0x03, 0x04])
  return { path, size: opened.stats.size, bytes: () => bytes(), read, isZip }
}

export async function* counted(
  path: string,
  chunks: AsyncIterable<Buffer>,
  mostBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  let unpacked = 0
  for await (const chunk of chunks) {
    unpacked += chunk.length
    if (unpacked > mostBytes) throw tooManyBytes(path, mostBytes)
    yield chunk
  }
}

const startsWith = (bytes: Uint8Array, beginning: readonly number[]): boolean =>
  beginning.every((byte, index) => bytes[index] === byte)

const inspect = async (path: string): Promise<Opened> => {
  try {
    // Opening a named pipe would wait for its writer, so this comes first.
    const stats = await stat(path)
    if (stats.isDirectory()) throw new Refusal(`${path} ${reasons.EISDIR}`)
    if (!stats.isFile())
      throw new Refusal(`${path} is not a regular file, and could not be read twice: copy it into one`)
    const handle = await open(path, 'r')
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(8), 0, 8, 0)
      return { stats, beginning: buffer.subarray(0, bytesRead) }
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw asRefusal(path, error)
  }
}

const refuseOther = (path: string, before: Stats, now: Stats): void => {
  if (before.ino === now.ino && before.size === now.size && before.mtimeMs === now.mtimeMs) return
  throw new Refusal(`${path} was changed while it was being read: start again when it is complete`)
}

const reasons: Record<string, string> = {
  ENOENT: 'does not exist: check the path',
  ENOTDIR: 'does not exist: check the path',
  EISDIR: 'is a folder, not a file: name the file in it',
  EACCES: 'may not be read by this user: let it read the file',
  EPERM: 'may not be read by this user: let it read the file',
  Z_BUF_ERROR: 'is cut off: its gzip data ends too early, copy it again',
  Z_DATA_ERROR: 'is damaged: its gzip data cannot be unpacked, copy it again',
}

export const asRefusal = (path: string, error: unknown): unknown => {
  if (error instanceof Refusal || !(error instanceof Error)) return error
  const { code = '' } = error as NodeJS.ErrnoException // errors of the file system and of zlib have a code
  return new Refusal(`${path} ${reasons[code] ?? `cannot be read: ${error.message}`}`, { cause: error })
}
