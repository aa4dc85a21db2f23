import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../../refusal.ts'
import { type CsvRow, csvLine } from '../files/csv-rows.ts'
import type { JsonRow } from '../files/json-lines.ts'
import type { SourceFile } from '../files/source-file.ts'

/** Columns that a file of rejected rows has in front of its own; an import passes by them. */
export const rejectionColumns = ['rejected_line', 'rejected_column', 'rejected_reason']
/** Holds a line of NDJSON as it was. */
export const rowOfRejection = 'rejected_row'

export type Rejection = { line: number; field: string; reason: string }

export const rejectedFileOf = (path: string): string => `${path}.rejected.csv`

/**
 * Writes the rows that were refused, as they stand in the file, with the reason in front, ready to be mended and imported
 * again. Both the rows and the rejections come in the order of the file, so neither is held in memory.
 */
export const writeRejected = async (file: SourceFile, rejections: AsyncIterable<Rejection>): Promise<string> => {
  const path = rejectedFileOf(file.path)
  try {
    await pipeline(Readable.from(linesOf(file, rejections)), createWriteStream(path, { mode: 0o600 }))
    return path
  } catch (error) {
    await rm(path, { force: true })
    if (error instanceof Refusal || !(error instanceof Error)) throw error
    throw new Refusal(`the refused rows cannot be written to ${path}: ${error.message}`, { cause: error })
  }
}

async function* linesOf(file: SourceFile, rejections: AsyncIterable<Rejection>): AsyncGenerator<string> {
  const header =
    file.format === 'csv' ? file.header.filter((name) => !rejectionColumns.includes(name)) : [rowOfRejection]
  yield csvLine([...rejectionColumns, ...header])
  const waiting = rejections[Symbol.asyncIterator]()
  let next = await waiting.next()
  for await (const rows of file.rows()) {
    let lines = ''
    for (const row of rows) {
      if (next.done || next.value.line !== row.line) continue
      const { line, field, reason } = next.value
      lines += csvLine([String(line), field || null, reason, ...cellsOf(file, row)])
      next = await waiting.next()
    }
    if (lines !== '') yield lines
    if (next.done) return
  }
}

/** Of a row that was rejected before, without what was said of it then. */
const cellsOf = (file: SourceFile, row: CsvRow | JsonRow): (string | null)[] => {
  if (file.format === 'ndjson') return 'text' in row ? [row.text] : []
  if (!('cells' in row)) return []
  return row.cells.filter((_, index) => !rejectionColumns.includes(file.header[index] ?? ''))
}
