import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { type PageResponse, tagged } from '../http/pages/page-response.ts'
import { entityTag } from '../http/responses/conditional.ts'
import { chooseEncoding } from '../http/responses/encoding.ts'

/** The output of `npm run build`. */
export const buildFolder = new URL('../../../console/dist/', import.meta.url)

export const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
} as const

export const read = (folder: URL, file: string): Promise<Buffer | undefined> =>
  readFile(new URL(file, folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** The build also writes compressed copies of each file, named after their encodings. */
type Asset = { type: string; encoding: string; content: Buffer }

export const findAsset = async (
  folder: URL,
  { headers }: IncomingMessage,
  file: string,
): Promise<Asset | undefined> => {
  const type = Object.entries(types).find(([extension]) => file.endsWith(`.${extension}`))?.[1]
  if (!type) return undefined
  const encoding = chooseEncoding(headers['accept-encoding'])
  const compressed = encoding === 'identity' ? undefined : await read(folder, `${file}.${encoding}`)
  if (compressed) return { type, encoding, content: compressed }
  const content = await read(folder, file)
  return content && { type, encoding: 'identity', content }
}

/** Only of what is there a caller may have a current copy: a page of another status is always sent. */
export const assetResponse = (
  request: IncomingMessage,
  { type, encoding, content }: Asset,
  headers: Record<string, string>,
  status = 200,
): PageResponse => {
  const response = {
    status,
    headers: {
      ...headers,
      'content-type': type,
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    },
    body: content,
  }
  return status === 200 ? tagged(request, entityTag(content), response) : response
}
