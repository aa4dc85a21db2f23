import { createHash } from 'node:crypto'
import type { errors, JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import { EndedToken, invalidToken } from '../principal.ts'

type VerifiedJwt = { header: { typ?: string | undefined; alg: string }; claims: JWTPayload & { exp: number } }

/** Verifies each signature once. The caller looks up what may have changed since. */
export const jwtVerifier = (key: JWTVerifyGetKey, given: JWTVerifyOptions) => {
  const options = { ...given, requiredClaims: ['exp', 'sub'] }
  const cache = new LRUCache<string, VerifiedJwt>(atMost(10_000))
  return async (token: string): Promise<VerifiedJwt> => {
    const cacheKey = createHash('sha256').update(token).digest('base64')
    const cached = cache.get(cacheKey)
    if (cached && cached.claims.exp * 1_000 > Date.now()) return cached
    const verified = await verify(token, key, options)
    cache.set(cacheKey, verified)
    return verified
  }
}

const verify = async (token: string, key: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<VerifiedJwt> => {
  // Imported here, so that a start does not wait for it.
  const { errors, jwtVerify } = await import('jose')
  try {
    const { payload, protectedHeader } = await jwtVerify(token, key, options)
    const { exp = 0 } = payload // one of the required claims
    return { header: protectedHeader, claims: { ...payload, exp } }
  } catch (error) {
    // The library verifies the signature before it looks at the expiry.
    if (error instanceof errors.JWTExpired)
      throw new EndedToken('This access token has expired.', new Date(Number(error.payload.exp) * 1_000))
    if (error instanceof errors.JOSEError) throw invalidToken(reasonOf(error, errors))
    throw error
  }
}

const reasonOf = (error: errors.JOSEError, kinds: typeof errors): string => {
  if (error instanceof kinds.JWTClaimValidationFailed)
    return error.claim === 'aud'
      ? 'This access token is for another resource.'
      : `This access token is not valid here: its \`${error.claim}\` is not the expected one.`
  return error instanceof kinds.JWKSNoMatchingKey || error instanceof kinds.JWSSignatureVerificationFailed
    ? 'This access token was not signed by the expected issuer.'
    : 'This access token is not complete, or not one of this service.'
}
