import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import Negotiator from 'negotiator'

export type Encoding = 'identity' | 'zstd' | 'br' | 'gzip'

/** Below 8 KiB a latin1 string, one character for each byte: it takes 330 bytes less memory than a buffer, and goes out in one piece with the head. */
export type Body = string | Buffer

const longestString = 8_191

export const bodyOf = (bytes: Buffer): Body => (bytes.length > longestString ? bytes : bytes.toString('latin1'))

export const isSame = (one: Body, other: Body): boolean =>
  typeof one === 'string' || typeof other === 'string' ? one === other : one.equals(other)

const bytesOf = (body: Body): Buffer => (typeof body === 'string' ? Buffer.from(body, 'latin1') : body)

/** A response in one encoding, without what belongs to each request: its id and what is left of its rate. */
export type EncodedResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

/** Below, the headers weigh as much as what is saved. */
const leastCompressedBytes = 1_024

/** Quick rather than small: a response is compressed once for each write of its tenant. */
const compressors: Record<Exclude<Encoding, 'identity'>, (body: Buffer) => Promise<Buffer>> = {
  zstd: (body) => promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body) => promisify(gzip)(body, { level: 4 }),
}

/** Small responses stay as they are. */
export const isLeftPlain = ({ body }: EncodedResponse, encoding: Encoding): boolean =>
  encoding === 'identity' || body.length < leastCompressedBytes

/** RFC 9110 §8.8.3: a strong tag belongs to one encoding; the letters of ours hold no full stop. */
export const tagIn = (plain: EncodedResponse, encoding: Encoding): string | undefined => {
  const { etag } = plain.headers
  return etag === undefined || isLeftPlain(plain, encoding) ? etag : `${etag.slice(0, -1)}.${encoding}"`
}

export const encode = async (plain: EncodedResponse, encoding: Encoding): Promise<EncodedResponse> => {
  if (encoding === 'identity' || isLeftPlain(plain, encoding)) return plain
  const { status, headers } = plain
  const body = bodyOf(await compressors[encoding](bytesOf(plain.body)))
  const etag = tagIn(plain, encoding)
  const about = { 'content-encoding': encoding, 'content-length': String(body.length) }
  return { status, headers: { ...headers, ...(etag !== undefined && { etag }), ...about }, body }
}

const available: readonly Encoding[] = ['zstd', 'br', 'gzip', 'identity']
const longestCached = 200
const chosen = new Map<string, Encoding>()

/** RFC 9110 §12.5.3: of what the caller accepts most, the one that we prefer. Few headers come, so each is read once. */
export const chooseEncoding = (header: string | string[] | undefined): Encoding => {
  if (header === undefined) return 'identity'
  const text = String(header)
  const known = chosen.get(text)
  if (known) return known
  const wanted = new Negotiator({ headers: { 'accept-encoding': text } }).encoding(available, { preferred: available })
  const encoding = available.find((one) => one === wanted) ?? 'identity'
  if (chosen.size > 1_000) chosen.clear()
  if (text.length <= longestCached) chosen.set(text, encoding)
  return encoding
}
