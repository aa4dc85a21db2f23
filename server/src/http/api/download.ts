import type { FileResponse } from '../../operation-call.ts'
import { isCurrent } from '../responses/conditional.ts'
import { openToAllOrigins } from '../responses/cross-origin.ts'
import { sendPart } from '../responses/send.ts'
import type { Exchange } from './exchange.ts'

/** RFC 9110 §14: a whole file, or the one part that is asked for. It is sent as it is read, and no faster than it is taken. */
export const sendFile = async (exchange: Exchange, file: FileResponse): Promise<void> => {
  const { request, response, tags } = exchange
  const headers = headersOf(exchange, file)
  if (isCurrent(tags, file.etag)) {
    response.writeHead(304, headers).end()
    return
  }
  const range = request.method === 'GET' ? rangeOf(request.headers, file) : null
  if (range === 'beyond') {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${file.bytes}`, 'content-length': 0 }).end()
    return
  }
  const { from, to } = range ?? { from: 0, to: file.bytes }
  response.writeHead(range ? 206 : 200, {
    ...headers,
    ...(range && { 'content-range': `bytes ${from}-${to - 1}/${file.bytes}` }),
    'content-type': file.mediaType,
    'content-length': to - from,
  })
  if (request.method === 'GET') {
    // A caller that takes nothing for a while is cut off by the server.
    for await (const part of file.read(from, to)) if (!(await sendPart(response, part))) return
  }
  response.end()
}

const headersOf = ({ api, charge, requestId }: Exchange, { name, etag }: FileResponse): Record<string, string> => ({
  ...(api.isOpenToAllOrigins && openToAllOrigins),
  ...charge?.headers(),
  'accept-ranges': 'bytes',
  'cache-control': 'private, no-cache',
  'content-disposition': `attachment; filename="${name}"`,
  etag,
  'x-request-id': requestId,
})

type Range = { from: number; to: number }

/** Null for the whole file: several ranges, and what is no range of bytes, may be ignored. */
const rangeOf = (
  { range, 'if-range': ifRange }: { range?: string | undefined; 'if-range'?: string | undefined },
  { bytes, etag }: FileResponse,
): Range | 'beyond' | null => {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return null
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(range.trim()) ?? []
  if (first === '' && last === '') return null
  // An empty file has no last bytes either.
  if (first === '')
    return bytes === 0 || Number(last) === 0 ? 'beyond' : { from: Math.max(0, bytes - Number(last)), to: bytes }
  if (last !== '' && Number(last) < Number(first)) return null
  return Number(first) >= bytes ? 'beyond' : { from: Number(first), to: Math.min(bytes, Number(last || bytes) + 1) }
}
