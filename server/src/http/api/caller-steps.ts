import type { Versions } from '../../database/versions.ts'
import { type Principal, requireScope } from '../../identity/principal.ts'
import { Problem } from '../../problem.ts'
import { authenticate, cachedHolder } from './callers/authenticate.ts'
import type { Charge } from './callers/rate-limit.ts'
import { TooManyUnknownTokens } from './callers/unknown-tokens.ts'
import { type Exchange, found, type Step } from './exchange.ts'
import { readAhead } from './read-ahead.ts'

/** A caller who was refused for the rate a moment ago is charged before the database is asked. */
export const token: Step = (exchange) => {
  const { limiter, refusedCallers } = exchange.api
  const refused = limiter && refusedCallers.find(exchange.request.headers.authorization)
  const charged = refused && charge(exchange, refused)
  return charged ? charged.then(() => identify(exchange)) : identify(exchange)
}

/** What was cached of the token counts only as long as nobody's permissions have changed. */
const identify = (exchange: Exchange): Promise<void> | undefined => {
  const { principals, askVersions } = exchange.api
  const holder = cachedHolder(principals, exchange.request)
  if (!holder) return findHolder(exchange)
  const admit = (versions: Versions): Promise<void> | undefined => {
    if (versions.identity !== holder.identity) {
      exchange.ahead = null
      return findHolder(exchange)
    }
    exchange.principal = holder.principal
    exchange.versions = versions
    return undefined
  }
  const asked = askVersions(holder.principal.tenantId)
  if (!(asked instanceof Promise)) return admit(asked)
  exchange.ahead = readAhead(exchange, holder.principal)
  return asked.then(admit)
}

/** Looks the token up in the database. */
export const findHolder = async (exchange: Exchange): Promise<void> => {
  const { principals, limiter, addressOf } = exchange.api
  const { request } = exchange
  try {
    exchange.principal = await authenticate(
      principals,
      request,
      () => addressOf(request),
      limiter?.unknownTokens ?? null,
    )
  } catch (error) {
    if (error instanceof TooManyUnknownTokens) exchange.refusedBy = 'unknown-tokens'
    throw error
  }
}

export const rate: Step = (exchange) => (exchange.charge ? undefined : charge(exchange, found(exchange.principal)))

const charge = (exchange: Exchange, principal: Principal): Promise<void> | undefined => {
  const charged = exchange.api.limiter?.call(principal)
  if (charged instanceof Promise) return charged.then((late) => accept(exchange, principal, late))
  return charged && accept(exchange, principal, charged)
}

const accept = (exchange: Exchange, principal: Principal, charged: Charge): undefined => {
  // The caller may have hung up while Redis was asked or the token was looked up.
  if (exchange.response.closed) charged.leave()
  else exchange.charge = charged
  if (!charged.refused) return
  const { limit, detail, seconds } = charged.refused
  // Counted from when the token was known to be good.
  if (exchange.principal) exchange.api.refusedCallers.note(exchange.request.headers.authorization, principal)
  // Log and metrics tell who it was, also when the token was not looked up for it.
  exchange.principal = principal
  exchange.refusedBy = limit
  throw new Problem('too_many_requests', detail, { headers: { 'retry-after': String(seconds) } })
}

export const scope: Step = ({ principal, route }) => {
  requireScope(found(principal), ...found(route).scopes)
}
