import { type AnyScope, mayUse, type Principal } from '../../identity/principal.ts'
import type { HandlerResult } from '../../operation-call.ts'
import { mayBeCached } from '../responses/response-cache.ts'
import { callBy } from './call.ts'
import type { Exchange, ReadAhead } from './exchange.ts'
import { readQuery } from './requests/request-query.ts'

/**
 * Begins to read what a GET asks for while the database is asked whether its token is still good, so that one round trip is waited for instead of
 * two. Nobody is given it before all steps up to the handler have passed. Null where that would be in vain: what is cached, and what will be refused.
 */
export const readAhead = (exchange: Exchange, principal: Principal): ReadAhead | null => {
  const { api, route, request, url } = exchange
  const last = api.askVersions.last(principal.tenantId)
  // A replica has to be told versions of now.
  if (!last || last.lists || !route?.isRead || request.method !== 'GET') return null
  const { operation, scopes, handler } = route
  if (operation.download || operation.followed || !scopes.some((scope) => mayUse(principal, scope))) return null
  const key = cacheKeyOf(url, scopes, principal)
  if (api.cache?.has(principal.tenantId, key, last.records) && mayBeCached(request.headers)) return null
  try {
    const query = readQuery(url, operation.query)
    const result: Promise<HandlerResult> = handler(callBy(principal, query, exchange))
    // The handler step awaits it and fails with it; a request that is refused before does not.
    result.catch(() => {})
    return { query, result, versions: last }
  } catch {
    return null
  }
}

/** Where any of several scopes opens it, what it shows depends on those of the caller. */
export const cacheKeyOf = (url: string, scopes: readonly AnyScope[], principal: Principal): string =>
  scopes.length > 1 ? `${url} ${scopes.filter((scope) => mayUse(principal, scope))}` : url
