import { hash } from 'node:crypto'
import { allows, type ManagementScope, type Role, type Scope } from '@masthead/contract'
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import type { Database } from '../database/database.ts'
import type { AskVersions } from '../database/versions.ts'
import { Problem } from '../problem.ts'
import { hashToken, isWellFormedToken, type TokenKind } from './token-format.ts'

/** The caller, in the same form for every kind of token. */
export type Principal = {
  kind: TokenKind | 'delegated'
  tokenId: string
  tenantId: string
  userId: string | null
  role: Role | null
  /** The scopes of the token; the role limits them further. */
  tokenScopes: ReadonlySet<string>
  /** The assignee of a task that names none. */
  assignee: string
  legacyUserId: string | null
  applicationId: string | null
  grantId: string | null
  /** Shared by all rotations of a service token, all tokens of a user, or all tokens of a grant. */
  lineage: string
}

/** The owner of a token; `expiresAt` is in milliseconds. */
type Holder = { principal: Principal; expiresAt: number }

/** `identity` is the version of identities before the holder was looked up. */
export type CachedHolder = Holder & { identity: string; foundAt: number }

export type Authenticator = (token: string) => Promise<Holder>

type TokenRow = Omit<Principal, 'tokenScopes' | 'applicationId' | 'grantId'> & {
  scopes: string[]
  expiresAt: Date
  revokedAt: Date | null
  lastUsedAt: Date | null
}

const minute = 60_000
const cacheOptions = atMost(10_000)

/** A token that was valid once and never will be again. */
export class EndedToken extends Problem {
  /** Null when the token was revoked. A token that expired is valid again when the clock is set back. */
  readonly expiredAt: Date | null

  constructor(detail: string, expiredAt: Date | null) {
    super('invalid_token', detail)
    this.expiredAt = expiredAt
  }
}

/** A token of a request. `cacheKey` is its hash, under which its holder is cached. */
export type PresentedToken = { readonly text: string; readonly cacheKey: string }

export const presented = (text: string): PresentedToken => ({ text, cacheKey: hash('sha256', text, 'base64url') })

export type Principals = ReturnType<typeof principalsOf>

/**
 * Authenticates tokens; unknown, expired and revoked ones are refused. The date of the last use has a resolution of a
 * minute. A holder stays cached until the version of identities moves, and for a minute at most, because somebody who
 * changes permissions by hand in the database need not move it.
 */
export const principalsOf = (
  { query, read }: Database,
  askVersions: AskVersions,
  authenticateJwt: Authenticator | null,
) => {
  const holders = new LRUCache<string, CachedHolder>(cacheOptions)
  /** `until` is by the monotonic clock. */
  const endedTokens = new LRUCache<string, { problem: EndedToken; until: number }>(cacheOptions)
  const storedUses = new LRUCache<string, number>(cacheOptions)

  /** A JWT has three parts (RFC 7515 §7.1); our own tokens have no dots. */
  const isJwt = (token: string): boolean => authenticateJwt !== null && token.split('.', 4).length === 3

  const storeUse = ({ kind, tokenId }: Principal, lastUsedAt: Date | null): void => {
    if (kind === 'delegated') return
    const now = Math.floor(Date.now() / minute) * minute
    if ((lastUsedAt?.getTime() ?? 0) >= now || storedUses.get(tokenId) === now) return
    storedUses.set(tokenId, now)
    // The response does not wait for this, and an unavailable database is reported elsewhere.
    query({ text: updateLastUse, values: [tokenId, new Date(now)] }).catch(() => storedUses.delete(tokenId))
  }

  const find = async (token: string): Promise<Holder> => {
    if (authenticateJwt && isJwt(token)) return authenticateJwt(token)
    if (!isWellFormedToken(token)) throw invalidToken('The access token is not complete, or not one of this service.')
    const [row] = await read<TokenRow>({ text: findToken, values: [hashToken(token)] })
    if (!row) throw invalidToken('This access token is not known here.')
    const { scopes, expiresAt, revokedAt, lastUsedAt, ...owner } = row
    if (revokedAt) throw new EndedToken('This access token has been revoked.', null)
    if (expiresAt.getTime() <= Date.now())
      throw new EndedToken(`This access token expired at ${expiresAt.toISOString()}.`, expiresAt)
    const principal = { ...owner, tokenScopes: new Set(scopes), applicationId: null, grantId: null }
    storeUse(principal, lastUsedAt)
    return { principal, expiresAt: expiresAt.getTime() }
  }

  return {
    /** It may be out of date, unless the version of identities is still that of the holder. */
    cached: ({ cacheKey }: PresentedToken): CachedHolder | null => {
      const holder = holders.get(cacheKey)
      const now = Date.now()
      if (!holder || holder.expiresAt <= now || holder.foundAt + minute <= now) return null
      storeUse(holder.principal, null)
      return holder
    },

    isWellFormed: ({ text }: PresentedToken): boolean => isJwt(text) || isWellFormedToken(text),

    /** True when the cache knows neither a holder nor an end of the token. */
    isNew: ({ cacheKey }: PresentedToken): boolean => !holders.has(cacheKey) && !endedTokens.has(cacheKey),

    authenticate: async ({ text, cacheKey }: PresentedToken): Promise<Principal> => {
      const foundAt = Date.now()
      const ended = endedTokens.get(cacheKey)
      if (ended && ended.until > performance.now() && (ended.problem.expiredAt?.getTime() ?? 0) <= foundAt)
        throw ended.problem
      endedTokens.delete(cacheKey)
      try {
        const { identity } = await askVersions(null)
        const holder = await find(text)
        holders.set(cacheKey, { ...holder, identity, foundAt })
        return holder.principal
      } catch (error) {
        if (error instanceof Problem && error.code === 'invalid_token') holders.delete(cacheKey)
        if (error instanceof EndedToken)
          endedTokens.set(cacheKey, { problem: error, until: performance.now() + minute })
        throw error
      }
    },
  }
}

