import type { ManagementResources } from '@masthead/contract'
import {
  type AccessToken,
  countActiveTokens,
  createToken,
  findTokens,
  revokeToken,
} from '../../identity/tokens/access-tokens.ts'
import type { Handlers } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { existing, json, requireMember, requireText, userOf } from '../responses.ts'

const day = 86_400_000
const mostTokens = 100

export const handlers: Handlers<ManagementResources['tokens']> = {
  GetTokens: async ({ tenant, principal }) => {
    const tokens = await findTokens(tenant.read.withoutTenant, tenant.tenantId, userOf(principal))
    return json({ items: tokens.map(bodyOf) })
  },

  CreateToken: ({ tenant, principal, writer, body: { name, scopes, expiresInDays } }) =>
    tenant.transaction(async ({ withoutTenant: query }) => {
      requireText('name', name)
      const lifetime = expiresInDays === undefined ? undefined : expiresInDays * day
      const given = { tenantId: tenant.tenantId, userId: userOf(principal), name, scopes, lifetime }
      await requireMember(query, principal)
      if ((await countActiveTokens(query, given)) >= mostTokens)
        throw new Problem('conflict', `You have ${mostTokens} tokens that work here. Revoke one first.`)
      const { token, ...made } = await createToken(query, writer.author, given)
      return json({ ...bodyOf(made), token })
    }),

  RevokeToken: ({ tenant, principal, writer, params: { tokenId } }) =>
    tenant.transaction(async ({ withoutTenant: query }) => {
      const [token] = await findTokens(query, tenant.tenantId, userOf(principal), tokenId)
      return json(bodyOf(await revokeToken(query, writer.author, existing('token', token).id)))
    }),
}

const bodyOf = (token: AccessToken) => {
  const { id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt } = token
  return { id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt }
}
