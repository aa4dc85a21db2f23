import type { ManagementResources } from '@masthead/contract'
import type { Query } from '../../database/connections/statement.ts'
import {
  findMemberById,
  isLastAdmin,
  listMembers,
  type Member,
  removeMember,
  setLegacyUserId,
  setRole,
} from '../../identity/people/members.ts'
import { lockAddress } from '../../identity/people/users.ts'
import type { Handlers } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { existing, json } from '../responses.ts'

export const handlers: Handlers<ManagementResources['members']> = {
  GetMembers: async ({ tenant }) => {
    const members = await listMembers(tenant.read.withoutTenant, tenant.tenantId)
    return json({ items: members.map(({ isProven: _, ...member }) => bodyOf(member)) })
  },

  UpdateMember: ({ tenant: { tenantId, transaction }, writer, params: { userId }, body: { role, legacyUserId } }) =>
    transaction(async ({ withoutTenant: query }) => {
      let member = await find(query, tenantId, userId)
      if (role !== undefined && role !== member.role) {
        if (role !== 'admin') await refuseLastAdmin(query, tenantId, member)
        member = await setRole(query, writer.author, tenantId, member.email, role)
      }
      if (legacyUserId !== undefined && legacyUserId !== member.legacyUserId)
        member = await setLegacyUserId(query, writer.author, tenantId, member.email, legacyUserId)
      return json(bodyOf(member))
    }),

  RemoveMember: ({ tenant: { tenantId, transaction }, writer, params: { userId } }) =>
    transaction(async ({ withoutTenant: query }) => {
      const member = await find(query, tenantId, userId)
      await refuseLastAdmin(query, tenantId, member)
      return json(bodyOf(await removeMember(query, writer.author, tenantId, member.email)))
    }),
}

const find = async (query: Query, tenantId: string, userId: string): Promise<Member> => {
  const { email } = existing('member', await findMemberById(query, tenantId, userId))
  // A proof of the address takes this lock too, before it locks memberships, and may have taken this one over.
  await lockAddress(query, email)
  return existing('member', await findMemberById(query, tenantId, userId))
}

const refuseLastAdmin = async (query: Query, tenantId: string, { id }: Member): Promise<void> => {
  if (await isLastAdmin(query, tenantId, id))
    throw new Problem('conflict', 'This is the last admin of the tenant: make somebody else an admin first.')
}

const bodyOf = ({ id: userId, ...member }: Member) => ({ userId, ...member })
