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
  if (isCurrent) response.writeHead(304, headers).end()
  else response.writeHead(200, headers).end(form.body)
}

/** Names and values by turns. */
const linesOf = (form: Form): NonNullable<Form['lines']> => {
  form.lines ??= {
    whole: openLines.concat(Object.entries(form.headers).flat()),
    bare: openLines.concat(Object.entries(withoutContent(form)).flat()),
  }
  return form.lines
}

const openLines = Object.entries(openToAllOrigins).flat()
