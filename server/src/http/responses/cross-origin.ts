import type { onRequestAsyncHookHandler } from 'fastify'

const exposed =
  'ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotency-Replayed, WWW-Authenticate'
const accepted = 'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id, Cache-Control'

export const openToAllOrigins = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }

/** Any page may call with a token of its own: there are no cookies that it could borrow. Preflights need no token. */
export const allowAllOrigins =
  (methodsAt: (url: string) => string[]): onRequestAsyncHookHandler =>
  async (request, reply) => {
    reply.headers(openToAllOrigins)
    if (request.method !== 'OPTIONS') return
    const methods = methodsAt(request.url).join(', ')
    if (methods === '') return
    reply.headers({
      allow: methods,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': accepted,
      'access-control-max-age': '86400',
    })
    await reply.code(204).send()
  }
