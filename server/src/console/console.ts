import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { getOnly } from '../http/pages/get-only.ts'
import { entityTag, isCurrent, readTags } from '../http/responses/conditional.ts'
import { chooseEncoding } from '../http/responses/encoding.ts'
import { Problem } from '../problem.ts'
import type { FindSignInPlace } from './sign-in-place.ts'

type Console = {
  isPage: (request: FastifyRequest) => Promise<boolean>
  sendPage: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
}

/** The output of `npm run build`. */
const buildFolder = new URL('../../../console/dist/', import.meta.url)

/** Serves the pages of the console and their assets, which are read at each request, so that a new build is served at once. */
export const mountConsole = (app: FastifyInstance, findSignInPlace: FindSignInPlace, folder = buildFolder): Console => {
  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const found = await findAsset(folder, request, 'index.html')
    reply.headers({ ...pageHeaders, 'content-security-policy': policy(await tokenOrigin(findSignInPlace)) })
    return found ? sendAsset(request, reply, found) : reply.code(503).type(types.html).send(notBuilt)
  }
  getOnly(app, '/', sendPage)
  getOnly(app, '/assets/:file', async (request, reply) => {
    const { file } = request.params as { file: string } // the router fills it
    const found = /^[\w.-]+$/.test(file) ? await findAsset(folder, request, `assets/${file}`) : undefined
    // A page of an earlier build may ask for an asset that is gone.
    if (!found) throw new Problem('not_found', `There is nothing at /assets/${file.slice(0, 200)}.`)
    return sendAsset(request, reply.header('cache-control', 'public, max-age=31536000, immutable'), found)
  })
  const isPage = async ({ method, url }: FastifyRequest) => {
    if (method !== 'GET' && method !== 'HEAD') return false
    const [path = ''] = url.split('?', 1)
    return (await readPatterns(folder)).some((pattern) => pattern.test(path))
  }
  return { isPage, sendPage }
}

const pageHeaders = {
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/** The origin from which the console gets its tokens; empty when it is unknown, which the page then reports. */
const tokenOrigin = async (find: FindSignInPlace): Promise<string> => {
  try {
    const { issuer, endpoints } = await find()
    return new URL(endpoints?.token ?? issuer).origin
  } catch (error) {
    if (error instanceof Problem) return ''
    throw error
  }
}

/** Scripts and styles are our own files, and tokens are sent only to this service and its authorization server. */
const policy = (origin: string): string =>
  [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'",
    // The reference of the API is a page of ours in a frame.
    `connect-src 'self' ${origin}; frame-src 'self'`,
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  ].join('; ')

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Masthead</title>
<h1>The console has not been built</h1><p>Run <code>npm run build</code> and load this page again; the service need not be restarted.
The API works without it, and <a href="/docs/reference/frame">its reference</a> too.</html>`

const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
} as const

const read = (folder: URL, file: string): Promise<Buffer | undefined> =>
  readFile(new URL(file, folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** The build also writes compressed copies of each file, named after their encodings. */
type Asset = { type: string; encoding: string; content: Buffer }

const findAsset = async (folder: URL, { headers }: FastifyRequest, file: string): Promise<Asset | undefined> => {
  const type = Object.entries(types).find(([extension]) => file.endsWith(`.${extension}`))?.[1]
  if (!type) return undefined
  const encoding = chooseEncoding(headers['accept-encoding'])
  const compressed = encoding === 'identity' ? undefined : await read(folder, `${file}.${encoding}`)
  if (compressed) return { type, encoding, content: compressed }
  const content = await read(folder, file)
  return content && { type, encoding: 'identity', content }
}

const sendAsset = (request: FastifyRequest, reply: FastifyReply, { type, encoding, content }: Asset): FastifyReply => {
  const tag = entityTag(content)
  reply.headers({ etag: tag, vary: 'accept-encoding', 'x-content-type-options': 'nosniff' })
  if (isCurrent(readTags('If-None-Match', request.headers['if-none-match']), tag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(type).send(content)
}

/** The console writes paths as `/accounts/$id`. */
const readPatterns = async (folder: URL): Promise<RegExp[]> => {
  const paths: string[] = JSON.parse((await read(folder, 'paths.json'))?.toString() ?? '[]')
  return paths.map((path) => new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+').replace(/\/$/, '')}/?$`))
}
