import type { JWTVerifyGetKey } from 'jose'
import type { Database } from '../../database/database.ts'
import { findDelegation } from '../people/consents.ts'
import { type Authenticator, invalidToken } from '../principal.ts'
import { jwtVerifier } from './verified-jwts.ts'

type Options = { issuer: string; audience: string; scopePrefix: string; key: JWTVerifyGetKey }

/** Authenticates applications by the access tokens of our own authorization server. */
export const delegatedTokens = (database: Database, { issuer, audience, scopePrefix, key }: Options): Authenticator => {
  // RFC 9068 §4: the `typ` tells an access token from an ID token.
  const verify = jwtVerifier(key, { issuer, audience, algorithms: ['RS256'], typ: 'at+jwt' })
  return async (token) => {
    const { claims } = await verify(token)
    const { grant, tenant, client_id: clientId, sub, scope = '', cnf, jti: tokenId = '' } = claims
    if (cnf !== undefined) throw invalidToken('This access token is bound to a key, which is not supported.')
    const delegation = typeof grant === 'string' ? await findDelegation(database.read, grant) : null
    if (!delegation)
      throw invalidToken('The consent, the membership or the application behind this access token has ended.')
    const { applicationId, tenantId, userId } = delegation
    if (applicationId !== clientId || tenantId !== tenant || userId !== sub)
      throw invalidToken('This access token does not agree with the consent behind it.')
    const tokenScopes = scopesOf(scope, scopePrefix)
    const [grantId, lineage] = [String(grant), `grant ${grant}`]
    const principal = { ...delegation, kind: 'delegated', tokenId, tokenScopes, grantId, lineage } as const
    return { principal, expiresAt: claims.exp * 1_000 }
  }
}

export const scopesOf = (scope: unknown, scopePrefix: string): ReadonlySet<string> =>
  new Set(
    (Array.isArray(scope) ? scope : String(scope).split(' '))
      .map(String)
      .filter((name) => name.startsWith(scopePrefix))
      .map((name) => name.slice(scopePrefix.length)),
  )
