import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../../../refusal.ts'
import { textOfCell } from '../../files/cell.ts'
import { csvLine, type SourceRow } from '../../files/csv-rows.ts'
import { escapedLine } from '../../files/escaped-rows.ts'
import { rejectionColumns, rowOfRejection } from '../../files/rejected-rows.ts'
import type { SourceFile } from '../../files/source-file.ts'
import { spreadsheetCell } from '../../files/spreadsheet-cells.ts'
import { byteOrderMark, encodeText } from '../../files/text-encoding.ts'
import type { TableReading } from '../../reading/table-reading.ts'

export type Rejection = { line: number; field: string; reason: string }

const rejectedFileOf = ({ rejectedPath }: SourceFile): string => `${rejectedPath}.rejected.csv`

/**
 * Writes the refused rows as they stand in the file, separated and encoded as it is, with the reason in front, ready to be
 * corrected and imported again. Rows and rejections come in the order of the file, so neither is held in memory. Returns the
 * path, or null when they exceed the limit, and then none is stored.
 */
export const writeRejected = async (
  { file, hasMarks }: Pick<TableReading, 'file' | 'hasMarks'>,
  rejections: AsyncIterable<Rejection>,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<string | null> => {
  const path = rejectedFileOf(file)
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const draftFile = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true })
    await pipeline(Readable.from(upTo(mostBytes, file, linesOf(file, hasMarks, rejections))), draftFile)
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
    throw new Refusal(
      `the refused rows cannot be written to ${path} (${error.message}): let this user write there, or import a copy of the file elsewhere`,
      { cause: error },
    )
  }
}

/** Somebody may be correcting the file of an earlier import, so it is renamed. */
export const setRejectedAside = async (file: SourceFile): Promise<void> => {
  const path = rejectedFileOf(file)
  await rename(path, `${path}.bak`).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return
    throw new Refusal(`${path} is in the way, and cannot be renamed (${cause.message}): move it away`, { cause })
  })
}

/** Ends after the piece that exceeds the limit. */
async function* upTo(mostBytes: number, file: SourceFile, lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let count = 0
  for await (const text of lines) {
    const bytes = encodeText(text, file.encoding === '' ? 'utf-8' : file.encoding)
    yield bytes
    count += bytes.length
    if (count > mostBytes) return
  }
}

async function* linesOf(
  file: SourceFile,
  hasMarks: boolean,
  rejections: AsyncIterable<Rejection>,
): AsyncGenerator<string> {
  const { header, hasObjects, escapes, lineEnd, separatorLine, encoding, isEncodingSure, hasByteOrderMark } = file
  const delimiter = hasObjects || file.separator === '' ? ',' : file.separator
  const lineOf = (cells: (string | null)[]) =>
    escapes === 'quotes' || hasObjects
      ? csvLine(cells, delimiter, lineEnd)
      : escapedLine(cells, { delimiter, isEnclosed: escapes === 'both' }, lineEnd)
  // A row that was rejected before loses the former reason.
  const isOwn = header.map((name) => !rejectionColumns.includes(name))
  const own = ({ cells, json }: SourceRow): (string | null)[] =>
    hasObjects ? [json ?? null] : cells.filter((_, index) => isOwn[index] ?? true).map(textOfCell)
  // With the mark, bytes that are not UTF-8 are refused again, and not taken for another encoding.
  const isMarked = hasByteOrderMark || !isEncodingSure || encoding.startsWith('utf-16')
  const columns = hasObjects ? [rowOfRejection] : header.filter((_, index) => isOwn[index])
  const separated = separatorLine === '' || hasObjects ? '' : separatorLine + lineEnd
  yield (isMarked ? byteOrderMark : '') + separated + lineOf([...rejectionColumns, ...columns])
  // A text that came with its mark keeps it, and gets no second one.
  const ownCell = (cell: string | null) => (hasMarks && cell?.startsWith(`'`) ? cell : spreadsheetCell(cell))
  const waiting = rejections[Symbol.asyncIterator]()
  let next = await waiting.next()
  for await (const rows of file.rows()) {
    let lines = ''
    for (const row of rows) {
      if (next.done || next.value.line !== row.line) continue
      const { line, field, reason } = next.value
      const about = [String(line), field || null, reason].map(spreadsheetCell)
      lines += lineOf([...about, ...own(row).map(ownCell)])
      next = await waiting.next()
    }
    if (lines !== '') yield lines
    if (next.done) return
  }
}
