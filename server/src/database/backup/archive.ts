import { Refusal } from '../../refusal.ts'

/**
 * A tar archive (ustar) of folders and plain files, as a stream. No library reads it, because this reader accepts only
 * what the writer here produces: no links, no devices, no paths that lead out of the folder.
 */
export type Entry = FileEntry | { path: string; folder: true }
export type FileEntry = { path: string; size: number; content: AsyncIterable<Buffer> }

const blockBytes = 512
/** The size field holds eleven octal digits. PostgreSQL splits its files at 1 GiB. */
const largestFileBytes = 8 ** 11 - 1
const longestPathBytes = 100

export async function* writeArchive(entries: AsyncIterable<Entry>): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    yield header(entry)
    if ('folder' in entry) continue
    yield* entry.content
    yield Buffer.alloc(paddingAfter(entry.size))
  }
  yield Buffer.alloc(2 * blockBytes)
}

/** The content of each entry must be read to its end before the next entry. */
export async function* readArchive(source: AsyncIterable<Buffer>): AsyncGenerator<Entry> {
  const bytes = new ByteReader(source)
  for (;;) {
    const block = await bytes.take(blockBytes)
    if (isZero(block)) return bytes.requireEnd()
    const { path, size, isFolder } = parse(block)
    if (isFolder) {
      yield { path, folder: true }
      continue
    }
    yield { path, size, content: bytes.stream(size) }
    await bytes.take(paddingAfter(size))
  }
}

const isZero = (block: Buffer): boolean => block.every((byte) => byte === 0)

const paddingAfter = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes

/** The offset and the length of each field. */
const fields = { path: [0, 100], mode: [100, 8], size: [124, 12], checksum: [148, 8], type: [156, 1] } as const
const [fileType, folderType] = ['0', '5']

const header = (entry: Entry): Buffer => {
  const isFolder = 'folder' in entry
  const size = isFolder ? 0 : entry.size
  requirePlain(entry.path)
  if (size > largestFileBytes) throw new Error(`${entry.path} is too large for a backup`)
  const block = Buffer.alloc(blockBytes)
  block.write(entry.path, fields.path[0])
  block.write(isFolder ? '0000700\0' : '0000600\0', fields.mode[0])
  block.write(`${size.toString(8).padStart(11, '0')}\0`, fields.size[0])
  block.write(isFolder ? folderType : fileType, fields.type[0])
  block.write('ustar\u000000', 257)
  block.write(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, fields.checksum[0])
  return block
}

const parse = (block: Buffer): { path: string; size: number; isFolder: boolean } => {
  const text = ([start, length]: readonly [number, number]) =>
    block.toString('utf8', start, start + length).replace(/\0.*$/s, '')
  const [path, type, octal] = [text(fields.path), text(fields.type), /^[0-7]+/.exec(text(fields.size))?.[0]]
  const isIntact = Number.parseInt(text(fields.checksum), 8) === checksumOf(block)
  if (!isIntact || octal === undefined) throw new Refusal('a header in it is damaged')
  if (type !== fileType && type !== folderType) throw new Refusal('it holds something other than files and folders')
  requirePlain(path)
  return { path, size: Number.parseInt(octal, 8), isFolder: type === folderType }
}

/** The sum of all bytes, with spaces in place of the checksum itself. */
const checksumOf = (block: Buffer): number => {
  const [start, length] = fields.checksum
  return block.reduce((sum, byte, at) => sum + (at >= start && at < start + length ? 0x20 : byte), 0)
}

/** Refuses paths that lead out of the folder on any operating system. */
const requirePlain = (path: string): void => {
  const isPlain = path.split('/').every((part) => !/^\.{0,2}$|[\\:\p{Cc}]/u.test(part))
  if (!isPlain) throw new Refusal(`it holds a path that leads elsewhere: ${JSON.stringify(path)}`)
  if (Buffer.byteLength(path) > longestPathBytes) throw new Refusal(`it holds a path that is too long: ${path}`)
}

class ByteReader {
  readonly #source: AsyncIterator<Buffer>
  #chunk: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async take(count: number): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(this.stream(count)))
  }

  async requireEnd(): Promise<void> {
    if (!isZero(await this.take(blockBytes))) throw new Refusal('its end is damaged')
    if (this.#chunk.length > 0 || !(await this.#source.next()).done) throw new Refusal('something follows its end')
  }

  async *stream(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#chunk.length === 0) {
        const next = await this.#source.next()
        if (next.done) throw new Refusal('it ends in the middle')
        this.#chunk = next.value
      }
      const part = this.#chunk.subarray(0, left)
      this.#chunk = this.#chunk.subarray(part.length)
      left -= part.length
      yield part
    }
  }
}
