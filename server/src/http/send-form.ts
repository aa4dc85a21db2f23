import type { ServerResponse } from 'node:http'
import type { SentAnswer } from '../database/idempotency-records.ts'
import { withoutContent } from './answer-cache.ts'
import { openToAllOrigins } from './cross-origin.ts'
import { writeHead } from './kept-head.ts'
import type { Charge } from './rate-limit.ts'
import type { ReadAnswer } from './reads.ts'

/** Sends what a read answers, or that the caller has it, past what the framework would do to headers and bytes. */
export const sendForm = (
  response: ServerResponse,
  { form, isCurrent, isFromMemory }: ReadAnswer,
  requestId: string,
  charge: Charge | null,
): void => {
  if (isCurrent && isFromMemory) charge?.refund()
  const more = charge?.headers() ?? {}
  if (isCurrent) {
    form.bareHead = writeHead(response, 304, form.bareHead, () => withoutContent(form), requestId, more)
    response.end()
    return
  }
  form.head = writeHead(response, 200, form.head, () => form.headers, requestId, more)
  // As a text it goes out in one piece with the head, each byte a character.
  if (form.body.length < mostInOnePiece) response.end(form.body.toString('latin1'), 'latin1')
  else response.end(form.body)
}

const mostInOnePiece = 8_192

/** Sends what a read of the interface that is open to all origins is refused with, in the same way. */
export const sendRefusal = (
  response: ServerResponse,
  { status, headers, body }: SentAnswer,
  requestId: string,
  charge: Charge | null,
): void => {
  // Whoever has the head of another answer already must not take this for its body.
  if (response.headersSent) {
    response.destroy()
    return
  }
  const own = { 'x-request-id': requestId, 'content-length': Buffer.byteLength(body) }
  response.writeHead(status, { ...openToAllOrigins, ...charge?.headers(), ...headers, ...own }).end(body)
}
