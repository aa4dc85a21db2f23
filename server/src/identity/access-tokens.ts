import type { Scope } from '@masthead/contract'
import type { Author } from '../audit/author.ts'
import { auditIn } from '../audit/queries.ts'
import type { Query } from '../database/connection.ts'
import { isUuid, newId } from '../records/identifiers.ts'
import { Refusal } from '../refusal.ts'
import { noteChange } from './changes.ts'
import { hashToken, newToken, type TokenKind } from './token-format.ts'

/** Everything of a token but its secret, which is shown once and stored nowhere. */
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
/** With the e-mail address of the user who holds it. */
export type ListedToken = AccessToken & { user: string | null }

const columns = `id, kind, name, user_id as "userId", service, scopes, default_assignee as "defaultAssignee",
  created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt"`

const day = 86_400_000
/** How long a token lives when nothing is said, and at most. */
export const lifetimes: Record<TokenKind, { usual: number; longest: number }> = {
  personal: { usual: 90 * day, longest: 366 * day },
  service: { usual: 365 * day, longest: Number.POSITIVE_INFINITY },
}

export type NewAccessToken = {
  tenantId: string
  name: string
  scopes: Scope[]
  lifetime?: number | undefined
} & ({ userId: string; service?: undefined } | { userId?: undefined; service: string; defaultAssignee?: string | null })

export const createToken = async (query: Query, author: Author, given: NewAccessToken): Promise<ShownToken> => {
  const kind = given.userId === undefined ? 'service' : 'personal'
  const { usual, longest } = lifetimes[kind]
  const lifetime = given.lifetime ?? usual
  if (lifetime > longest) throw new Refusal(`a personal access token lives at most ${longest / day} days`)
  if (given.name.trim() === '' || given.service?.trim() === '') throw new Refusal('a token needs a name')
  const id = newId()
  return insertToken(query, author, {
    ...{ id, lineageId: id, kind, tenantId: given.tenantId, name: given.name, scopes: given.scopes },
    userId: given.userId ?? null,
    service: given.service ?? null,
    defaultAssignee: given.service === undefined ? null : (given.defaultAssignee ?? null),
    expiresAt: new Date(Date.now() + lifetime),
  })
}

type Ownership = { tenantId: string; lineageId: string }
type FoundToken = AccessToken & Ownership & { lifetime: number }
type TokenValues = Omit<AccessToken, 'createdAt' | 'revokedAt' | 'lastUsedAt'> & Ownership

const insertToken = async (query: Query, author: Author, values: TokenValues): Promise<ShownToken> => {
  const token = newToken(values.kind)
  const { id, tenantId, kind, userId, service, lineageId, name, scopes, defaultAssignee, expiresAt } = values
  const [row] = await query<AccessToken>({
    text: `insert into access_tokens
        (id, tenant_id, kind, user_id, service, lineage_id, name, scopes, secret_hash, default_assignee, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${columns}`,
    values: [
      id,
      tenantId,
      kind,
      userId,
      service,
      lineageId,
      name,
      scopes,
      hashToken(token),
      defaultAssignee,
      expiresAt,
    ],
  })
  if (!row) throw new Error('the token was not stored')
  await auditIn(query, tenantId, author, [{ ...about(id), action: 'created', after: JSON.stringify(row) }])
  return { ...row, token }
}

const about = (id: string) => ({ resource: 'tokens', recordId: id })

export const listTokens = (query: Query, tenantId: string): Promise<ListedToken[]> =>
  query<ListedToken>({
    text: `select ${columns}, (select email from users where users.id = access_tokens.user_id) as "user"
      from access_tokens where tenant_id = $1 order by created_at, id`,
    values: [tenantId],
  })

/** The newest first: those of a user, or with `userId: null` those of integrations; with `id` only that one. */
export const findTokens = async (
  query: Query,
  tenantId: string,
  { userId, id = null }: { userId: string | null; id?: string | null },
): Promise<AccessToken[]> => {
  if (id !== null && !isUuid(id)) return []
  return query<AccessToken>({
    text: `select ${columns} from access_tokens
      where tenant_id = $1 and user_id is not distinct from $2::uuid and ($3::uuid is null or id = $3)
      order by created_at desc, id desc`,
    values: [tenantId, userId, id],
  })
}

/** How many personal access tokens of a member work. */
export const countTokens = async (
  query: Query,
  { tenantId, userId }: { tenantId: string; userId: string },
): Promise<number> => {
  const [row] = await query<{ count: number }>({
    text: `select count(*)::integer as count from access_tokens
      where tenant_id = $1 and user_id = $2 and revoked_at is null and expires_at > now()`,
    values: [tenantId, userId],
  })
  return row?.count ?? 0
}

/** A rotation cuts the life of the old token short, so the lifetime is the longest in the chain. */
const lifetimeColumn = `(
  select max(extract(epoch from chain.expires_at - chain.created_at) * 1000)::float8 from access_tokens chain
  where chain.tenant_id = access_tokens.tenant_id and chain.lineage_id = access_tokens.lineage_id) as lifetime`

const findToken = async (query: Query, id: string): Promise<FoundToken> => {
  const [token] = isUuid(id)
    ? await query<FoundToken>({
        text: `select ${columns}, tenant_id as "tenantId", lineage_id as "lineageId", ${lifetimeColumn}
          from access_tokens where id = $1 for update`,
        values: [id],
      })
    : []
  if (!token) throw new Refusal(`there is no token "${id}"; \`masthead token list\` shows their ids`)
  return token
}

export const revokeToken = async (query: Query, author: Author, id: string): Promise<AccessToken> => {
  const { tenantId, lineageId: _chain, lifetime: _whole, ...before } = await findToken(query, id)
  const [token] = await query<AccessToken>({
    text: `update access_tokens set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${columns}`,
    values: [id],
  })
  if (!token) throw new Error('the token vanished')
  if (before.revokedAt === null) {
    const values = { before: JSON.stringify(before), after: JSON.stringify(token) }
    await noteChange(query, tenantId, author, { ...about(id), action: 'revoked', ...values })
  }
  return token
}

/** A successor with the same name, scopes and lifetime; the old one lives on for the overlap, so nobody is cut off. */
export const rotateToken = async (
  query: Query,
  author: Author,
  id: string,
  overlap: number,
): Promise<ShownToken & { replaces: { id: string; expiresAt: Date } }> => {
  const old = await findToken(query, id)
  if (old.kind !== 'service') throw new Refusal('only service tokens are rotated; make a new personal access token')
  if (old.revokedAt || old.expiresAt.getTime() <= Date.now()) {
    throw new Refusal('this token has ended; make a new one with `masthead token create`')
  }
  const successor = await insertToken(query, author, {
    ...old,
    id: newId(),
    expiresAt: new Date(Date.now() + old.lifetime),
  })
  const expiresAt = new Date(Math.min(old.expiresAt.getTime(), Date.now() + overlap))
  await query({ text: 'update access_tokens set expires_at = $2 where id = $1', values: [id, expiresAt] })
  const values = {
    before: JSON.stringify({ expiresAt: old.expiresAt }),
    after: JSON.stringify({ expiresAt, successor: successor.id }),
  }
  await noteChange(query, old.tenantId, author, { ...about(id), action: 'rotated', ...values })
  return { ...successor, replaces: { id, expiresAt } }
}
