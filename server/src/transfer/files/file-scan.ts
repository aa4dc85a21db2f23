import { type Bounds, refuseTooMuch } from './bounds.ts'
import type { ByteSource } from './byte-source.ts'
import { EncodingScan, type NoticedEncoding, utf8Mark } from './text-encoding.ts'

/** What all bytes of a text tell before it is read. */
export type FileScan = NoticedEncoding & {
  /** `\N` between two tabs or at the ends of a line. */
  hasNullMark: boolean
  /** The same between any separators. */
  hasNullMarks: boolean
  /** Cells begin with a quote. */
  hasQuotes: boolean
  /** Cells begin with an apostrophe, which may be the mark of an export for spreadsheets. */
  hasApostrophes: boolean
  hasByteOrderMark: boolean
  beginning: Buffer
}

const nullMark = /[\t\n]\\N[\t\r\n]/
const anyNullMark = /[\t\n,;]\\N[\t\r\n,;]/
const quote = /[\t\n]"/
const apostrophe = /[\t\n,;"]'/
const longestBeginning = 4_096
/** No rows are made of them, so they may be large. */
const chunkSize = 256 * 1024

/** Reading the bytes alone takes a fiftieth of the time of an import. */
export const scanFile = async (source: ByteSource, bounds: Bounds): Promise<FileScan> => {
  const begun = process.cpuUsage()
  const encodings = new EncodingScan()
  // The first cell stands after a line end, too.
  let [beginning, tail] = [Buffer.alloc(0), '\n']
  let [hasNullMark, hasNullMarks, hasQuotes, hasApostrophes, lines] = [false, false, false, false, 0]
  for await (const chunk of source.read(chunkSize)) {
    if (beginning.length < longestBeginning) beginning = Buffer.concat([beginning, chunk.subarray(0, longestBeginning)])
    encodings.push(chunk)
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) lines++
    // Cells may hold line ends, so there are fewer rows than lines, but hardly by so much.
    refuseTooMuch(source.path, bounds, lines / 4, process.cpuUsage(begun))
    const mayMark = !hasNullMark && (chunk.includes(0x5c) || tail.includes('\\'))
    if (mayMark || (!hasQuotes && chunk.includes(0x22)) || (!hasApostrophes && chunk.includes(0x27))) {
      // Every second byte of UTF-16 is zero where it matters here.
      const text = tail + chunk.toString('latin1').replaceAll('\0', '')
      hasNullMark ||= nullMark.test(text)
      hasNullMarks ||= anyNullMark.test(text)
      hasQuotes ||= quote.test(text)
      hasApostrophes ||= apostrophe.test(text)
      tail = text.slice(-3)
    } else tail = chunk.subarray(-6).toString('latin1').replaceAll('\0', '').slice(-3)
  }
  hasNullMark ||= nullMark.test(`${tail}\n`)
  hasNullMarks ||= anyNullMark.test(`${tail}\n`)
  const hasByteOrderMark = beginning.subarray(0, utf8Mark.length).equals(utf8Mark)
  return { ...encodings.end(), hasNullMark, hasNullMarks, hasQuotes, hasApostrophes, hasByteOrderMark, beginning }
}
