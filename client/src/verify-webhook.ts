import { MastheadError } from './errors.ts'
import type { WebhookEvent } from './generated/contract.ts'
import { readObject } from './json-object.ts'

/** Which check of a webhook failed. */
export type WebhookFault =
  /** `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing. */
  | 'missing_header'
  /** `webhook-timestamp` is not a number of seconds. */
  | 'invalid_timestamp'
  /** It was sent more than five minutes ago, or the clock here is wrong: somebody may send it again who has caught it. */
  | 'too_old'
  /** It was sent more than five minutes from now, or the clock here is wrong. */
  | 'too_new'
  /** No signature is one of this secret over this body: somebody else sent it, or the body was changed on the way. */
  | 'signature_mismatch'
  /** It is signed, and is no event. */
  | 'invalid_body'

/** The webhook must not be trusted. */
export class WebhookVerificationError extends MastheadError {
  readonly code: WebhookFault

  constructor(code: WebhookFault, message: string) {
    super(`${message} (${code})`)
    this.code = code
  }

  override get name(): string {
    return 'WebhookVerificationError'
  }
}

/** What was received: the body as it came, byte by byte, not parsed. */
export interface ReceivedWebhook {
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  body: string | Uint8Array
}

const toleranceSeconds = 5 * 60
const prefix = 'whsec_'

/**
 * Verifies a webhook by Standard Webhooks 1.0.0 with the secret of its endpoint, and returns its event. Throws a
 * `WebhookVerificationError` where a check fails. The body of a `Request` is read by this.
 */
export const verifyWebhook = async (request: Request | ReceivedWebhook, secret: string): Promise<WebhookEvent> => {
  const key = await keyOf(secret)
  const id = headerOf(request, 'webhook-id')
  const timestamp = headerOf(request, 'webhook-timestamp')
  const signatures = headerOf(request, 'webhook-signature')
  checkTime(timestamp)
  const body = await bodyOf(request)
  const signed = concatenated(new TextEncoder().encode(`${id}.${timestamp}.`), body)
  // While a secret is being rotated there are two signatures.
  const verified = await Promise.all(
    signaturesIn(signatures).map((signature) => crypto.subtle.verify('HMAC', key, signature, signed)),
  )
  if (!verified.includes(true))
    throw new WebhookVerificationError('signature_mismatch', 'no signature is one of this secret over this body')
  const event = readObject(new TextDecoder().decode(body))
  if (event && 'type' in event && 'data' in event) return event as WebhookEvent // by the contract
  throw new WebhookVerificationError('invalid_body', 'the body is signed, but is no event')
}

const keyOf = (secret: string) => {
  const bytes = bytesOf(secret.trim().replace(prefix, ''))
  // The secret itself is not shown.
  if (!bytes || bytes.length === 0) throw new TypeError(`the secret must be ${prefix} and base64`)
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

const headerOf = ({ headers }: Request | ReceivedWebhook, name: string): string => {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (typeof value === 'string' && value !== '') return value
  throw new WebhookVerificationError('missing_header', `the header ${name} is missing, or there are several`)
}

const checkTime = (timestamp: string): void => {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookVerificationError('invalid_timestamp', 'webhook-timestamp is not a number of seconds')
  const ageSeconds = Date.now() / 1_000 - Number(timestamp)
  if (ageSeconds > toleranceSeconds)
    throw new WebhookVerificationError('too_old', 'the webhook was sent more than five minutes ago')
  if (ageSeconds < -toleranceSeconds)
    throw new WebhookVerificationError('too_new', 'the webhook was sent more than five minutes from now')
}

const bodyOf = async (request: Request | ReceivedWebhook): Promise<Uint8Array> => {
  if (request instanceof Request) return new Uint8Array(await request.arrayBuffer())
  const { body } = request
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  throw new TypeError('`body` must be what was received, as text or bytes: a parsed body cannot be verified')
}

const signatureBytes = 32
/** More would have the whole body signed for each, whoever sends it. */
const mostSignatures = 10

/** Only those of version 1, which are the ones made with a secret that both sides have. */
const signaturesIn = (header: string): Uint8Array<ArrayBuffer>[] =>
  header
    .split(' ', 2 * mostSignatures)
    .flatMap((entry) => (entry.startsWith('v1,') ? (bytesOf(entry.slice(3)) ?? []) : []))
    .filter(({ length }) => length === signatureBytes)
    .slice(0, mostSignatures)

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const concatenated = (first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}
