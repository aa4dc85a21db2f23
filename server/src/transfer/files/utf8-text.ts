import { isUtf8 } from 'node:buffer'
import { Refusal } from '../../refusal.ts'

/**
 * Stands for bytes that are no UTF-8. No file can hold it (it is half of a character), so a text that has it is not well
 * formed, while a replacement character that stands in the file stays one.
 */
export const unreadable = '\uDC80'

/** The encoding shows in the first bytes; they are not looked at before there are enough of them. */
const enoughToTell = 64

/** The text of a file in UTF-8, from its bytes in pieces of any size. */
export class Utf8Text {
  readonly #name: string
  #held: Uint8Array = new Uint8Array()
  #begun = false

  constructor(name: string) {
    this.#name = name
  }

  push(bytes: Uint8Array): string {
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, bytes]) : bytes
    if (!this.#begun && all.length < enoughToTell) {
      this.#held = all
      return ''
    }
    const end = startOfLastCharacter(all)
    this.#held = all.subarray(end)
    return this.#decode(all.subarray(0, end))
  }

  /** What is left when no more bytes come. */
  end(): string {
    return this.#decode(this.#held)
  }

  #decode(bytes: Uint8Array): string {
    if (this.#begun) return decode(bytes)
    this.#begun = true
    refuseOtherEncodings(this.#name, bytes)
    const text = decode(bytes)
    return text.startsWith('\uFEFF') ? text.slice(1) : text
  }
}

const decode = (bytes: Uint8Array): string => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return isUtf8(buffer) ? buffer.toString('utf8') : decodeLeniently(buffer)
}

const replacement = Buffer.from('\uFFFD')

/** Between the replacement characters of the file itself, all that decoding leaves are ours. */
const decodeLeniently = (buffer: Buffer): string => {
  const parts: string[] = []
  for (let at = 0; at <= buffer.length; ) {
    const found = buffer.indexOf(replacement, at)
    const end = found < 0 ? buffer.length : found
    parts.push(buffer.toString('utf8', at, end).replaceAll('\uFFFD', unreadable))
    at = end + replacement.length
    if (found < 0) break
  }
  return parts.join('\uFFFD')
}

/** Where the last character begins, some of whose bytes may still be to come. It has at most four. */
const startOfLastCharacter = (bytes: Uint8Array): number => {
  const last = bytes.subarray(-4)
  const start = last.findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  return start < 0 ? bytes.length : bytes.length - last.length + start
}

const refuseOtherEncodings = (name: string, bytes: Uint8Array): void => {
  const beginning = bytes.subarray(0, enoughToTell)
  const encoding = otherEncoding(beginning)
  if (encoding) throw new Refusal(`${name} is ${encoding}, save it as UTF-8`)
  if (Buffer.from(beginning.subarray(0, 4)).equals(Buffer.from('PK\x03\x04'))) {
    throw new Refusal(`${name} is a spreadsheet or a ZIP archive: save the sheet as CSV, or unpack the archive`)
  }
}

const otherEncoding = (bytes: Uint8Array): string | undefined => {
  const [first = 1, second = 1, third = 1, fourth = 1] = bytes
  if (first === 0 && second === 0 && third === 0xfe && fourth === 0xff) return 'UTF-32'
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? 'UTF-32' : 'UTF-16'
  if (first === 0xfe && second === 0xff) return 'UTF-16'
  // A text of Latin letters leaves the same bytes of each character at zero.
  const zeros = [0, 1, 2, 3].map((place) => bytes.every((byte, index) => index % 4 !== place || byte === 0))
  if (bytes.length < 4 || zeros.every(Boolean)) return undefined
  if (zeros.filter(Boolean).length === 3) return 'UTF-32'
  return (zeros[0] && zeros[2]) || (zeros[1] && zeros[3]) ? 'UTF-16' : undefined
}
