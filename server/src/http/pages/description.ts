import {
  type Api,
  basePath,
  customerApi,
  documentPath,
  managementApi,
  openapi,
  openapi30,
  type ProblemCode,
  problems,
} from '@masthead/contract'
import { lazily } from '../../lazily.ts'
import { Problem } from '../../problem.ts'
import { resourceMetadataPath } from '../api/callers/authenticate.ts'
import { entityTag } from '../responses/conditional.ts'
import { tagged } from './page-response.ts'
import type { Pages } from './pages.ts'
import type { PageHandler } from './visit.ts'

/** Both documents are below the base path, and yet no part of the API: they need no token. This one is for tools that know no later version. */
export const olderDocumentPath = `${basePath}/openapi-3.0.json`

/** What the service says of itself: the OpenAPI document, the pages behind problem types. */
export const describeApi = (pages: Pages, baseUrl: string, issuer: string): void => {
  // Made when the first one asks: together they take a twentieth of a start.
  const documents: Record<string, () => unknown> = {
    [documentPath]: openapi,
    [olderDocumentPath]: () => openapi30(baseUrl),
    ...metadataOf(customerApi, baseUrl, issuer),
    ...metadataOf(managementApi, baseUrl, issuer),
  }
  for (const [path, make] of Object.entries(documents))
    pages.add({ path, isOpenToAllOrigins: true, GET: documentOf(make) })
  pages.add({
    path: '/problems/{code}',
    GET: async ({ params: { code = '' } }) => {
      if (!Object.hasOwn(problems, code)) throw new Problem('not_found', `There is no problem "${code.slice(0, 100)}".`)
      return {
        headers: { 'content-type': 'text/html; charset=utf-8' },
        body: problemPage(code as ProblemCode), // just checked
      }
    },
  })
}

const documentOf = (make: () => unknown): PageHandler => {
  const load = lazily(async () => {
    const body = JSON.stringify(make())
    return { body, etag: entityTag(body) }
  })
  return async ({ request }) => {
    const { body, etag } = await load()
    return tagged(request, etag, {
      headers: { 'cache-control': 'public, no-cache', 'content-type': 'application/json; charset=utf-8' },
      body,
    })
  }
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
