import type { Principal } from '../../identity/principal.ts'
import type { Exchange, ReadAhead } from './exchange.ts'

/** What the handler of a read is given. `query` is that of its URL. */
export const callBy = (principal: Principal, query: ReadAhead['query'], { api, destination, requestId }: Exchange) => ({
  params: destination.params,
  query,
  principal,
  tenant: api.database.forTenant(principal.tenantId),
  issuer: api.issuer,
  onError: (error: unknown) => api.log.error({ reqId: requestId, err: error }, 'what a request began has failed'),
})
