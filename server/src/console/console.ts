import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { getOnly } from '../http/pages/get-only.ts'
import { entityTag, isCurrent, readTags } from '../http/responses/conditional.ts'
import { chooseEncoding } from '../http/responses/encoding.ts'
import { Problem } from '../problem.ts'
import type { FindSignInPlace } from './sign-in-place.ts'

export type Console = {
  /** Whether one of its pages is asked for. */
  isAskedFor: (request: FastifyRequest) => Promise<boolean>
  sendPage: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
}

/** Where `npm run build` leaves it. */
const usualFolder = new URL('../../../console/dist/', import.meta.url)

/** The pages of the console and what they load. Nothing of it is read before somebody asks. */
export const mountConsole = (app: FastifyInstance, findSignInPlace: FindSignInPlace, folder = usualFolder): Console => {
  const read = readerOf(folder)
  const findForm = finderOf(read)
  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const found = await findForm(request, 'index.html')
    reply.headers({ ...pageHeaders, 'content-security-policy': policy(await tokenOrigin(findSignInPlace)) })
    return found ? sendForm(request, reply, found) : reply.code(503).type(types.html).send(notBuilt)
  }
  getOnly(app, '/', sendPage)
  getOnly(app, '/assets/:file', async (request, reply) => {
    const { file } = request.params as { file: string } // the router fills it
    const found = /^[\w.-]+$/.test(file) ? await findForm(request, `assets/${file}`) : undefined
    // Who still has a page of a former build asks for what is gone.
    if (!found) throw new Problem('not_found', `There is nothing at /assets/${file.slice(0, 200)}.`)
    return sendForm(request, reply.header('cache-control', 'public, max-age=31536000, immutable'), found)
  })
  const isAskedFor = async ({ method, url }: FastifyRequest) => {
    if (method !== 'GET' && method !== 'HEAD') return false
    const [path = ''] = url.split('?', 1)
    // Read anew, because a build may have come meanwhile.
    return (await readPatterns(read)).some((pattern) => pattern.test(path))
  }
  return { isAskedFor, sendPage }
}

const pageHeaders = {
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/** Where the console gets its tokens. Where that is not known now, its page says so. */
const tokenOrigin = async (find: FindSignInPlace): Promise<string> => {
  try {
    const { issuer, endpoints } = await find()
    return new URL(endpoints?.token ?? issuer).origin
  } catch (error) {
    if (error instanceof Problem) return ''
    throw error
  }
}

/** Scripts and styles are files of ours, and tokens go nowhere but to this service and its authorization server. */
const policy = (origin: string): string =>
  [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'",
    `connect-src 'self' ${origin}`,
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  ].join('; ')

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Masthead</title>
<h1>The console has not been built</h1><p>Run <code>npm run build</code> and load this page again; the service need not be restarted.
The API works without it, and <a href="/docs/reference">its reference</a> too.</html>`

const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
} as const

type Read = (file: string) => Promise<Buffer | undefined>

const readerOf =
  (folder: URL): Read =>
  (file) =>
    readFile(new URL(file, folder)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })

/** Of each file, the build also leaves compressed forms, named after their encodings. */
type Form = { type: string; encoding: string; content: Buffer }

const finderOf =
  (read: Read) =>
  async ({ headers }: FastifyRequest, file: string): Promise<Form | undefined> => {
    const type = typeOf(file)
    if (!type) return undefined
    const encoding = chooseEncoding(headers['accept-encoding'])
    const compressed = encoding === 'identity' ? undefined : await read(`${file}.${encoding}`)
    if (compressed) return { type, encoding, content: compressed }
    const content = await read(file)
    return content && { type, encoding: 'identity', content }
  }

const typeOf = (file: string): string | undefined =>
  Object.entries(types).find(([extension]) => file.endsWith(`.${extension}`))?.[1]

const sendForm = (request: FastifyRequest, reply: FastifyReply, { type, encoding, content }: Form): FastifyReply => {
  const tag = entityTag(content)
  reply.headers({ etag: tag, vary: 'accept-encoding', 'x-content-type-options': 'nosniff' })
  if (isCurrent(readTags('If-None-Match', request.headers['if-none-match']), tag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type(type).send(content)
}

/** `/accounts/$id`, as the console writes it. */
const readPatterns = async (read: Read): Promise<RegExp[]> => {
  const paths: string[] = JSON.parse((await read('paths.json'))?.toString() ?? '[]')
  return paths.map((path) => new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+').replace(/\/$/, '')}/?$`))
}
