import { createReadStream, type Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Refusal } from '../../refusal.ts'
import { CsvRows, type SourceRow } from './csv-rows.ts'
import { type FileFormat, formatOfName } from './file-names.ts'
import { JsonLines } from './json-lines.ts'
import { isOfRejectedRows, rowOfRejection } from './rejected-rows.ts'
import { cellOfSpreadsheet } from './spreadsheet-cells.ts'
import { Utf8Text } from './utf8-text.ts'

/** A file of records is read in batches of rows, so that its size does not matter. */
export type SourceFile = {
  path: string
  /** In bytes, compressed or not. */
  size: number
  /** How many of them have been read so far. */
  bytes: () => number
  /** NDJSON has one column. */
  header: string[]
  /** Without the header, a batch for each piece of the file; each call reads it from its beginning. */
  rows: () => AsyncGenerator<SourceRow[]>
}

/** How much a file may hold, unpacked, and what it may cost this process to read it. */
export type Bounds = { bytes: number; rows: number; processorSeconds: number }

const boundless: Bounds = {
  bytes: Number.POSITIVE_INFINITY,
  rows: Number.POSITIVE_INFINITY,
  processorSeconds: Number.POSITIVE_INFINITY,
}

export const openSourceFile = async (path: string, bounds: Bounds = boundless): Promise<SourceFile> => {
  const format = formatOf(path)
  const opened = await inspect(path)
  const begun = process.cpuUsage()
  let bytes = () => 0
  async function* rows(): AsyncGenerator<SourceRow[]> {
    const reader = format === 'csv' ? new CsvRows(path) : new JsonLines(path)
    const texts = readTexts(path, opened, bounds.bytes, (count) => (bytes = count))
    for await (const batch of readRows(reader, texts)) {
      refuseTooMuch(path, bounds, reader.count, process.cpuUsage(begun))
      yield batch
    }
  }
  const file = { path, size: opened.stats.size, bytes: () => bytes() }
  if (format === 'ndjson') return { ...file, header: [rowOfRejection], rows }
  const header = await headerOf(path, rows())
  const isEscaped = isOfRejectedRows(header)
  return { ...file, header, rows: () => withoutHeader(rows(), isEscaped) }
}

const formatOf = (path: string): FileFormat => {
  const format = formatOfName(path)
  if (format) return format
  throw new Refusal(
    `${path} is neither CSV nor NDJSON by its name: end it in .csv, .tsv, .txt, .ndjson or .jsonl, with .gz or without`,
  )
}

const headerOf = async (path: string, batches: AsyncGenerator<SourceRow[]>): Promise<string[]> => {
  for await (const [header] of batches) {
    if (header?.problem) throw new Refusal(`the header of ${path} cannot be read: ${header.problem}`)
    if (header) return header.cells.map((name) => name?.trim() ?? '')
  }
  throw new Refusal(`${path} is empty: its first line must name the columns`)
}

async function* withoutHeader(batches: AsyncGenerator<SourceRow[]>, isEscaped: boolean): AsyncGenerator<SourceRow[]> {
  let isFirst = true
  for await (const rows of batches) {
    if (isFirst && rows.length > 0) {
      rows.shift()
      isFirst = false
    }
    if (isEscaped) for (const row of rows) row.cells = row.cells.map(cellOfSpreadsheet)
    yield rows
  }
}

/** Yields a batch for each piece of text, even where no row ends in it. */
async function* readRows(reader: CsvRows | JsonLines, texts: AsyncGenerator<string>): AsyncGenerator<SourceRow[]> {
  for await (const text of texts) yield reader.push(text)
  yield reader.end()
}

const remedy = 'split it into several files, or ask the operator of the service to import it from the command line'

const refuseTooMuch = (
  path: string,
  { rows, processorSeconds }: Bounds,
  count: number,
  { user, system }: NodeJS.CpuUsage,
): void => {
  if (count > rows) throw new Refusal(`${path} has more than ${rows.toLocaleString('en')} rows: ${remedy}`)
  if (user + system <= processorSeconds * 1_000_000) return
  throw new Refusal(`reading ${path} took more than ${processorSeconds} seconds of processor time: ${remedy}`)
}

type Opened = { stats: Stats; isGzip: boolean }

const inspect = async (path: string): Promise<Opened> => {
  try {
    // Opening a named pipe would wait for its writer, so this comes first.
    const stats = await stat(path)
    if (stats.isDirectory()) throw new Refusal(`${path} is a folder, not a file`)
    if (!stats.isFile()) throw new Refusal(`${path} is not a regular file, and could not be read twice`)
    const handle = await open(path, 'r')
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
      return { stats, isGzip: bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b }
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw asRefusal(path, error)
  }
}

/** Large enough to make batches cheap, small enough to save memory. */
const chunkSize = 16 * 1024

async function* readTexts(
  path: string,
  opened: Opened,
  most: number,
  counting: (bytes: () => number) => void,
): AsyncGenerator<string> {
  refuseOther(path, opened.stats, (await inspect(path)).stats)
  const file = createReadStream(path, { highWaterMark: chunkSize })
  counting(() => file.bytesRead)
  // Errors of both streams arrive at the reader of the last one.
  const contents = opened.isGzip ? pipeline(file, createGunzip({ chunkSize }), () => {}) : file
  const text = new Utf8Text(path)
  let unpacked = 0
  try {
    for await (const chunk of contents) {
      unpacked += chunk.length
      if (unpacked > most)
        throw new Refusal(`${path} holds more than ${most.toLocaleString('en')} bytes, unpacked: ${remedy}`)
      yield text.push(chunk)
    }
  } catch (error) {
    throw asRefusal(path, error)
  }
  yield text.end()
}

const refuseOther = (path: string, before: Stats, now: Stats): void => {
  if (before.ino === now.ino && before.size === now.size && before.mtimeMs === now.mtimeMs) return
  throw new Refusal(`${path} was changed while it was being read: start again when it is complete`)
}

const reasons: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  Z_BUF_ERROR: 'is cut off: its gzip data ends too early, copy it again',
  Z_DATA_ERROR: 'is damaged: its gzip data cannot be unpacked, copy it again',
}

const asRefusal = (path: string, error: unknown): unknown => {
  if (error instanceof Refusal || !(error instanceof Error)) return error
  const { code = '' } = error as NodeJS.ErrnoException // errors of the file system and of zlib have a code
  return new Refusal(`${path} ${reasons[code] ?? `cannot be read: ${error.message}`}`, { cause: error })
}
