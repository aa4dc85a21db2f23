import type { ManagementResources } from '@masthead/contract'
import type { Query } from '../../database/connection.ts'
import { type AccessToken, createToken, findTokens, revokeToken } from '../../identity/access-tokens.ts'
import { findDelegation, holdSessions } from '../../identity/consents.ts'
import type { Principal } from '../../identity/principal.ts'
import type { Handlers } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { json, notFound, requireWords, userOf } from '../json-answer.ts'

const day = 86_400_000

export const handlers: Handlers<ManagementResources['tokens']> = {
  GetTokens: async ({ tenant, principal }) => {
    const found = await findTokens(tenant.read, tenant.tenantId, { userId: userOf(principal) })
    return json({ items: found.map(shown) })
  },

  CreateToken: ({ tenant, principal, writer, body: { name, scopes, expiresInDays } }) =>
    tenant.transaction(async (query) => {
      requireWords('name', name)
      const lifetime = expiresInDays === undefined ? undefined : expiresInDays * day
      const given = { tenantId: tenant.tenantId, userId: userOf(principal), name, scopes, lifetime }
      await requireGrant(query, principal)
      const { token, ...made } = await createToken(query, writer.author, given)
      return json({ ...shown(made), token })
    }),

  RevokeToken: ({ tenant, principal, writer, params: { tokenId } }) =>
    tenant.transaction(async (query) => {
      const [found] = await findTokens(query, tenant.tenantId, { userId: userOf(principal), id: tokenId })
      if (!found) throw notFound('token')
      return json(shown(await revokeToken(query, writer.author, found.id)))
    }),
}

/** A new password ends the tokens that are there: one that is just being made must see it. */
const requireGrant = async (query: Query, principal: Principal): Promise<void> => {
  await holdSessions(query, userOf(principal))
  if (principal.grantId !== null && !(await findDelegation(query, principal.grantId)))
    throw new Problem('invalid_token', 'This session has ended.')
}

const shown = ({ id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt }: AccessToken) => ({
  ...{ id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt },
})
