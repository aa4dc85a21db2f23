import { createHash } from 'node:crypto'
import type { errors, JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import { LRUCache } from 'lru-cache'
import { Problem } from '../problem.ts'
import { EndedToken } from './principal.ts'

export type VerifiedJwt = { header: { typ?: string | undefined; alg: string }; claims: JWTPayload & { exp: number } }

/** Signatures are checked once a token; what may have changed since is looked up elsewhere. */
export class VerifiedJwts {
  readonly #key: JWTVerifyGetKey
  readonly #options: JWTVerifyOptions
  readonly #remembered = new LRUCache<string, VerifiedJwt>({ max: 10_000 })

  constructor(key: JWTVerifyGetKey, options: JWTVerifyOptions) {
    this.#key = key
    this.#options = { ...options, requiredClaims: ['exp', 'sub', ...(options.requiredClaims ?? [])] }
  }

  async verify(token: string): Promise<VerifiedJwt> {
    const name = createHash('sha256').update(token).digest('base64')
    const known = this.#remembered.get(name)
    if (known && known.claims.exp * 1_000 > Date.now()) return known
    const verified = await this.#check(token)
    this.#remembered.set(name, verified)
    return verified
  }

  async #check(token: string): Promise<VerifiedJwt> {
    // Loaded here, because a start should not wait for it.
    const { errors, jwtVerify } = await import('jose')
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#key, this.#options)
      const { exp = 0 } = payload // required above
      return { header: protectedHeader, claims: { ...payload, exp } }
    } catch (error) {
      // The signature was right.
      if (error instanceof errors.JWTExpired)
        throw new EndedToken('This access token has expired.', new Date(Number(error.payload.exp) * 1_000))
      if (error instanceof errors.JOSEError) throw new Problem('invalid_token', reasonOf(error, errors))
      throw error
    }
  }
}

const reasonOf = (error: errors.JOSEError, kinds: typeof errors): string => {
  if (error instanceof kinds.JWTClaimValidationFailed) {
    return error.claim === 'aud'
      ? 'This access token is for another resource.'
      : `This access token is not valid here: its \`${error.claim}\` is not the expected one.`
  }
  if (error instanceof kinds.JWKSNoMatchingKey || error instanceof kinds.JWSSignatureVerificationFailed) {
    return 'This access token was not signed by the expected issuer.'
  }
  return 'This access token is not complete, or not one of this service.'
}
