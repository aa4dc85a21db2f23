const exposed = [
  'ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotency-Replayed, WWW-Authenticate',
  'Accept-Ranges, Content-Range, Content-Disposition',
].join(', ')
const accepted = [
  'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id, Cache-Control, Last-Event-ID',
  'Range, If-Range',
].join(', ')

export const openToAllOrigins = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }

/** The headers of a preflight: any page may call with a token of its own, for there are no cookies that it could borrow. */
export const preflightHeaders = (methods: readonly string[]): Record<string, string> => ({
  allow: methods.join(', '),
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers': accepted,
  'access-control-max-age': '86400',
})
