import type { JWTVerifyGetKey } from 'jose'
import type { Database } from '../database/database.ts'
import { Problem } from '../problem.ts'
import { findDelegation } from './consents.ts'
import type { Authenticator, Holder, Principal } from './principal.ts'
import { VerifiedJwts } from './verified-jwts.ts'

type Options = { issuer: string; audience: string; scopePrefix: string; key: JWTVerifyGetKey }

/** Finds out for whom an application acts, by an access token of our own authorization server. */
export class DelegatedTokens implements Authenticator {
  readonly #database: Database
  readonly #scopePrefix: string
  readonly #jwts: VerifiedJwts

  constructor(database: Database, options: Options) {
    this.#database = database
    this.#scopePrefix = options.scopePrefix
    const { issuer, audience } = options
    // RFC 9068 §4: the `typ` tells an access token from an ID token.
    this.#jwts = new VerifiedJwts(options.key, { issuer, audience, algorithms: ['RS256'], typ: 'at+jwt' })
  }

  async authenticate(token: string): Promise<Holder> {
    const { claims } = await this.#jwts.verify(token)
    const { grant, tenant, client_id: clientId, sub, scope = '', cnf, jti = '' } = claims
    if (cnf !== undefined) throw ended('This access token is bound to a key, which is not supported.')
    const delegation = typeof grant === 'string' ? await findDelegation(this.#database.read, grant) : null
    if (!delegation) throw ended('The consent, the membership or the application behind this access token has ended.')
    const { applicationId, tenantId, userId, role, assignee, legacyUserId } = delegation
    if (applicationId !== clientId || tenantId !== tenant || userId !== sub) {
      throw ended('This access token does not agree with the consent behind it.')
    }
    const principal: Principal = {
      kind: 'delegated',
      tokenId: jti,
      tenantId,
      userId,
      role,
      tokenScopes: scopesOf(scope, this.#scopePrefix),
      assignee,
      legacyUserId,
      applicationId,
      grantId: String(grant),
      lineage: `grant ${grant}`,
    }
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

const ended = (detail: string): Problem => new Problem('invalid_token', detail)
