import type { IncomingHttpHeaders } from 'node:http'
import type { ManagementScope, Scope } from '@masthead/contract'
import type { Revisions } from '../../database/revisions.ts'
import type { Head } from '../node-internals/kept-head.ts'
import { compress, type Encoding, leastCompressedBytes } from './encoding.ts'

/** An answer in one encoding. */
export type Form = {
  headers: Record<string, string>
  body: Buffer
  /** With and without what tells of a body, since they were first sent so. */
  head?: Head | undefined
  bareHead?: Head | undefined
}

/** An answer in memory, in the encodings in which it was asked for so far; always also as it is. */
export type KnownAnswer = {
  tenantId: string
  url: string
  foundAt: number
  /** Of the operation that answers so. */
  scope: Scope | ManagementScope
  operation: string
  path: string
  plain: Form
  forms: Map<Encoding, Form>
  bytes: number
  /** Since something had to go. */
  isUsed: boolean
}

export const formOf = ({ headers, body }: Pick<Form, 'headers' | 'body'>): Form => ({
  headers: { ...headers, vary: 'Accept-Encoding', 'content-length': String(body.length) },
  body,
})

/** Small ones stay as they are. RFC 9110 §8.8.3: a strong tag belongs to one encoding; its letters hold no full stop. */
export const encoded = async (plain: Form, encoding: Encoding): Promise<Form> => {
  const { headers, body } = plain
  if (isLeftPlain(plain, encoding)) return plain
  const bytes = await compress(body, encoding)
  const tag = headers.etag && { etag: `${headers.etag.slice(0, -1)}.${encoding}"` }
  const about = { 'content-encoding': encoding, 'content-length': String(bytes.length) }
  return { headers: { ...headers, ...tag, ...about }, body: bytes }
}

const isLeftPlain = ({ body }: Form, encoding: Encoding): boolean =>
  encoding === 'identity' || body.length < leastCompressedBytes

/** For a 304, which has none. */
export const withoutContent = ({ headers }: Pick<Form, 'headers'>): Record<string, string> => {
  const { 'content-type': _type, 'content-length': _length, 'content-encoding': _encoding, ...others } = headers
  return others
}

/** RFC 9111 §5.2.1.4: whoever says so gets what the database holds now. */
export const mayRemember = ({ 'cache-control': header }: IncomingHttpHeaders): boolean =>
  header === undefined || !/no-cache/i.test(header)

export type Remembered = {
  isUsed: boolean
  memory: number
  database: number
  answers: number
  bytes: number
  mostBytes: number
}

/** What an entry weighs beside its forms, by estimate. */
const overheadBytes = 1_024

/** Its headers stand there three times: by themselves, and in the heads of two kinds of answer. */
const weightOf = ({ headers, body }: Form): number => body.length + 1_024 + 3 * Object.values(headers).join().length

/** Small buffers are parts of large ones, which would be kept with them. */
const alone = (form: Form): Form => {
  if (form.body.buffer.byteLength < 2 * form.body.length) return form
  const body = Buffer.allocUnsafeSlow(form.body.length)
  form.body.copy(body)
  return { ...form, body }
}

/**
 * The first that was not used since it was last passed over here; who was goes behind all others. To note a use costs
 * nothing then, and something goes seldom.
 */
const leastUsed = <T extends { isUsed: boolean }>(kept: Map<string, T>): T | null => {
  for (const [name, one] of kept) {
    if (!one.isUsed) return one
    one.isUsed = false
    kept.delete(name)
    kept.set(name, one)
  }
  return null
}

/** So that what nobody stamped, changes by hand among them, is seen at last. */
const longestMilliseconds = 60_000

/** What is kept of a tenant, all of one revision. */
type Shelf = {
  tenantId: string
  revision: number
  answers: Map<string, KnownAnswer>
  bytes: number
  /** Since something had to go. */
  isUsed: boolean
}

/**
 * Answers to reads, by tenant and address, as long as nothing of the tenant was written. Bounded in bytes. What was not asked
 * for of late goes first, of a tenant that has more than its share or else of one that was away: nobody's many push out
 * somebody else's few.
 */
export class AnswerCache {
  readonly #revisions: Revisions
  readonly #mostBytes: number
  readonly #shelves = new Map<string, Shelf>()
  readonly #given = { memory: 0, database: 0 }
  #bytes = 0

  constructor(revisions: Revisions, mostBytes = 16 * 1_024 * 1_024) {
    this.#revisions = revisions
    this.#mostBytes = mostBytes
  }

