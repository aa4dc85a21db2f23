import type { Log } from '../../log/log.ts'
import type { RequestWatcher } from './watched-requests.ts'

/** Asked every few seconds by whoever watches over the service. */
const routine = new Set(['/healthz', '/readyz'])

/** One line for each request that is over. Ids of tenants and tokens are no secrets, and nobody's names. */
export const requestLog = (log: Log): RequestWatcher => ({
  arrived: () => {},
  finished: ({ requestId, operation, path, method, status, milliseconds, principal, refusedBy }) => {
    const level = path !== null && routine.has(path) ? 'debug' : 'info'
    log[level](
      {
        reqId: requestId,
        operation,
        method,
        path,
        status,
        milliseconds: Math.round(milliseconds * 10) / 10,
        ...(principal && { tenant: principal.tenantId, principal: principal.kind, token: principal.tokenId }),
        ...(refusedBy && { refusedBy }),
      },
      'answered',
    )
  },
})
