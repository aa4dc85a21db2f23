import type { IncomingMessage, ServerResponse } from 'node:http'
import { isCurrent, readTags } from '../responses/conditional.ts'

export type PageResponse = {
  /** 200 unless said otherwise. */
  status?: number
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer
}

export const jsonPage = (value: unknown) => ({
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})

/** With its tag, and without what the caller has already. */
export const tagged = ({ headers: asked }: IncomingMessage, etag: string, page: PageResponse): PageResponse => {
  const headers: Record<string, string> = { ...page.headers, etag }
  if (!isCurrent(readTags('If-None-Match', asked['if-none-match']), etag)) return { ...page, headers }
  const { 'content-type': _type, 'content-encoding': _encoding, ...others } = headers
  return { status: 304, headers: others }
}

/** `own` belongs to the request, whatever its response is. */
export const sendPage = (
  response: ServerResponse,
  { status = 200, headers, body = '' }: PageResponse,
  own: Readonly<Record<string, string>>,
): void => {
  const hasBody = status !== 204 && status !== 304
  const length = hasBody && { 'content-length': String(Buffer.byteLength(body)) }
  response.writeHead(status, { ...own, ...headers, ...length }).end(body)
}
