import type { Role } from '@masthead/contract'
import type { Author } from '../audit/author.ts'
import type { Query } from '../database/connection.ts'
import { isUuid } from '../records/identifiers.ts'
import { Refusal } from '../refusal.ts'
import { noteChange } from './changes.ts'
import { createUser, emailKey, endUser, findUser, holdAddress, proveAddress, type User } from './users.ts'

/** A user as a member of one tenant. */
export type Member = {
  id: string
  email: string
  name: string
  role: Role
  legacyUserId: string | null
  createdAt: Date
}

const memberColumns = `users.id, users.email, users.name, memberships.role,
  memberships.legacy_user_id as "legacyUserId", memberships.created_at as "createdAt"`

export type NewMember = {
  tenantId: string
  email: string
  name: string
  role: Role
  legacyUserId?: string | null
  /** Its name at the outside issuer. */
  subject?: string | null
  passwordHash: string
  /** The address is known to be that of the person; else the account belongs to this tenant and to no other. */
  isProven?: boolean
}

/** Makes an account and its membership, within a transaction. */
export const createMember = async (query: Query, author: Author, member: NewMember): Promise<Member> => {
  const { tenantId, email, isProven = false } = member
  await holdAddress(query, email)
  await refuseMember(query, tenantId, email)
  const user = await createUser(query, { ...member, tenantId: isProven ? null : tenantId })
  if (isProven) await proveAddress(query, user)
  return join(query, author, user, member)
}

export type JoiningMember = { tenantId: string; role: Role; legacyUserId?: string | null }

/** Makes somebody a member with the account that they have. */
export const addMember = async (query: Query, author: Author, user: User, member: JoiningMember): Promise<Member> => {
  await holdAddress(query, user.email)
  await refuseMember(query, member.tenantId, user.email)
  const current = await findUser(query, user.id)
  if (current?.passwordHash !== user.passwordHash) throw new Refusal('this account was changed meanwhile: try again')
  if (current.tenantId !== null)
    throw new Refusal(`the address ${user.email} is not proven, so it belongs to one tenant`)
  return join(query, author, user, member)
}

const refuseMember = async (query: Query, tenantId: string, email: string): Promise<void> => {
  if (await isMember(query, tenantId, email)) throw new Refusal(`${email} is already a member of this tenant`)
}

const join = async (
  query: Query,
  author: Author,
  user: User,
  { tenantId, role, legacyUserId = null }: JoiningMember,
): Promise<Member> => {
  await query({
    text: `insert into memberships (tenant_id, user_id, role, legacy_user_id) values ($1, $2, $3, $4)`,
    values: [tenantId, user.id, role, legacyUserId],
  })
  const made = await findMember(query, tenantId, user.email)
  await noteChange(query, tenantId, author, { ...about(made), action: 'added', after: JSON.stringify(made) })
  return made
}

const about = ({ id }: Member) => ({ resource: 'members', recordId: id })

/** For the operator: no tenant is told whether the address of a member was proven, perhaps elsewhere. */
export type ListedMember = Member & { isProven: boolean }

export const listMembers = (query: Query, tenantId: string): Promise<ListedMember[]> =>
  query<ListedMember>({
    text: `select ${memberColumns}, users.tenant_id is null as "isProven" from memberships join users on users.id = memberships.user_id
      where memberships.tenant_id = $1 order by users.email_key`,
    values: [tenantId],
  })

export const findMember = async (query: Query, tenantId: string, email: string): Promise<Member> => {
  const [member] = await query<Member>({
    text: `select ${memberColumns} from memberships join users on users.id = memberships.user_id
      where memberships.tenant_id = $1 and users.email_key = $2`,
    values: [tenantId, emailKey(email)],
  })
  if (!member) throw new Refusal(`${email} is not a member of this tenant; \`masthead user list\` shows who is`)
  return member
}

export const findMemberById = async (query: Query, tenantId: string, userId: string): Promise<Member | null> => {
  if (!isUuid(userId)) return null
  const [member] = await query<Member>({
    text: `select ${memberColumns} from memberships join users on users.id = memberships.user_id
      where memberships.tenant_id = $1 and users.id = $2`,
    values: [tenantId, userId],
  })
  return member ?? null
}

