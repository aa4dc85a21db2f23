import type { ManagementResources } from '@masthead/contract'
import type { Query } from '../../database/connections/statement.ts'
import {
  type AccessToken,
  createToken,
  findTokens,
  revokeToken,
  rotateToken,
} from '../../identity/tokens/access-tokens.ts'
import type { Handlers } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { existing, json, requireText } from '../responses.ts'

const hour = 3_600_000

export const handlers: Handlers<ManagementResources['serviceTokens']> = {
  GetServiceTokens: async ({ tenant }) => {
    const tokens = await findTokens(tenant.read.withoutTenant, tenant.tenantId, null)
    return json({ items: tokens.map(bodyOf) })
  },

  CreateServiceToken: ({ tenant, writer, body: { service, scopes, expiresInDays, defaultAssignee = null } }) =>
    tenant.transaction(async ({ withoutTenant: query }) => {
      requireText('service', service)
      const lifetime = expiresInDays === undefined ? undefined : expiresInDays * 24 * hour
      const given = { tenantId: tenant.tenantId, service, name: service, scopes, lifetime, defaultAssignee }
      const { token, ...made } = await createToken(query, writer.author, given)
      return json({ ...bodyOf(made), token })
    }),

  RotateServiceToken: ({ tenant, writer, params: { tokenId }, body: { overlapHours = 24 } }) =>
    tenant.transaction(async ({ withoutTenant: query }) => {
      const { id, revokedAt, expiresAt } = await find(query, tenant.tenantId, tokenId)
      if (revokedAt || expiresAt.getTime() <= Date.now())
        throw new Problem('conflict', 'This token has ended: make a new one.')
      const { token, replaces: _old, ...made } = await rotateToken(query, writer.author, id, overlapHours * hour)
      return json({ ...bodyOf(made), token })
    }),

  RevokeServiceToken: ({ tenant, writer, params: { tokenId } }) =>
    tenant.transaction(async ({ withoutTenant: query }) => {
      const { id } = await find(query, tenant.tenantId, tokenId)
      return json(bodyOf(await revokeToken(query, writer.author, id)))
    }),
}

const find = async (query: Query, tenantId: string, id: string): Promise<AccessToken> => {
  const [token] = await findTokens(query, tenantId, null, id)
  return existing('service token', token)
}

const bodyOf = (token: AccessToken) => {
  const { id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt, service, defaultAssignee } = token
  return { id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt, service, defaultAssignee }
}
