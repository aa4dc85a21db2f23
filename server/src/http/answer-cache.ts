import type { IncomingHttpHeaders } from 'node:http'
import type { Scope } from '@masthead/contract'
import type { Revisions } from '../database/revisions.ts'
import { compress, type Encoding, leastCompressedBytes } from './compression.ts'

/** An answer in one encoding. */
export type Form = {
  headers: Record<string, string>
  body: Buffer
  /** Names and values by turns, with and without what tells of a body; made when they are first sent so. */
  lines?: { whole: string[]; bare: string[] }
}

/** An answer in memory, in the encodings in which it was asked for so far; always also as it is. */
export type KnownAnswer = {
  name: string
  revision: number
  foundAt: number
  /** Of the operation that answers so. */
  scope: Scope
  operation: string
  path: string
  plain: Form
  forms: Map<Encoding, Form>
  bytes: number
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

/** Its headers stand there twice, for each of two kinds of answer as names and values by turns. */
const weightOf = ({ headers, body }: Form): number => body.length + 512 + 2 * Object.values(headers).join().length

/** Small buffers are parts of large ones, which would be kept with them. */
const alone = (form: Form): Form => {
  if (form.body.buffer.byteLength < 2 * form.body.length) return form
  const body = Buffer.allocUnsafeSlow(form.body.length)
  form.body.copy(body)
  return { ...form, body }
}

/** So that what nobody stamped, changes by hand among them, is seen at last. */
const longestMilliseconds = 60_000

/**
 * Answers to reads, by tenant and address, as long as nothing of the tenant was written. Bounded in bytes; what was asked
 * for longest ago goes first.
 */
export class AnswerCache {
  readonly #revisions: Revisions
  readonly #mostBytes: number
  readonly #answers = new Map<string, KnownAnswer>()
  readonly #given = { memory: 0, database: 0 }
  #bytes = 0

  constructor(revisions: Revisions, mostBytes = 32 * 1_024 * 1_024) {
    this.#revisions = revisions
    this.#mostBytes = mostBytes
  }

  /** How much is kept, and where the answers so far came from. */
  load(): Remembered {
    return {
      ...this.#given,
      isUsed: this.#revisions.areKnown,
      answers: this.#answers.size,
      bytes: this.#bytes,
      mostBytes: this.#mostBytes,
    }
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
    const name = tenantId + url
    const known = this.#answers.get(name)
    if (!known || !this.#revisions.areKnown) return null
    this.#answers.delete(name)
    if (known.revision !== this.#revisions.of(tenantId) || known.foundAt + longestMilliseconds < Date.now()) {
      this.#bytes -= known.bytes
      return null
    }
    // Behind all others again.
    this.#answers.set(name, known)
    return known
  }

  /** Of `revision` when the records were read: if it moved since, what was read may be of either side. */
  keep(tenantId: string, url: string, answer: Omit<KnownAnswer, 'name' | 'foundAt' | 'forms' | 'bytes'>): KnownAnswer {
    this.#given.database++
    const name = tenantId + url
    const former = this.#answers.get(name)
    if (former?.revision === answer.revision && former.plain.headers.etag === answer.plain.headers.etag) {
      former.foundAt = Date.now()
      return former
    }
    const bytes = overheadBytes + name.length + weightOf(answer.plain)
    const known = { name, foundAt: Date.now(), ...answer, forms: new Map(), bytes }
    if (answer.revision !== this.#revisions.of(tenantId) || bytes > this.#mostBytes / 8) return known
    known.plain = alone(known.plain)
    this.#bytes += bytes - (this.#answers.get(name)?.bytes ?? 0)
    this.#answers.delete(name)
    this.#answers.set(name, known)
    this.#forgetOldest()
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
    if (this.#answers.get(known.name) === known && !known.forms.has(encoding)) {
      known.forms.set(encoding, form)
      const bytes = weightOf(form)
      known.bytes += bytes
      this.#bytes += bytes
      this.#forgetOldest()
    }
    return form
  }

  #forgetOldest(): void {
    for (const [oldest, { bytes }] of this.#answers) {
      if (this.#bytes <= this.#mostBytes) return
      this.#answers.delete(oldest)
      this.#bytes -= bytes
    }
  }
}
