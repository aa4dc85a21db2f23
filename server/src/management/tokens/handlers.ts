import type { ManagementResources } from '@masthead/contract'
import {
  type AccessToken,
  countActiveTokens,
  createToken,
  findTokens,
  revokeToken,
} from '../../identity/access-tokens.ts'
import type { Handlers } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { json, notFound, requireMember, requireWords, userOf } from '../json-answer.ts'

const day = 86_400_000
const mostTokens = 100

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
      await requireMember(query, principal)
      if ((await countActiveTokens(query, given)) >= mostTokens)
        throw new Problem('conflict', `You have ${mostTokens} tokens that work here. Revoke one first.`)
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

const shown = ({ id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt }: AccessToken) => ({
  ...{ id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt },
})
