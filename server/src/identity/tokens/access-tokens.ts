import type { Scope } from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { firstRow } from '../../database/connections/first-row.ts'
import type { Query } from '../../database/connections/statement.ts'
import { isUuid, newId } from '../../records/identifiers.ts'
import { Refusal } from '../../refusal.ts'
import { auditChange, publishChange } from '../audit-change.ts'
import { hashToken, newToken, type TokenKind } from '../token-format.ts'

/** A token without its secret, which is shown once and stored only as a hash. */
export type AccessToken = {
  id: string
  kind: TokenKind
  name: string
  userId: string | null
  service: string | null
  scopes: Scope[]
  defaultAssignee: string | null
  createdAt: Date
  expiresAt: Date
  revokedAt: Date | null
  lastUsedAt: Date | null
}
export type ShownToken = AccessToken & { token: string }
/** `user` is the e-mail address of the token's owner. */
type ListedToken = AccessToken & { user: string | null }
type StoredToken = AccessToken & { tenantId: string; lineageId: string; lifetime: number }
type TokenValues = Omit<StoredToken, 'createdAt' | 'revokedAt' | 'lastUsedAt' | 'lifetime'>

const columns = `id, kind, name, user_id as "userId", service, scopes, default_assignee as "defaultAssignee",
  created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt"`

const day = 86_400_000
const lifetimes: Record<TokenKind, { default: number; longest: number }> = {
  personal: { default: 90 * day, longest: 366 * day },
  service: { default: 365 * day, longest: Number.POSITIVE_INFINITY },
}

export type NewAccessToken = { tenantId: string; name: string; scopes: Scope[]; lifetime?: number | undefined } & (
  | { userId: string; service?: undefined; defaultAssignee?: undefined }
  | { userId?: undefined; service: string; defaultAssignee?: string | null }
)

export const createToken = async (query: Query, author: Author, given: NewAccessToken): Promise<ShownToken> => {
  const { name, userId = null, service = null, defaultAssignee = null } = given
  const kind = userId === null ? 'service' : 'personal'
  const { lifetime = lifetimes[kind].default } = given
  const { longest } = lifetimes[kind]
  if (lifetime > longest)
    throw new Refusal(`a personal access token lives at most ${longest / day} days: give it fewer`)
  if (name.trim() === '' || service?.trim() === '') throw new Refusal('a token needs a name: say what it is for')
  const id = newId()
  const expiresAt = new Date(Date.now() + lifetime)
  return insertToken(query, author, { ...given, id, lineageId: id, kind, userId, service, defaultAssignee, expiresAt })
}

const insertToken = async (query: Query, author: Author, values: TokenValues): Promise<ShownToken> => {
  const { id, tenantId, kind, userId, service, lineageId, name, scopes, defaultAssignee, expiresAt } = values
  const token = newToken(kind)
  const secretHash = hashToken(token)
  const row = await firstRow<AccessToken>(query, {
    text: `insert into access_tokens
        (id, tenant_id, kind, user_id, service, lineage_id, name, scopes, secret_hash, default_assignee, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${columns}`,
    values: [id, tenantId, kind, userId, service, lineageId, name, scopes, secretHash, defaultAssignee, expiresAt],
  })
  if (!row) throw new Error('the token was not stored')
  await auditChange(query, tenantId, author, { ...about(id), action: 'created', after: row })
  return { ...row, token }
}

const about = (id: string) => ({ resource: 'tokens', recordId: id })

export const listTokens = (query: Query, tenantId: string) =>
  query<ListedToken>({
    text: `select ${columns}, (select email from users where users.id = access_tokens.user_id) as "user"
      from access_tokens where tenant_id = $1 order by created_at, id`,
    values: [tenantId],
  })

/** Newest first: the tokens of a user, or the service tokens when `userId` is null; with `id` only that one. */
export const findTokens = async (query: Query, tenantId: string, userId: string | null, id: string | null = null) => {
  if (id !== null && !isUuid(id)) return []
  return query<AccessToken>({
    text: `select ${columns} from access_tokens
      where tenant_id = $1 and user_id is not distinct from $2::uuid and ($3::uuid is null or id = $3)
      order by created_at desc, id desc`,
    values: [tenantId, userId, id],
  })
}

export const countActiveTokens = async (query: Query, owner: { tenantId: string; userId: string }): Promise<number> => {
  const row = await firstRow<{ count: number }>(query, {
    text: `select count(*)::integer as count from access_tokens
      where tenant_id = $1 and user_id = $2 and revoked_at is null and expires_at > now()`,
    values: [owner.tenantId, owner.userId],
  })
  return row?.count ?? 0
}

/** A rotation shortens the lifetime of the old token, so the longest lifetime in the lineage counts. */
const lifetimeColumn = `(
  select max(extract(epoch from chain.expires_at - chain.created_at) * 1000)::float8 from access_tokens chain
  where chain.tenant_id = access_tokens.tenant_id and chain.lineage_id = access_tokens.lineage_id) as lifetime`

const findToken = async (query: Query, id: string): Promise<StoredToken> => {
  const token =
    isUuid(id) &&
    (await firstRow<StoredToken>(query, {
      text: `select ${columns}, tenant_id as "tenantId", lineage_id as "lineageId", ${lifetimeColumn}
          from access_tokens where id = $1 for update`,
      values: [id],
    }))
  if (!token) throw new Refusal(`there is no token "${id}"; \`masthead token list\` shows their ids`)
  return token
}

export const revokeToken = async (query: Query, author: Author, id: string): Promise<AccessToken> => {
  const { tenantId, lineageId: _lineageId, lifetime: _lifetime, ...before } = await findToken(query, id)
  const after = await firstRow<AccessToken>(query, {
    text: `update access_tokens set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${columns}`,
    values: [before.id],
  })
  if (!after) throw new Error('the token vanished')
  if (before.revokedAt === null)
    await publishChange(query, tenantId, author, { ...about(after.id), action: 'revoked', before, after })
  return after
}

/** The successor has the same name, scopes and lifetime; the old token works until the overlap ends. */
export const rotateToken = async (query: Query, author: Author, id: string, overlap: number) => {
  const old = await findToken(query, id)
  if (old.kind !== 'service') throw new Refusal('only service tokens are rotated; make a new personal access token')
  if (old.revokedAt || old.expiresAt.getTime() <= Date.now())
    throw new Refusal('this token has ended; make a new one with `masthead token create`')
  const values = { ...old, id: newId(), expiresAt: new Date(Date.now() + old.lifetime) }
  const successor = await insertToken(query, author, values)
  const expiresAt = new Date(Math.min(old.expiresAt.getTime(), Date.now() + overlap))
  await query({ text: 'update access_tokens set expires_at = $2 where id = $1', values: [old.id, expiresAt] })
  const change = { before: { expiresAt: old.expiresAt }, after: { expiresAt, successor: successor.id } }
  await publishChange(query, old.tenantId, author, { ...about(old.id), action: 'rotated', ...change })
  return { ...successor, replaces: { id: old.id, expiresAt } }
}
