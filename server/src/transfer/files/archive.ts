import { type Entry, fromBufferPromise, openPromise, type ZipFile } from 'yauzl'
import { Refusal } from '../../refusal.ts'
import { tooManyBytes } from './bounds.ts'
import { type ByteSource, counted } from './byte-source.ts'

/** What an archive may list. A workbook has some dozen files. */
const mostEntries = 10_000
/** A workbook inside an archive is read from memory. */
const mostInMemory = 64 * 1024 * 1024

/** A ZIP archive, which is opened for each reading, so nothing stays open between them. */
export type Archive = {
  path: string
  names: readonly string[]
  /** The bytes of one of its files, unpacked. */
  sourceOf: (name: string) => ByteSource
}

/** `from` holds the archive where it is no file of its own. */
export const openArchive = async (path: string, mostBytes: number, from?: Buffer): Promise<Archive> => {
  const sizes = new Map<string, number>()
  const zip = await opened(path, from)
  try {
    if (zip.entryCount > mostEntries)
      throw new Refusal(
        `${path} lists more than ${mostEntries.toLocaleString('en')} files: is it an archive of tables?`,
      )
    for await (const { fileName, uncompressedSize } of zip.eachEntry()) sizes.set(fileName, uncompressedSize)
  } catch (error) {
    throw asDamage(path, error)
  } finally {
    zip.close()
  }
  const sourceOf = (name: string): ByteSource => {
    const size = sizes.get(name) ?? 0
    let done = 0
    async function* read(): AsyncGenerator<Buffer> {
      done = 0
      const zip = await opened(path, from)
      try {
        const entry = await entryNamed(zip, name)
        if (!entry) throw new Refusal(`${path} holds no ${name}`)
        if (!entry.canDecodeFileData())
          throw new Refusal(
            `${name} in ${path} is ${entry.isEncrypted() ? 'encrypted' : 'packed in an unknown way'}: save it without a password`,
          )
        for await (const chunk of counted(path, await zip.openReadStreamPromise(entry), mostBytes)) {
          done += chunk.length
          yield chunk
        }
      } catch (error) {
        throw asDamage(path, error)
      } finally {
        zip.close()
      }
    }
    return { path: `${path}/${name}`, size, bytes: () => done, read }
  }
  return { path, names: [...sizes.keys()], sourceOf }
}

/** The bytes of a small file inside an archive, such as the description of a workbook. */
export const allBytes = async (source: ByteSource, most = mostInMemory): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of source.read()) {
    length += chunk.length
    if (length > most) throw tooManyBytes(source.path, most)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const opened = async (path: string, from: Buffer | undefined): Promise<ZipFile> => {
  const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true }
  try {
    return await (from ? fromBufferPromise(from, options) : openPromise(path, options))
  } catch (error) {
    throw asDamage(path, error)
  }
}

const entryNamed = async (zip: ZipFile, name: string): Promise<Entry | undefined> => {
  for await (const entry of zip.eachEntry()) if (entry.fileName === name) return entry
  return undefined
}

const asDamage = (path: string, error: unknown): unknown =>
  error instanceof Refusal || !(error instanceof Error)
    ? error
    : new Refusal(`${path} is damaged: its ZIP data cannot be unpacked (${error.message}), copy it again`, {
        cause: error,
      })
