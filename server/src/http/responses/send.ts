import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { EncodedResponse } from './encoding.ts'

/** What belongs to each request: its id, and what is left of its rate. */
type OwnHeaders = Record<string, string>

export const sendResponse = (
  response: ServerResponse,
  { status, headers, body }: EncodedResponse,
  own: OwnHeaders,
): void => {
  response.writeHead(status, { ...headers, ...own })
  response.end(body, 'latin1')
}

/** Says that the caller has it already, by a head without a word of a body. */
export const sendNotModified = (
  response: ServerResponse,
  { headers }: EncodedResponse,
  etag: string,
  own: OwnHeaders,
): void => {
  const { 'content-type': _type, 'content-length': _length, ...others } = headers
  response.writeHead(304, { ...others, etag, ...own })
  response.end()
}

/** Sends a part of a body, and waits until there is room for the next; false when the caller has left, or the response was ended. */
export const sendPart = async (response: ServerResponse, part: Buffer): Promise<boolean> => {
  // Nothing is told of a response that has closed already, neither that it drains nor that it closes.
  if (response.destroyed || response.writableEnded) return false
  if (response.write(part)) return true
  const over = new AbortController()
  const told = ['drain', 'close'].map((event) => once(response, event, { signal: over.signal }))
  await Promise.race(told).catch(() => {})
  over.abort()
  return !response.destroyed
}
