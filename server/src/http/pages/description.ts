import {
  type Api,
  basePath,
  customerApi,
  managementApi,
  openapi,
  openapi30,
  type ProblemCode,
  problems,
} from '@masthead/contract'
import type { FastifyInstance } from 'fastify'
import { lazily } from '../../lazily.ts'
import { Problem } from '../../problem.ts'
import { resourceMetadataPath } from '../api/callers/authenticate.ts'
import { entityTag, isCurrent, readTags } from '../responses/conditional.ts'
import { allowAllOrigins } from '../responses/cross-origin.ts'
import { getOnly } from './get-only.ts'
import { mountReference } from './reference.ts'

/** Below the base path, and yet no part of the API: it needs no token. */
export const documentPath = `${basePath}/openapi.json`
/** The same for tools that know no later version. */
export const olderDocumentPath = `${basePath}/openapi-3.0.json`

/** What the service says of itself: the OpenAPI document, the reference, the pages behind problem types. */
export const describeApi = async (app: FastifyInstance, baseUrl: string, issuer: string): Promise<void> => {
  await app.register(async (open) => {
    open.addHook(
      'onRequest',
      allowAllOrigins(() => ['GET', 'HEAD', 'OPTIONS']),
    )
    // Made when the first one asks: together they take a twentieth of a start.
    const documents: Record<string, () => unknown> = {
      [documentPath]: openapi,
      [olderDocumentPath]: () => openapi30(baseUrl),
      ...metadataOf(customerApi, baseUrl, issuer),
      ...metadataOf(managementApi, baseUrl, issuer),
    }
    for (const [url, make] of Object.entries(documents)) {
      const load = lazily(async () => {
        const body = JSON.stringify(make())
        return { body, tag: entityTag(body) }
      })
      getOnly(open, url, async (request, reply) => {
        const { body, tag } = await load()
        reply.headers({
          etag: tag,
          'cache-control': 'public, no-cache',
          'content-type': 'application/json; charset=utf-8',
        })
        if (isCurrent(readTags('If-None-Match', request.headers['if-none-match']), tag)) return reply.code(304).send()
        return body
      })
    }
  })
  getOnly(app, '/problems/:code', async (request, reply) => {
    const { code } = request.params as { code: string } // the router fills it
    if (!Object.hasOwn(problems, code)) throw new Problem('not_found', `There is no problem "${code.slice(0, 100)}".`)
    return reply.type('text/html; charset=utf-8').send(problemPage(code as ProblemCode)) // just checked
  })
  mountReference(app, issuer)
}

/** RFC 9728. */
const metadataOf = (api: Api, baseUrl: string, issuer: string): Record<string, () => unknown> => ({
  [resourceMetadataPath(api)]: () => ({
    resource: baseUrl + api.basePath,
    authorization_servers: [issuer],
    resource_name: 'Masthead',
    resource_documentation: `${baseUrl}/docs`,
    bearer_methods_supported: ['header'],
    scopes_supported: api.scopes.map((scope) => api.scopePrefix + scope),
  }),
})

const problemPage = (code: ProblemCode): string => {
  const { status, title, cause, cure } = problems[code]
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${code}</title><style>body{font:1rem/1.5 system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}</style>
<p>${status} <code>${code}</code><h1>${title}</h1><p>${html(cause)}<p>${html(cure)}<p><a href="/docs/guides/errors#${code}">All problems, and what to do about them</a></html>`
}

const html = (text: string): string => text.replaceAll('<', '&lt;').replaceAll(/`([^`]+)`/g, '<code>$1</code>')
