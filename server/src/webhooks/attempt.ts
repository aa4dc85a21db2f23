import type { IncomingMessage } from 'node:http'
import { request as overHttps } from 'node:https'
import { webhookLimits } from '@masthead/contract'
import { request as overHttp } from '../node-http.ts'
import { allowPrivateRemedy, lookUpPublic, PrivateAddress, requirePublicLiteral } from './addresses.ts'

/** Limits an attempt up to the status of the response. */
const limitSeconds = 15
/** The status says it all, so a body is not waited for. */
const bodyMilliseconds = 1_000

type Message = { url: string; headers: Record<string, string>; body: string }
type AttemptOptions = { allowPrivate: boolean; signal: AbortSignal }

/** What became of an attempt. */
export type Attempt = {
  status: number | null
  /** One line that can be shown; null when the message was taken. */
  error: string | null
  /** The endpoint, or a proxy in front of it, says that it is not there. */
  isSilent: boolean
  /** The first bytes of the body. */
  response: string | null
  /** After which the endpoint wants to be asked again; null when it does not say. */
  retryAfter: number | null
  milliseconds: number
}

/** Posts a message. */
export const attempt = async (message: Message, options: AttemptOptions): Promise<Attempt> => {
  const timeout = AbortSignal.timeout(limitSeconds * 1_000)
  const begun = performance.now()
  const made = await post(message, { ...options, signal: AbortSignal.any([timeout, options.signal]) }).catch(
    (error): Omit<Attempt, 'milliseconds'> => ({
      ...notAnswered,
      error: timeout.aborted ? `no answer within ${limitSeconds} s` : reasonOf(error),
    }),
  )
  return { ...made, milliseconds: performance.now() - begun }
}

/** An attempt that could not be made. */
export const notAttempted = (error: string): Attempt => ({ ...notAnswered, error, milliseconds: 0 })

const notAnswered = { status: null, isSilent: true, response: null, retryAfter: null }

/** A proxy sends these in front of a system that is down or overloaded. */
const unavailable = [429, 502, 503, 504]

class PlainAddress extends Error {}

/** The message of an error may hold the whole address, so only its code is shown. */
const reasonOf = (error: unknown): string => {
  if (error instanceof PlainAddress) return `not an https address; ${allowPrivateRemedy}`
  if (error instanceof PrivateAddress) return `not a public address; ${allowPrivateRemedy}`
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return `no connection: ${code}`
}

/** Redirects are not followed. Every attempt has a connection of its own, so that its address is checked. */
const post = async ({ url: address, headers, body }: Message, options: AttemptOptions) => {
  const url = new URL(address)
  // The setting may have been another one when the endpoint was made.
  if (!options.allowPrivate && url.protocol !== 'https:') throw new PlainAddress('the address is not https')
  if (!options.allowPrivate) requirePublicLiteral(url)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.protocol === 'https:' ? overHttps : overHttp
    const request = send(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'Masthead' },
      agent: false,
      signal: options.signal,
      ...(!options.allowPrivate && { lookup: lookUpPublic }),
    })
    // Also after the response: the body may end in any way.
    request.on('error', reject)
    request.once('response', resolve)
    request.end(body)
  })
  const status = response.statusCode ?? 0
  return {
    status,
    error: status >= 200 && status < 300 ? null : `answered ${status}`,
    isSilent: unavailable.includes(status),
    retryAfter: readRetryAfter(response.headers['retry-after']),
    response: await readBeginning(response),
  }
}

/** However slowly or endlessly a body comes, and however it ends. */
const readBeginning = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let read = 0
  const enough = setTimeout(() => response.destroy(), bodyMilliseconds)
  await new Promise<void>((resolve) => {
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      read += chunk.length
      if (read >= webhookLimits.responseBytes) response.destroy()
    })
    response.on('error', () => {})
    response.once('close', resolve)
  })
  clearTimeout(enough)
  // PostgreSQL stores no character of the number zero.
  return Buffer.concat(chunks).subarray(0, webhookLimits.responseBytes).toString().replaceAll('\0', '�')
}

/** RFC 9110 §10.2.3: seconds or a date. */
const readRetryAfter = (given: string | undefined): number | null => {
  if (given === undefined) return null
  const milliseconds = /^\d{1,9}$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - Date.now()
  return milliseconds > 0 ? milliseconds : null
}
