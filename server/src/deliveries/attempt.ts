import { request as overHttps } from 'node:https'
import { request as overHttp } from '../http/node-internals/node-http.ts'
import { lookUpPublic, PrivateAddress, requirePublicLiteral } from './addresses.ts'
import type { Failure } from './queries.ts'

/** How long the whole of an attempt may take, the answer included. */
const limitSeconds = 15
/** More of an answer's body is not read: the status says it all. */
const mostRead = 65_536

export type Message = { url: string; headers: Record<string, string>; body: string }
export type AttemptOptions = { allowPrivate: boolean; signal: AbortSignal }

/** Posts a message; null when it was taken. */
export const attempt = async (message: Message, options: AttemptOptions): Promise<Failure | null> => {
  const timeout = AbortSignal.timeout(limitSeconds * 1_000)
  try {
    const status = await post(message, { ...options, signal: AbortSignal.any([timeout, options.signal]) })
    return status >= 200 && status < 300 ? null : { error: `answered ${status}`, silent: isUnavailable(status) }
  } catch (error) {
    return { error: timeout.aborted ? `no answer within ${limitSeconds} s` : reasonOf(error), silent: true }
  }
}

/** Answers of something in front of a system that is not there, or has no time. */
const isUnavailable = (status: number): boolean => [429, 502, 503, 504].includes(status)

/** By its code: a message may hold the whole address. */
const reasonOf = (error: unknown): string => {
  if (error instanceof PrivateAddress) return 'not a public address; LEGACY_ALLOW_PRIVATE=true allows it'
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return `no connection: ${code}`
}

/** Redirects are not followed: they are answers like others. Every attempt has a connection of its own, and checks its address. */
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
      // Its status counts, however its body ends.
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
