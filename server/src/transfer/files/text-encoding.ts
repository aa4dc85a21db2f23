import { isAscii, isUtf8 } from 'node:buffer'
import type { ImportEncoding } from '@masthead/contract'

export type Encoding = ImportEncoding

export const encodingNames: Record<Encoding, string> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16 (big-endian)',
  'windows-1252': 'Windows-1252',
  latin1: 'Latin-1',
}

/**
 * Stands for bytes that are no text in the encoding of the file. No file can hold it (it is half of a character), so a text that
 * has it is not well formed, while a replacement character that stands in the file stays one.
 */
const unreadable = '\uDC80'

/** It is also half of some characters. */
const unreadableAlone = new RegExp(`(?<![\\uD800-\\uDBFF])${unreadable}`)

/** The text of a file, from its bytes in pieces of any size. */
interface TextReader {
  push: (bytes: Uint8Array) => string
  /** What is left when no more bytes come. */
  end: () => string
}

export const textReader = (encoding: Encoding): TextReader => {
  if (encoding === 'utf-8') return new Utf8Text()
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return new Utf16Text(encoding === 'utf-16be')
  return new SingleByteText(encoding === 'windows-1252')
}

/** Text for a file in the encoding. Cells of the file itself can always be written; of our words, what the encoding lacks becomes `?`. */
export const encodeText = (text: string, encoding: Encoding): Buffer => {
  if (encoding === 'utf-8') return Buffer.concat(withUnreadable(text, (part) => Buffer.from(part), Buffer.from([0xff])))
  if (encoding === 'latin1') return Buffer.concat(withUnreadable(text, asBytes, Buffer.from([0x81])))
  if (encoding === 'windows-1252') {
    const encoded = (part: string) => asBytes(part.replaceAll(ofWindows, (one) => windowsBytes.get(one) ?? one))
    return Buffer.concat(withUnreadable(text, encoded, Buffer.from([0x81])))
  }
  const bytes = Buffer.from(text, 'utf16le')
  return encoding === 'utf-16be' ? bytes.swap16() : bytes
}

const asBytes = (text: string): Buffer => Buffer.from(text.replaceAll(/[\u{100}-\u{10ffff}]/gu, '?'), 'latin1')

export const byteOrderMark = '\uFEFF'

/** What could not be read stays so, and is refused again unless it is corrected. */
const withUnreadable = (text: string, encode: (part: string) => Buffer, mark: Buffer): Buffer[] =>
  text.split(unreadableAlone).flatMap((part, index) => (index === 0 ? [encode(part)] : [mark, encode(part)]))

class Utf8Text implements TextReader {
  #held: Uint8Array = new Uint8Array()
  #begun = false

  push(bytes: Uint8Array): string {
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, bytes]) : bytes
    const end = startOfLastCharacter(all)
    this.#held = all.subarray(end)
    return this.#decode(all.subarray(0, end))
  }

  end(): string {
    return this.#decode(this.#held)
  }

  #decode(bytes: Uint8Array): string {
    const text = decodeUtf8(bytes)
    if (this.#begun || text === '') return text
    this.#begun = true
    return text.startsWith(byteOrderMark) ? text.slice(1) : text
  }
}

