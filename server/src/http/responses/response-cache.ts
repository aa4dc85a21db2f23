import type { IncomingHttpHeaders } from 'node:http'
import { type Body, type EncodedResponse, type Encoding, encode, isSame } from './encoding.ts'

/** What was read, the version of the tenant's records before that, and where the next page begins, which only its headers say. */
type Read = { tenantId: string; url: string; version: string; next: number | string | null }

/** A response in memory, in the encodings in which it was asked for so far; always also as it is. */
export type CachedResponse = Read & {
  foundAt: number
  plain: EncodedResponse
  encoded: Partial<Record<Encoding, EncodedResponse>>
  bytes: number
  /** Since something had to go. */
  isUsed: boolean
}

/** RFC 9111 §5.2.1.4: whoever says so gets what the database holds now. */
export const mayBeCached = ({ 'cache-control': header }: IncomingHttpHeaders): boolean =>
  header === undefined || !/no-cache/i.test(header)

export type CacheLoad = {
  memory: number
  database: number
  responses: number
  bytes: number
  mostBytes: number
}

/** By what 20,000 small ones took: 570 bytes for each beside its body and its URL. Of the headers, only links are long and of this response alone. */
const weightOf = ({ headers, body }: EncodedResponse): number => body.length + (headers.link?.length ?? 0) + 576

/** A buffer may be a part of a large one, which would be kept with it. */
const alone = (one: EncodedResponse): EncodedResponse => {
  if (typeof one.body === 'string' || one.body.buffer.byteLength < 2 * one.body.length) return one
  const body = Buffer.allocUnsafeSlow(one.body.length)
  one.body.copy(body)
  return { ...one, body }
}

/**
 * What may go: the first that was not used since it was last passed over here; who was goes behind all others. To note a use costs nothing
 * then. It goes on where it stopped the last time, because a map passes by all that was ever taken from its beginning.
 */
class Kept<T extends { isUsed: boolean }> extends Map<string, T> {
  #place = this.entries()
  #found: [name: string, one: T] | null = null

  /** Looks at the next `most`, by default at all; null if all of these were used. */
  leastUsed(most = this.size + 1): T | null {
    const [name = '', one] = this.#found ?? []
    if (one && this.get(name) === one && !one.isUsed) return one
    for (let left = most; left > 0; ) {
      const { value, done } = this.#place.next()
      if (done) {
        if (this.size === 0) return null
        this.#place = this.entries()
        continue
      }
      const [name, one] = value
      if (!one.isUsed) {
        this.#found = value
        return one
      }
      left--
      one.isUsed = false
      this.delete(name)
      this.set(name, one)
    }
    return null
  }
}

/** Which responses were made of late, by a hash of 32 bits each: more of them than are kept, in 128 KiB. With twice as many, more is admitted than can stay. */
class Made {
  readonly #hashes = new Int32Array(32_768)

  /** Whether it was, unless another one took its place since; from now on it was. */
  note(tenantId: string, url: string): boolean {
    let hash = 0
    for (let at = 0; at < tenantId.length; at++) hash = Math.imul(hash ^ tenantId.charCodeAt(at), 0x01000193)
    for (let at = 0; at < url.length; at++) hash = Math.imul(hash ^ url.charCodeAt(at), 0x01000193)
    const place = (hash ^ (hash >>> 15)) & (this.#hashes.length - 1)
    const wasMade = this.#hashes[place] === hash
    this.#hashes[place] = hash
    return wasMade
  }
}

/** So that changes by hand, which move no version, are seen at last. */
const longestMilliseconds = 15 * 60_000

/** What is kept of a tenant. */
type Shelf = {
  tenantId: string
  responses: Kept<CachedResponse>
  bytes: number
  /** Since something had to go. */
  isUsed: boolean
}

/**
 * Responses to reads, by tenant and URL, each with the version of the tenant's records before they were read: it is as current
 * as that version. Bounded in bytes. What was not asked for of late goes first, of a tenant that has more than its share or
 * else of one that was away: nobody's many push out somebody else's few. Nothing goes for a response that is made for the first time: a
 * caller who walks through a list asks for each page once. A response that was used since its last turn does not go for another one of its
 * tenant: when a tenant asks for more than fits, again and again, a part of it stays.
 */
export class ResponseCache {
  readonly #mostBytes: number
  #shelves = new Kept<Shelf>()
  #source = ''
  readonly #made = new Made()
  readonly #sent = { memory: 0, database: 0 }
  #bytes = 0

