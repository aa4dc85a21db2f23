import type { Author } from '../../audit/author.ts'
import { auditEach } from '../../audit/queries.ts'
import type { Query } from '../../database/connections/statement.ts'
import { stampIdentity } from '../audit-change.ts'
import { consoleId } from './applications.ts'
import { signOutOfConsole, withdrawConsentsOf } from './consents.ts'

type Token = { id: string; name: string; tenant: string; createdAt: Date; expiresAt: Date; lastUsedAt: Date | null }
type Consent = { id: string; application: string; tenant: string; createdAt: Date }

export const findCredentials = async (query: Query, userId: string) => {
  const tokens = await query<Token>({
    text: `select token.id, token.name, tenant.name as tenant, token.created_at as "createdAt",
        token.expires_at as "expiresAt", token.last_used_at as "lastUsedAt"
      from access_tokens token join tenants tenant on tenant.id = token.tenant_id
      where token.user_id = $1 and token.revoked_at is null and token.expires_at > now()
      order by tenant.name, token.created_at desc, token.id`,
    values: [userId],
  })
  const consents = await query<Consent>({
    text: `select consent.grant_id as id, application.name as application, tenant.name as tenant,
        consent.created_at as "createdAt"
      from consents consent
      join applications application on application.id = consent.application_id
      join tenants tenant on tenant.id = consent.tenant_id
      where consent.user_id = $1 and consent.withdrawn_at is null and application.id <> $2
      order by tenant.name, consent.created_at desc, consent.grant_id`,
    values: [userId, consoleId],
  })
  return { tokens, consents }
}

type Ended = { tenantId: string; recordId: string }

/**
 * Ends all sessions, consents and personal access tokens of a user except `keptTokens`, and withdraws the invitations that
 * the user sent. Each kind takes one statement, which keeps the locks short.
 */
export const revokeCredentials = async (query: Query, author: Author, userId: string, keptTokens: string[] = []) => {
  await signOutOfConsole(query, author, userId, null)
  await withdrawConsentsOf(query, author, userId)
  const revoked = await query<Ended>({
    text: `update access_tokens set revoked_at = now()
      where user_id = $1 and revoked_at is null and expires_at > now() and id <> all ($2::uuid[])
      returning tenant_id as "tenantId", id as "recordId"`,
    values: [userId, keptTokens],
  })
  await auditEach(query, author, { resource: 'tokens', action: 'revoked' }, revoked)
  await withdrawInvitationsBy(query, author, userId)
  await stampIdentity(query)
}

/** Withdraws the invitations that the user sent, in one tenant or in all. Those that had expired have ended before. */
export const withdrawInvitationsBy = async (
  query: Query,
  author: Author,
  userId: string,
  tenantId: string | null = null,
) => {
  const deleted = await query<Ended & { email: string; role: string; isOpen: boolean }>({
    text: `delete from invitations where invited_by = $1 and ($2::uuid is null or tenant_id = $2)
      returning tenant_id as "tenantId", id as "recordId", email, role, expires_at > now() as "isOpen"`,
    values: [userId, tenantId],
  })
  const withdrawn = deleted.flatMap(({ tenantId, recordId, email, role, isOpen }) =>
    isOpen ? { tenantId, recordId, after: JSON.stringify({ email, role }) } : [],
  )
  await auditEach(query, author, { resource: 'invitations', action: 'withdrawn' }, withdrawn)
}
