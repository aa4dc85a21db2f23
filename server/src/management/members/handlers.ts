import type { ManagementResources } from '@masthead/contract'
import type { Query } from '../../database/connection.ts'
import {
  findMemberById,
  isLastAdmin,
  listMembers,
  type Member,
  removeMember,
  setLegacyUserId,
  setRole,
} from '../../identity/members.ts'
import { lockAddress } from '../../identity/users.ts'
import type { Handlers } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { json, notFound } from '../json-answer.ts'

export const handlers: Handlers<ManagementResources['members']> = {
  GetMembers: async ({ tenant }) => {
    const members = await listMembers(tenant.read, tenant.tenantId)
    return json({ items: members.map(({ isProven: _, ...member }) => shown(member)) })
  },

  UpdateMember: ({ tenant: { tenantId, transaction }, writer, params: { userId }, body: { role, legacyUserId } }) =>
    transaction(async (query) => {
      let member = await find(query, tenantId, userId)
      if (role !== undefined && role !== member.role) {
        if (role !== 'admin') await refuseLastAdmin(query, tenantId, member)
        member = await setRole(query, writer.author, tenantId, member.email, role)
      }
      if (legacyUserId !== undefined && legacyUserId !== member.legacyUserId)
        member = await setLegacyUserId(query, writer.author, tenantId, member.email, legacyUserId)
      return json(shown(member))
    }),

  RemoveMember: ({ tenant: { tenantId, transaction }, writer, params: { userId } }) =>
    transaction(async (query) => {
      const member = await find(query, tenantId, userId)
      await refuseLastAdmin(query, tenantId, member)
      return json(shown(await removeMember(query, writer.author, tenantId, member.email)))
    }),
}

const find = async (query: Query, tenantId: string, userId: string): Promise<Member> => {
  const member = await findMemberById(query, tenantId, userId)
  if (!member) throw notFound('member')
  // Whoever proves the address holds it too, before memberships are locked, and may have taken this one over.
  await lockAddress(query, member.email)
  const held = await findMemberById(query, tenantId, userId)
  if (!held) throw notFound('member')
  return held
}

const refuseLastAdmin = async (query: Query, tenantId: string, { id }: Member): Promise<void> => {
  if (await isLastAdmin(query, tenantId, id))
    throw new Problem('conflict', 'This is the last admin of the tenant: make somebody else an admin first.')
}

const shown = ({ id: userId, ...member }: Member) => ({ userId, ...member })
