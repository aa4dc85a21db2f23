import type { ServerResponse } from 'node:http'
import type { EncodedResponse } from './encoding.ts'

/** What belongs to each request: its id, and what is left of its rate. */
export type OwnHeaders = { requestId: string; rate: Record<string, string> }

export const sendResponse = (
  response: ServerResponse,
  { status, headers, body }: EncodedResponse,
  { requestId, rate }: OwnHeaders,
): void => {
  response.writeHead(status, { ...headers, 'x-request-id': requestId, ...rate })
  // As a text it goes out in one piece with the head, each byte a character.
  if (body.length < mostInOnePiece) response.end(body.toString('latin1'), 'latin1')
  else response.end(body)
}

const mostInOnePiece = 8_192

/** Says that the caller has it already, by a head without a word of a body. */
export const sendNotModified = (
  response: ServerResponse,
  { headers }: EncodedResponse,
  etag: string,
  { requestId, rate }: OwnHeaders,
): void => {
  const { 'content-type': _type, 'content-length': _length, etag: _etag, ...others } = headers
  response.writeHead(304, { ...others, 'x-request-id': requestId, etag, ...rate })
  response.end()
}
