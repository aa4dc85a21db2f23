import type { IncomingMessage } from 'node:http'
import { readBytes } from '../http/api/requests/request-body.ts'
import type { Guard } from '../http/pages/visit.ts'
import { unsupportedMediaType } from '../http/responses/problems.ts'

/** More than any form of ours needs. */
const mostBytes = 16_384

export const isForm = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded'

/** Reads the form that a page of ours has sent; one without fields may come without a type. */
export const takeForm: Guard = async (visit) => {
  const { request } = visit
  if (request.headers['content-type'] !== undefined && !isForm(request))
    throw unsupportedMediaType('This form cannot be read.')
  const bytes = await readBytes(request, visit.response, mostBytes)
  visit.form = Object.fromEntries(new URLSearchParams(bytes?.toString()))
  return null
}