const decodeUtf8 = (bytes: Uint8Array): string => {
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

class Utf16Text implements TextReader {
  readonly #isBigEndian: boolean
  #held: Buffer = Buffer.alloc(0)
  #begun = false

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian
  }

  push(bytes: Uint8Array): string {
    const all = Buffer.concat([this.#held, bytes])
    const even = all.length - (all.length % 2)
    this.#held = all.subarray(even)
    const units = this.#isBigEndian ? all.subarray(0, even).swap16() : all.subarray(0, even)
    const text = units.toString('utf16le')
    if (this.#begun || text === '') return text
    this.#begun = true
    return text.startsWith(byteOrderMark) ? text.slice(1) : text
  }

  end(): string {
    return this.#held.length > 0 ? unreadable : ''
  }
}

class SingleByteText implements TextReader {
  readonly #isWindows: boolean

  constructor(isWindows: boolean) {
    this.#isWindows = isWindows
  }

  push(bytes: Uint8Array): string {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    return this.#isWindows
      ? text.replaceAll(/[\x80-\x9f]/g, (one) => windowsCharacters[one.charCodeAt(0) - 0x80] ?? one)
      : text
  }

  end(): string {
    return ''
  }
}

/** What Windows-1252 has at 0x80 to 0x9f. It leaves five of them undefined. */
const windowsCharacters = [...'€\uDC80‚ƒ„…†‡ˆ‰Š‹Œ\uDC80Ž\uDC80\uDC80‘’“”•–—˜™š›œ\uDC80žŸ']
const windowsBytes = new Map(
  windowsCharacters.map((character, index) => [character, String.fromCharCode(0x80 + index)] as const),
)
const ofWindows = /[€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/g

export type NoticedEncoding = {
  /** Undefined for one that cannot be read. */
  encoding: Encoding | undefined
  /** All bytes fit it. */
  isSure: boolean
  /** Bytes of two encodings are mixed, and neither is nearly alone. */
  isDoubtful: boolean
}

/** Looks at all bytes of a file, to tell how its text is encoded. */
export class EncodingScan {
  #first: Buffer = Buffer.alloc(0)
  #held: Uint8Array = new Uint8Array()
  /** Characters of UTF-8 beside those of ASCII, of scripts that are in use. */
  #characters = 0
  /** Others, which `ß–` and the like of Windows-1252 look like. */
  #unusual = 0
  /** Of those, accents that follow their letter, as macOS writes them. */
  #accents = 0
  /** Bytes that belong to no character. */
  #others = 0
  #hasUndefined = false

  push(bytes: Buffer): void {
    if (this.#first.length < 64) this.#first = Buffer.concat([this.#first, bytes.subarray(0, 64)])
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, bytes]) : bytes
    const end = startOfLastCharacter(all)
    this.#held = all.subarray(end)
    this.#look(all.subarray(0, end))
  }

  #look(bytes: Buffer): void {
    if (isAscii(bytes)) return
    const isWhole = isUtf8(bytes)
    if (isWhole && this.#characters >= enoughCharacters) return
    const text = bytes.toString('latin1')
    const others = text.replaceAll(utf8Character, (character) => {
      if (usualLead.test(character)) this.#characters++
      else this.#unusual++
      if (/^[\xcc\xcd]/.test(character)) this.#accents++
      return ''
    })
    if (isWhole) return
    this.#others += others.match(/[\x80-\xff]/g)?.length ?? 0
    this.#hasUndefined ||= undefinedInWindows.test(others)
  }

  end(): NoticedEncoding {
    this.#look(Buffer.from(this.#held))
    const [characters, others] = [this.#characters, this.#others]
    const marked = encodingByMark(this.#first)
    if (marked) return { encoding: marked === 'utf-32' ? undefined : marked, isSure: true, isDoubtful: false }
    const isMarked = this.#first.subarray(0, 3).equals(utf8Mark)
    if (others === 0) {
      const isUnusual = characters === 0 && this.#unusual > 0 && !isMarked
      if (isUnusual && this.#accents > 0) return { encoding: 'utf-8', isSure: false, isDoubtful: true }
      return { encoding: isUnusual ? 'windows-1252' : 'utf-8', isSure: true, isDoubtful: false }
    }
    if (isMarked || this.#hasUndefined || characters > others * nearlyAlone)
      return { encoding: 'utf-8', isSure: false, isDoubtful: false }
    // Some letters and signs of Windows-1252 happen to be one character of UTF-8.
    if (others > characters * nearlyAlone) return { encoding: 'windows-1252', isSure: true, isDoubtful: false }
    return { encoding: 'utf-8', isSure: false, isDoubtful: true }
  }
}

const enoughCharacters = 10_000
const nearlyAlone = 10

const undefinedInWindows = /[\x81\x8d\x8f\x90\x9d]/
const utf8Character = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g
/** The first byte of a character of UTF-8, but for phonetic signs, accents alone, Syriac, Thaana and NKo. */
const usualLead = /^[\xc2-\xc8\xce-\xd5\xd7-\xdb\xe0-\xf4]/
export const utf8Mark = Buffer.from(byteOrderMark)

const encodingByMark = (bytes: Buffer): Encoding | 'utf-32' | undefined => {
  const beginning = bytes.subarray(0, 64)
  const [first = 1, second = 1, third = 1, fourth = 1] = beginning
  if (first === 0 && second === 0 && third === 0xfe && fourth === 0xff) return 'utf-32'
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? 'utf-32' : 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  // A text of Latin letters leaves the same bytes of each character at zero.
  const zeros = [0, 1, 2, 3].map((place) => beginning.every((byte, index) => index % 4 !== place || byte === 0))
  if (beginning.length < 4 || zeros.every(Boolean)) return undefined
  if (zeros.filter(Boolean).length === 3) return 'utf-32'
  if (zeros[0] && zeros[2]) return 'utf-16be'
  return zeros[1] && zeros[3] ? 'utf-16le' : undefined
}
