import type { ServerResponse } from 'node:http'
import { type Form, withoutContent } from './answer-cache.ts'
import { openToAllOrigins } from './cross-origin.ts'
import type { Charge } from './rate-limit.ts'

/** Sends what a read answers, or that the caller has it, past what the framework would do to headers and bytes. */
export const sendForm = (
  response: ServerResponse,
  form: Form,
  isCurrent: boolean,
  requestId: string,
  charge: Charge | null,
): void => {
  if (isCurrent) charge?.refund()
  const { whole, bare } = linesOf(form)
  const headers = (isCurrent ? bare : whole).concat('x-request-id', requestId)
  if (charge) for (const [name, value] of Object.entries(charge.headers())) headers.push(name, value)
  response.writeHead(isCurrent ? 304 : 200, headers)
  if (isCurrent) response.end()
  // As a text it goes out in one piece with the head, each byte a character.
  else if (form.body.length < mostInOnePiece) response.end(form.body.toString('latin1'), 'latin1')
  else response.end(form.body)
}

const mostInOnePiece = 8_192

/** Names and values by turns. */
const linesOf = (form: Form): NonNullable<Form['lines']> => {
  form.lines ??= {
    whole: openLines.concat(Object.entries(form.headers).flat()),
    bare: openLines.concat(Object.entries(withoutContent(form)).flat()),
  }
  return form.lines
}

const openLines = Object.entries(openToAllOrigins).flat()
