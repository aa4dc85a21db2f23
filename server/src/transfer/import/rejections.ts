import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../../refusal.ts'
import { csvLine } from '../files/csv-rows.ts'
import { rejectionColumns } from '../files/rejected-rows.ts'
import type { SourceFile } from '../files/source-file.ts'
import { spreadsheetCell } from '../files/spreadsheet-cells.ts'
import { unreadable } from '../files/utf8-text.ts'

export type Rejection = { line: number; field: string; reason: string }

export const rejectedFileOf = (path: string): string => `${path}.rejected.csv`

/**
 * Writes the refused rows as they stand in the file, with the reason in front, ready to be corrected and imported again.
 * Rows and rejections come in the order of the file, so neither is held in memory. Returns the path, or null when they
 * exceed the limit, and then none is stored.
 */
export const writeRejected = async (
  file: SourceFile,
  rejections: AsyncIterable<Rejection>,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<string | null> => {
  const path = rejectedFileOf(file.path)
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const draftFile = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true })
    await pipeline(Readable.from(upTo(mostBytes, linesOf(file, rejections))), draftFile)
    await setRejectedAside(file)
    if (draftFile.bytesWritten > mostBytes) {
      await rm(draft)
      return null
    }
    await rename(draft, path)
    return path
  } catch (error) {
    await rm(draft, { force: true })
    if (error instanceof Refusal || !(error instanceof Error)) throw error
    throw new Refusal(`the refused rows cannot be written to ${path}: ${error.message}`, { cause: error })
  }
}

/** Somebody may be correcting the file of an earlier import, so it is renamed. */
export const setRejectedAside = async ({ path: source }: SourceFile): Promise<void> => {
  const path = rejectedFileOf(source)
  await rename(path, `${path}.bak`).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return
    throw new Refusal(`${path} is in the way, and cannot be renamed: ${cause.message}`, { cause })
  })
}

/** Ends after the piece that exceeds the limit. */
async function* upTo(mostBytes: number, lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let count = 0
  for await (const text of lines) {
    const bytes = bytesOf(text)
    yield bytes
    count += bytes.length
    if (count > mostBytes) return
  }
}

/** Bytes that were not UTF-8 stay so, and are refused again unless they are corrected. */
const bytesOf = (lines: string): Buffer => {
  const parts = lines.split(unreadable).map((part) => Buffer.from(part))
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [notUtf8, part])))
}

const notUtf8 = Buffer.from([0xff])

async function* linesOf(file: SourceFile, rejections: AsyncIterable<Rejection>): AsyncGenerator<string> {
  // A row that was rejected before loses the former reason.
  const own = <T>(cells: readonly T[]) =>
    cells.filter((_, index) => !rejectionColumns.includes(file.header[index] ?? ''))
  yield csvLine([...rejectionColumns, ...own(file.header)])
  const waiting = rejections[Symbol.asyncIterator]()
  let next = await waiting.next()
  for await (const rows of file.rows()) {
    let lines = ''
    for (const row of rows) {
      if (next.done || next.value.line !== row.line) continue
      const { line, field, reason } = next.value
      lines += csvLine([String(line), field || null, reason, ...own(row.cells)].map(spreadsheetCell))
      next = await waiting.next()
    }
    if (lines !== '') yield lines
    if (next.done) return
  }
}
