import { hash } from 'node:crypto'
import { allows, type ManagementScope, type Role, type Scope } from '@masthead/contract'
import { LRUCache } from 'lru-cache'
import type { Database } from '../database/database.ts'
import { identity } from '../database/revisions.ts'
import { Problem } from '../problem.ts'
import { hashToken, isWellFormedToken, type TokenKind } from './token-format.ts'

/** Who is calling, the same for every kind of token. */
export type Principal = {
  kind: TokenKind | 'delegated'
  tokenId: string
  tenantId: string
  userId: string | null
  role: Role | null
  /** What the token carries; what it may do is also bounded by the role. */
  tokenScopes: ReadonlySet<string>
  /** Who gets a task that names nobody. */
  assignee: string
  /** The acting user in the tenant's legacy system. */
  legacyUserId: string | null
  /** The application that acts for the user. */
  applicationId: string | null
  /** The consent by which it acts. */
  grantId: string | null
  /** The same for all tokens that stand for one another: rotations of a service token, those of a user, those of a grant. */
  lineage: string
}

/** Who holds a token, and until when at most, in milliseconds. */
export type Holder = { principal: Principal; expiresAt: number }

/** Whatever can tell who holds a token. */
export type Authenticator = { authenticate(token: string): Promise<Holder> }

type TokenRow = {
  id: string
  kind: TokenKind
  lineage_id: string
  tenant_id: string
  user_id: string | null
  scopes: string[]
  role: Role | null
  assignee: string
  legacy_user_id: string | null
  expires_at: Date
  revoked_at: Date | null
  last_used_at: Date | null
}

const minute = 60_000
const remembered = { max: 10_000 }

/** A token that somebody held, and that will never be good again. */
export class EndedToken extends Problem {
  /** When it expired; null when it was revoked. A clock that is set back makes it good again. */
  readonly expiredAt: Date | null

  constructor(detail: string, expiredAt: Date | null) {
    super('invalid_token', detail)
    this.expiredAt = expiredAt
  }
}

/** A token that somebody sent. Under its name, which does not give it away, its holder is remembered. */
export type PresentedToken = { readonly text: string; readonly name: string }

export const presented = (text: string): PresentedToken => ({ text, name: hash('sha256', text, 'base64url') })

/**
 * Finds out who holds a token. Unknown, expired and revoked ones are refused; the last use is kept to the minute. Known
 * ones are remembered as long as nobody changed who may do what, and for a minute at most: who changes it by hand in the
 * database need not stamp it.
 */
export class Principals {
  readonly #database: Database
  readonly #delegated: Authenticator | null
  readonly #remembered = new LRUCache<string, Holder & { revision: number; foundAt: number }>(remembered)
  /** Tokens that have ended, and until when that is remembered, by a clock that nobody sets. */
  readonly #ended = new LRUCache<string, { problem: EndedToken; until: number }>(remembered)
  readonly #notedUses = new LRUCache<string, number>(remembered)

  constructor(database: Database, delegated: Authenticator | null) {
    this.#database = database
    this.#delegated = delegated
  }

  /** Who holds the token, when that is known without asking. */
  recall({ name }: PresentedToken): Principal | null {
    const { revisions } = this.#database
    const known = this.#remembered.get(name)
    if (!known || !revisions.areKnown || known.revision !== revisions.of(identity)) return null
    const now = Date.now()
    if (known.expiresAt <= now || known.foundAt + minute <= now) return null
    this.#noteUse(known.principal, null)
    return known.principal
  }

  /** Whether it has the form of a token. */
  mayKnow({ text }: PresentedToken): boolean {
    return this.#isJwt(text) || isWellFormedToken(text)
  }

  /** Whether nobody is remembered who holds it or held it. */
  isNew({ name }: PresentedToken): boolean {
    return !this.#remembered.has(name) && !this.#ended.has(name)
  }

