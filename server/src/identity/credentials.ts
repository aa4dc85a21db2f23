import type { Author } from '../audit/author.ts'
import type { Query } from '../database/connection.ts'
import { revokeToken } from './access-tokens.ts'
import { consoleId } from './applications.ts'
import { signOutOfConsole, withdrawConsent } from './consents.ts'

/** What opens something in the name of a user, in any tenant. */
export type Credentials = {
  tokens: {
    id: string
    name: string
    tenant: string
    createdAt: Date
    expiresAt: Date
    lastUsedAt: Date | null
  }[]
  consents: { id: string; application: string; tenant: string; createdAt: Date }[]
}

export const findCredentials = async (query: Query, userId: string): Promise<Credentials> => {
  const tokens = await query<Credentials['tokens'][number]>({
    text: `select token.id, token.name, tenant.name as tenant, token.created_at as "createdAt",
        token.expires_at as "expiresAt", token.last_used_at as "lastUsedAt"
      from access_tokens token join tenants tenant on tenant.id = token.tenant_id
      where token.user_id = $1 and token.revoked_at is null and token.expires_at > now()
      order by tenant.name, token.created_at desc, token.id`,
    values: [userId],
  })
  const consents = await query<Credentials['consents'][number]>({
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

/** Ends all sessions, consents and personal access tokens of a user, but for the tokens that are kept. */
export const endCredentials = async (
  query: Query,
  author: Author,
  userId: string,
  kept: readonly string[] = [],
): Promise<void> => {
  await signOutOfConsole(query, author, userId, null)
  const { tokens, consents } = await findCredentials(query, userId)
  for (const { id } of consents) await withdrawConsent(query, author, id)
  for (const { id } of tokens) if (!kept.includes(id)) await revokeToken(query, author, id)
}