  constructor(mostBytes = 24 * 1_024 * 1_024) {
    this.#mostBytes = mostBytes
  }

  /** How much is kept, and where the responses so far came from. */
  load(): CacheLoad {
    const responses = this.#shelves.values().reduce((sum, shelf) => sum + shelf.responses.size, 0)
    return { ...this.#sent, responses, bytes: this.#bytes, mostBytes: this.#mostBytes }
  }

  has(tenantId: string, url: string, version: string): boolean {
    const known = this.#shelves.get(tenantId)?.responses.get(url)
    return known?.version === version && known.foundAt + longestMilliseconds >= Date.now()
  }

  find(tenantId: string, url: string, version: string): CachedResponse | null {
    const shelf = this.#shelves.get(tenantId)
    const known = shelf?.responses.get(url)
    if (!shelf || !known || !this.has(tenantId, url, version)) return null
    shelf.isUsed = true
    known.isUsed = true
    this.#sent.memory++
    return known
  }

  /**
   * Keeps what was read. Where the same is kept already, that is as current as this one now: to compare the bytes costs less
   * than to make the headers and encodings anew. Of another source nothing is: headers lead to changes since a version, which may be lost.
   */
  keep({ source, ...read }: Read & { source: string }, body: Body, make: () => EncodedResponse): CachedResponse {
    this.#sent.database++
    if (source !== this.#source) this.#beginAnew(source)
    const { tenantId, url, version, next } = read
    const shelf: Shelf = this.#shelves.get(tenantId) ?? { tenantId, responses: new Kept(), bytes: 0, isUsed: true }
    const former = shelf.responses.get(url)
    if (former?.next === next && isSame(former.plain.body, body))
      return Object.assign(former, { version, foundAt: Date.now() })
    const plain = make()
    const bytes = url.length + weightOf(plain)
    const known = { ...read, foundAt: Date.now(), plain, encoded: {}, bytes, isUsed: true }
    if (former) this.#forget(shelf, former)
    if (bytes > this.#mostBytes / 8 || !(former || this.#hasRoomFor(bytes, shelf, url))) return known
    known.plain = alone(plain)
    this.#shelves.set(tenantId, shelf)
    shelf.responses.set(url, known)
    shelf.isUsed = true
    this.#add(shelf, bytes)
    // It counts as used until others have made room for it.
    known.isUsed = false
    return known
  }

  /** The response in an encoding in which nobody has asked for it before. */
  async encodedIn(known: CachedResponse, encoding: Encoding): Promise<EncodedResponse> {
    const encoded = alone(await encode(known.plain, encoding))
    const shelf = this.#shelves.get(known.tenantId)
    if (shelf?.responses.get(known.url) === known && !known.encoded[encoding]) {
      known.encoded[encoding] = encoded
      const bytes = weightOf(encoded)
      known.bytes += bytes
      this.#add(shelf, bytes)
    }
    return encoded
  }

  #beginAnew(source: string): void {
    this.#source = source
    this.#shelves = new Kept()
    this.#bytes = 0
  }

  #hasRoomFor(bytes: number, shelf: Shelf, url: string): boolean {
    if (this.#bytes + bytes <= this.#mostBytes) return true
    if (!this.#made.note(shelf.tenantId, url)) return false
    while (this.#bytes + bytes > this.#mostBytes) if (!this.#letGo(shelf, 1)) return false
    return true
  }

  #add(shelf: Shelf, bytes: number): void {
    shelf.bytes += bytes
    this.#bytes += bytes
    while (this.#bytes > this.#mostBytes) this.#letGo(shelf)
  }

  /** Drops one response to make room on the shelf. A shelf with more than its share loses one of its own, and none if the next `most` of them were used. */
  #letGo(shelf: Shelf, most?: number): boolean {
    const isOwn = shelf.bytes > this.#mostBytes / 4
    const from = isOwn ? shelf : (this.#shelves.leastUsed() ?? shelf)
    const one = from.responses.leastUsed(isOwn ? most : undefined)
    if (one) this.#forget(from, one)
    if (from.responses.size === 0) this.#shelves.delete(from.tenantId)
    return one !== null
  }

  #forget(shelf: Shelf, { url, bytes }: CachedResponse): void {
    shelf.responses.delete(url)
    shelf.bytes -= bytes
    this.#bytes -= bytes
  }
}