const findToken = `
  select token.kind, token.id as "tokenId", token.tenant_id as "tenantId", token.user_id as "userId", membership.role,
    membership.legacy_user_id as "legacyUserId", token.scopes, token.expires_at as "expiresAt",
    token.revoked_at as "revokedAt", token.last_used_at as "lastUsedAt",
    case token.kind when 'service' then 'service ' || token.lineage_id else 'member ' || token.user_id end as lineage,
    coalesce(membership.legacy_user_id, token.default_assignee, tenant.default_assignee, '') as assignee
  from access_tokens token
  join tenants tenant on tenant.id = token.tenant_id
  left join memberships membership on membership.tenant_id = token.tenant_id and membership.user_id = token.user_id
  where token.secret_hash = $1`

const updateLastUse = `
  update access_tokens set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $2)`

/** By which limit the caller may not use the scope; null where it may. */
const lackOf = ({ kind, role, tokenScopes }: Principal, scope: AnyScope): 'token' | 'role' | null => {
  if (!tokenScopes.has(scope)) return 'token'
  return kind === 'service' || (role !== null && allows(role, scope)) ? null : 'role'
}

export type AnyScope = Scope | ManagementScope

export const mayUse = (principal: Principal, scope: AnyScope): boolean => lackOf(principal, scope) === null

/** Throws where the caller may use none of the scopes, of which any one is enough. */
export const requireScope = (principal: Principal, ...scopes: readonly AnyScope[]): void => {
  const lacks = scopes.map((scope) => lackOf(principal, scope))
  if (lacks.includes(null)) return
  const names = scopes.map((scope) => `\`${scope}\``).join(', ')
  if (lacks.includes('role')) throw insufficientRole(principal, names)
  const wanted = scopes.length === 1 ? `the scope ${names}` : `one of the scopes ${names}`
  throw new Problem('insufficient_scope', `This call needs a token with ${wanted}.`)
}

/** Throws where the role does not allow it, whatever the token says: an operation of the console may depend on a scope of the customer API. */
export const requireRole = ({ role }: Principal, scope: AnyScope): void => {
  if (role !== null && allows(role, scope)) return
  throw insufficientRole({ role }, `\`${scope}\``)
}

const insufficientRole = ({ role }: Pick<Principal, 'role'>, names: string): Problem =>
  new Problem('insufficient_role', `The role ${role} does not include the scope ${names}.`)

export const invalidToken = (detail: string): Problem => new Problem('invalid_token', detail)