  /** How much is kept, and where the answers so far came from. */
  load(): Remembered {
    const answers = this.#shelves.values().reduce((sum, shelf) => sum + shelf.answers.size, 0)
    const { areKnown: isUsed } = this.#revisions
    return { ...this.#given, isUsed, answers, bytes: this.#bytes, mostBytes: this.#mostBytes }
  }

  /** An answer from memory is sent. */
  noteGiven(): void {
    this.#given.memory++
  }

  /** What stands for the tenant before its records are read. */
  revisionOf(tenantId: string): number {
    return this.#revisions.of(tenantId)
  }

  find(tenantId: string, url: string): KnownAnswer | null {
    const shelf = this.#shelfOf(tenantId)
    const known = shelf?.answers.get(url)
    if (!shelf || !known || !this.#revisions.areKnown) return null
    if (known.foundAt + longestMilliseconds < Date.now()) {
      this.#forget(shelf, known)
      return null
    }
    shelf.isUsed = true
    known.isUsed = true
    return known
  }

  /** What is kept of an address, where the records read at `revision` say the same: to compare costs less than a tag. */
  confirm(tenantId: string, url: string, revision: number, body: Buffer): KnownAnswer | null {
    const known = this.#shelfOf(tenantId)?.answers.get(url)
    if (!known || revision !== this.#revisions.of(tenantId) || !known.plain.body.equals(body)) return null
    this.#given.database++
    known.foundAt = Date.now()
    return known
  }

  /** Of `revision` when the records were read: if it moved since, what was read may be of either side. */
  keep(
    tenantId: string,
    url: string,
    revision: number,
    answer: Pick<KnownAnswer, 'scope' | 'operation' | 'path' | 'plain'>,
  ): KnownAnswer {
    this.#given.database++
    const bytes = overheadBytes + url.length + weightOf(answer.plain)
    const known = { tenantId, url, foundAt: Date.now(), ...answer, forms: new Map(), bytes, isUsed: true }
    if (revision !== this.#revisions.of(tenantId) || bytes > this.#mostBytes / 8) return known
    known.plain = alone(known.plain)
    const shelf = this.#shelfOf(tenantId) ?? {
      ...{ tenantId, revision, answers: new Map<string, KnownAnswer>(), bytes: 0, isUsed: true },
    }
    this.#shelves.set(tenantId, shelf)
    const former = shelf.answers.get(url)
    if (former) this.#forget(shelf, former)
    shelf.answers.set(url, known)
    shelf.isUsed = true
    this.#add(shelf, bytes)
    // It counts as used until others have made room for it.
    known.isUsed = false
    return known
  }

  /** The answer in an encoding, where it was made before. */
  knownForm({ plain, forms }: KnownAnswer, encoding: Encoding): Form | null {
    return isLeftPlain(plain, encoding) ? plain : (forms.get(encoding) ?? null)
  }

  /** The same, made at the first time. */
  async formIn(known: KnownAnswer, encoding: Encoding): Promise<Form> {
    const made = this.knownForm(known, encoding)
    if (made) return made
    const form = alone(await encoded(known.plain, encoding))
    const shelf = this.#shelves.get(known.tenantId)
    if (shelf?.answers.get(known.url) === known && !known.forms.has(encoding)) {
      known.forms.set(encoding, form)
      const bytes = weightOf(form)
      known.bytes += bytes
      this.#add(shelf, bytes)
    }
    return form
  }

  /** What was written to since is not kept any longer. */
  #shelfOf(tenantId: string): Shelf | undefined {
    const shelf = this.#shelves.get(tenantId)
    if (!shelf || shelf.revision === this.#revisions.of(tenantId)) return shelf
    this.#shelves.delete(tenantId)
    this.#bytes -= shelf.bytes
    return undefined
  }

  #add(shelf: Shelf, bytes: number): void {
    shelf.bytes += bytes
    this.#bytes += bytes
    while (this.#bytes > this.#mostBytes) {
      const from = shelf.bytes > this.#mostBytes / 4 ? shelf : (leastUsed(this.#shelves) ?? shelf)
      const oldest = leastUsed(from.answers)
      if (oldest) this.#forget(from, oldest)
      if (from.answers.size === 0) this.#shelves.delete(from.tenantId)
    }
  }

  #forget(shelf: Shelf, { url, bytes }: KnownAnswer): void {
    shelf.answers.delete(url)
    shelf.bytes -= bytes
    this.#bytes -= bytes
  }
}
