import { isTagged, managementApi, type NamedOperation } from '@masthead/contract'
import type { HandlerResult } from '../../operation-call.ts'
import type { Links } from '../../records/lists/list.ts'
import { entityTag } from './conditional.ts'

export type HeadersOf = (result: HandlerResult, query: object, body: string | Buffer) => Record<string, string>

/** What the headers of an operation say of its response. */
export const responseHeaders = (named: NamedOperation, apiUrl: string): HeadersOf => {
  const hasTag = isTagged(named)
  const address = apiUrl + named.operation.path
  // What the console sees is of one person, and may hold secrets.
  const keeping = apiUrl.endsWith(managementApi.basePath) ? 'no-store' : 'private, no-cache'
  return ({ location, links }, query, body) => ({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': keeping,
    ...(location && { location: apiUrl + location }),
    ...(links && { link: linkHeader(apiUrl, address, query, links()) }),
    // The same address also gives a stream.
    ...(named.operation.followed && { vary: 'Accept, Accept-Encoding' }),
    ...(hasTag && { etag: entityTag(body) }),
  })
}

const linkHeader = (apiUrl: string, address: string, query: object, links: Links): string => {
  const { page: _page, cursor: _cursor, ...kept } = query as Record<string, unknown> // any parsed query is one
  return Object.entries(links)
    .map(([relation, target]) => {
      const isElsewhere = 'path' in target
      const parameters = new URLSearchParams()
      for (const [name, value] of Object.entries(isElsewhere ? target.query : { ...kept, ...target }))
        parameters.set(name, String(value))
      return `<${isElsewhere ? apiUrl + target.path : address}?${parameters}>; rel="${relation}"`
    })
    .join(', ')
}