export const findAdmins = (query: Query, tenantId: string, most: number): Promise<{ name: string; email: string }[]> =>
  query<{ name: string; email: string }>({
    text: `select users.name, users.email from memberships join users on users.id = memberships.user_id
      where memberships.tenant_id = $1 and memberships.role = 'admin' order by users.email_key limit $2`,
    values: [tenantId, most],
  })

/** Until the transaction ends nobody else changes who the admins are. */
export const isLastAdmin = async (query: Query, tenantId: string, userId: string): Promise<boolean> => {
  const admins = await query<{ id: string }>({
    text: `select user_id as id from memberships where tenant_id = $1 and role = 'admin' order by user_id for update`,
    values: [tenantId],
  })
  return admins.length <= 1 && admins.every(({ id }) => id === userId)
}

export const isMember = async (query: Query, tenantId: string, email: string): Promise<boolean> =>
  (
    await query({
      text: `select 1 from memberships join users on users.id = memberships.user_id
        where memberships.tenant_id = $1 and users.email_key = $2`,
      values: [tenantId, emailKey(email)],
    })
  ).length > 0

export type Membership = { id: string; slug: string; name: string; role: Role }

/** The tenants of a user, by name. */
export const findMemberships = (query: Query, userId: string): Promise<Membership[]> =>
  query<Membership>({
    text: `select tenants.id, tenants.slug, tenants.name, memberships.role
      from memberships join tenants on tenants.id = memberships.tenant_id
      where memberships.user_id = $1 order by tenants.name, tenants.id`,
    values: [userId],
  })

export const setLegacyUserId = async (
  query: Query,
  author: Author,
  tenantId: string,
  email: string,
  legacyUserId: string | null,
): Promise<Member> => {
  const before = await findMember(query, tenantId, email)
  await query({
    text: 'update memberships set legacy_user_id = $3 where tenant_id = $1 and user_id = $2',
    values: [tenantId, before.id, legacyUserId],
  })
  const after = { ...before, legacyUserId }
  const values = { before: JSON.stringify(before), after: JSON.stringify(after) }
  await noteChange(query, tenantId, author, { ...about(after), action: 'legacy_user_changed', ...values })
  return after
}

/** Waits for invitations that the member is just making, so that they are seen. */
const lockMembership = (query: Query, tenantId: string, userId: string) =>
  query({
    text: 'select from memberships where tenant_id = $1 and user_id = $2 for update',
    values: [tenantId, userId],
  })

/** What an admin has begun ends with the role. */
const withdrawInvitationsBy = (query: Query, tenantId: string, userId: string) =>
  query({ text: 'delete from invitations where tenant_id = $1 and invited_by = $2', values: [tenantId, userId] })

export const setRole = async (
  query: Query,
  author: Author,
  tenantId: string,
  email: string,
  role: Role,
): Promise<Member> => {
  const before = await findMember(query, tenantId, email)
  await lockMembership(query, tenantId, before.id)
  await query({
    text: 'update memberships set role = $3 where tenant_id = $1 and user_id = $2',
    values: [tenantId, before.id, role],
  })
  if (role !== 'admin') await withdrawInvitationsBy(query, tenantId, before.id)
  const after = await findMember(query, tenantId, email)
  const values = { before: JSON.stringify(before), after: JSON.stringify(after) }
  await noteChange(query, tenantId, author, { ...about(after), action: 'role_changed', ...values })
  return after
}

/** Ends the membership with every personal access token of it, and the account when this was its last one. */
export const removeMember = async (query: Query, author: Author, tenantId: string, email: string): Promise<Member> => {
  await holdAddress(query, email)
  const member = await findMember(query, tenantId, email)
  await lockMembership(query, tenantId, member.id)
  await withdrawInvitationsBy(query, tenantId, member.id)
  await query({
    text: 'delete from memberships where tenant_id = $1 and user_id = $2',
    values: [tenantId, member.id],
  })
  await noteChange(query, tenantId, author, { ...about(member), action: 'removed', before: JSON.stringify(member) })
  if ((await findMemberships(query, member.id)).length === 0) await endUser(query, member)
  return member
}
