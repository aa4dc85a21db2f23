import { basePath } from '@masthead/contract'
import Fastify, { type FastifyInstance } from 'fastify'
import { lazily } from '../../lazily.ts'
import { entityTag, isCurrent, readTags } from '../responses/conditional.ts'
import { chooseEncoding, compress, type Encoding } from '../responses/encoding.ts'
import { getOnly } from './get-only.ts'

const path = '/docs/reference'
const scripts = { library: `${path}/scalar.js`, start: `${path}/start.js` }

/** The reference for people. It is large and few look at it, so it is loaded for the first who does. */
export const mountReference = (app: FastifyInstance, issuer: string): void => {
  const library = lazily(loadLibrary)
  for (const url of [path, `${path}/`])
    getOnly(app, url, async (_request, reply) =>
      reply.headers({ ...pageHeaders, 'content-security-policy': policy(issuer) }).send(page),
    )
  getOnly(app, scripts.start, async (_request, reply) => reply.headers(scriptHeaders).send(start))
  getOnly(app, scripts.library, async (request, reply) => {
    const encoding = chooseEncoding(request.headers['accept-encoding'])
    const { tag, as } = await library()
    reply.headers({ ...scriptHeaders, etag: tag, vary: 'accept-encoding' })
    if (isCurrent(readTags('If-None-Match', request.headers['if-none-match']), tag)) return reply.code(304).send()
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    return reply.send(await as(encoding))
  })
}

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const scriptHeaders = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
}

/** As for the console; only styles are written into the page by the library. */
const policy = (issuer: string): string =>
  [
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:",
    `connect-src 'self' ${new URL(issuer).origin}`,
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  ].join('; ')

const configuration = {
  url: `${basePath}/openapi.json`,
  authentication: { preferredSecurityScheme: 'personalAccessToken' },
  // Nothing on the page reaches for a service outside.
  ...{ telemetry: false, withDefaultFonts: false, showDeveloperTools: 'never', hideClientButton: true },
  ...{ agent: { disabled: true }, mcp: { disabled: true } },
}

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reference · Masthead</title>
<style>
  :root { --scalar-custom-header-height: 44px; }
  body { margin: 0; }
  .way-back { position: sticky; top: 0; z-index: 100; display: flex; align-items: center; box-sizing: border-box; height: 44px;
    padding: 0 1.25rem; border-bottom: 1px solid var(--scalar-border-color); background: var(--scalar-background-1, #fff);
    font: 14px/1.5 system-ui, sans-serif; }
  .way-back a { color: var(--scalar-color-1, #1b1d21); }
</style>
<body>
<nav class="way-back" aria-label="Portal"><a href="/docs">Developer portal</a></nav>
<div id="reference"></div>
<noscript>The reference needs JavaScript. The same is in <a href="${configuration.url}">the OpenAPI document</a>.</noscript>
<script src="${scripts.library}"></script>
<script src="${scripts.start}"></script>
</html>
`

/** In light or dark as the reader chose in the console. */
const start = `const theme = localStorage.getItem('masthead.theme') ?? 'system'
const isDark = theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
Scalar.createApiReference('#reference', { ...${JSON.stringify(configuration)}, darkMode: isDark })
`

type Library = { tag: string; as: (encoding: Encoding) => Promise<Buffer> }

/** The package hands it out by a plugin only: an app of its own, because one that serves takes no more plugins. */
const loadLibrary = async (): Promise<Library> => {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  await app.register(scalar, { routePrefix: path, configuration: { url: configuration.url } })
  const { rawPayload } = await app.inject(`${path}/js/scalar.js`)
  const forms = new Map<Encoding, Promise<Buffer>>()
  const as = (encoding: Encoding) => {
    const form = forms.get(encoding) ?? Promise.resolve(compress(rawPayload, encoding))
    forms.set(encoding, form)
    return form
  }
  return { tag: entityTag(rawPayload), as }
}