  async authenticate({ text, name }: PresentedToken): Promise<Principal> {
    const { revisions } = this.#database
    const [revision, foundAt] = [revisions.of(identity), Date.now()]
    const ended = this.#ended.get(name)
    if (ended && ended.until > performance.now() && (ended.problem.expiredAt?.getTime() ?? 0) <= foundAt)
      throw ended.problem
    this.#ended.delete(name)
    try {
      const holder = await this.#find(text)
      this.#remembered.set(name, { ...holder, revision, foundAt })
      return holder.principal
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_token') this.#remembered.delete(name)
      if (error instanceof EndedToken) this.#ended.set(name, { problem: error, until: performance.now() + minute })
      throw error
    }
  }

  /** Three parts are a JWT (RFC 7515 §7.1), which no token of ours is. */
  #isJwt(token: string): boolean {
    return this.#delegated !== null && token.split('.', 4).length === 3
  }

  async #find(token: string): Promise<Holder> {
    if (this.#delegated && this.#isJwt(token)) return this.#delegated.authenticate(token)
    if (!isWellFormedToken(token)) throw invalidToken('The access token is not complete, or not one of this service.')
    const [row] = await this.#database.read<TokenRow>({ text: findToken, values: [hashToken(token)] })
    if (!row) throw invalidToken('This access token is not known here.')
    if (row.revoked_at) throw new EndedToken('This access token has been revoked.', null)
    if (row.expires_at.getTime() <= Date.now()) {
      throw new EndedToken(`This access token expired at ${row.expires_at.toISOString()}.`, row.expires_at)
    }
    const principal = principalOf(row)
    this.#noteUse(principal, row.last_used_at)
    return { principal, expiresAt: row.expires_at.getTime() }
  }

  #noteUse({ kind, tokenId }: Principal, lastUsedAt: Date | null): void {
    if (kind === 'delegated') return
    const now = Math.floor(Date.now() / minute) * minute
    if ((lastUsedAt?.getTime() ?? 0) >= now || this.#notedUses.get(tokenId) === now) return
    this.#notedUses.set(tokenId, now)
    // The answer does not wait for it, and a database that is gone shows elsewhere.
    this.#database
      .query({ text: noteUse, values: [tokenId, new Date(now)] })
      .catch(() => this.#notedUses.delete(tokenId))
  }
}

const principalOf = (row: TokenRow): Principal => ({
  kind: row.kind,
  tokenId: row.id,
  tenantId: row.tenant_id,
  userId: row.user_id,
  role: row.role,
  tokenScopes: new Set(row.scopes),
  assignee: row.assignee,
  legacyUserId: row.legacy_user_id,
  applicationId: null,
  grantId: null,
  lineage: row.kind === 'service' ? `service ${row.lineage_id}` : `member ${row.user_id}`,
})

const findToken = `
  select token.id, token.kind, token.lineage_id, token.tenant_id, token.user_id, token.scopes, membership.role,
    token.expires_at, token.revoked_at, token.last_used_at, membership.legacy_user_id,
    coalesce(membership.legacy_user_id, token.default_assignee, tenant.default_assignee, '') as assignee
  from access_tokens token
  join tenants tenant on tenant.id = token.tenant_id
  left join memberships membership on membership.tenant_id = token.tenant_id and membership.user_id = token.user_id
  where token.secret_hash = $1`

const noteUse = `
  update access_tokens set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $2)`

/** Fails closed: a scope is there only when the token carries it and, for a user's token, the role allows it. */
export const hasScope = ({ kind, role, tokenScopes }: Principal, scope: Scope | ManagementScope): boolean =>
  tokenScopes.has(scope) && (kind === 'service' || (role !== null && allows(role, scope)))

export const requireScope = (principal: Principal, scope: Scope | ManagementScope): void => {
  if (hasScope(principal, scope)) return
  if (!principal.tokenScopes.has(scope)) {
    throw new Problem('insufficient_scope', `This call needs a token with the scope \`${scope}\`.`)
  }
  throw new Problem('insufficient_role', `The role ${principal.role} does not include the scope \`${scope}\`.`)
}

const invalidToken = (detail: string): Problem => new Problem('invalid_token', detail)
