import { request as overHttps } from 'node:https'
import { request as overHttp } from '../http/node-internals/node-http.ts'
import { lookUpPublic, PrivateAddress, requirePublicLiteral } from './addresses.ts'
import type { Failure } from './queries.ts'

/** Limits the whole attempt, the response included. */
const limitSeconds = 15
/** More of a response is not read, because its status says it all. */
const mostRead = 65_536

type Message = { url: string; headers: Record<string, string>; body: string }
type AttemptOptions = { allowPrivate: boolean; signal: AbortSignal }

/** Posts a message and returns null when it was accepted. */
export const attempt = async (message: Message, options: AttemptOptions): Promise<Failure | null> => {
  const timeout = AbortSignal.timeout(limitSeconds * 1_000)
  try {
    const status = await post(message, { ...options, signal: AbortSignal.any([timeout, options.signal]) })
    return status >= 200 && status < 300 ? null : { error: `answered ${status}`, silent: unavailable.includes(status) }
  } catch (error) {
    return { error: timeout.aborted ? `no answer within ${limitSeconds} s` : reasonOf(error), silent: true }
  }
}

/** A proxy sends these in front of a system that is down or overloaded. */
const unavailable = [429, 502, 503, 504]

/** The message of an error may hold the whole address, so only its code is shown. */
const reasonOf = (error: unknown): string => {
  if (error instanceof PrivateAddress) return 'not a public address; LEGACY_ALLOW_PRIVATE=true allows it'
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return `no connection: ${code}`
}

/** Redirects are not followed. Every attempt has a connection of its own, so that its address is checked. */
const post = async ({ url: address, headers, body }: Message, options: AttemptOptions): Promise<number> => {
  const url = new URL(address)
  if (!options.allowPrivate) requirePublicLiteral(url)
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? overHttps : overHttp
    const request = send(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'Masthead' },
      agent: false,
      signal: options.signal,
      ...(!options.allowPrivate && { lookup: lookUpPublic }),
    })
    request.on('error', reject)
    request.once('response', (response) => {
      let read = 0
      response.on('data', (chunk: Buffer) => {
        read += chunk.length
        if (read > mostRead) response.destroy()
      })
      // The status counts, however the body ends.
      response.on('error', () => {})
      response.once('close', () => resolve(response.statusCode ?? 0))
    })
    request.end(body)
  })
}

const [shortestDelay, longestDelay] = [5_000, 3_600_000]

/** Doubles with each attempt; the jitter keeps deliveries from being retried all at the same moment. */
export const retryDelay = (attempt: number, random = Math.random): number =>
  Math.min(shortestDelay * 2 ** Math.min(attempt - 1, 20), longestDelay) * (0.75 + random() / 2)
