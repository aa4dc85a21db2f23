import type { Role } from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { firstRow } from '../../database/connections/first-row.ts'
import type { Query } from '../../database/connections/statement.ts'
import { isUuid } from '../../records/identifiers.ts'
import { Refusal } from '../../refusal.ts'
import { publishChange } from '../audit-change.ts'
import { withdrawInvitationsBy } from './credentials.ts'
import { createUser, deleteUser, emailKey, findUser, lockAddress, proveAddress, type User } from './users.ts'

export type Member = Pick<User, 'id' | 'email' | 'name'> & { role: Role; legacyUserId: string | null; createdAt: Date }

const memberColumns = `users.id, users.email, users.name, memberships.role,
  memberships.legacy_user_id as "legacyUserId", memberships.created_at as "createdAt"`

type Membership = { tenantId: string; role: Role; legacyUserId?: string | null }

/** An account whose address is not proven belongs to this tenant alone. */
export type NewMember = Membership & Omit<User, 'id' | 'tenantId'> & { subject?: string | null; isProven?: boolean }

/** Creates an account and its membership, within a transaction. */
export const createMember = async (query: Query, author: Author, member: NewMember): Promise<Member> => {
  const { tenantId, email, isProven = false } = member
  await lockAddress(query, email)
  await refuseMember(query, tenantId, email)
  const user = await createUser(query, { ...member, tenantId: isProven ? null : tenantId })
  if (isProven) await proveAddress(query, user)
  return join(query, author, user, member)
}

export const addMember = async (query: Query, author: Author, user: User, membership: Membership): Promise<Member> => {
  await lockAddress(query, user.email)
  await refuseMember(query, membership.tenantId, user.email)
  const current = await findUser(query, user.id)
  if (current?.passwordHash !== user.passwordHash) throw new Refusal('this account was changed meanwhile: try again')
  if (current.tenantId !== null)
    throw new Refusal(
      `the address ${user.email} is not proven, so it belongs to one tenant: prove it first, or invite the person by a link`,
    )
  return join(query, author, user, membership)
}

const refuseMember = async (query: Query, tenantId: string, email: string): Promise<void> => {
  if (await isMember(query, tenantId, email))
    throw new Refusal(`${email} is already a member of this tenant: sign in, or change the role`)
}

const join = async (query: Query, author: Author, user: User, membership: Membership): Promise<Member> => {
  const { tenantId, role, legacyUserId = null } = membership
  await query({
    text: `insert into memberships (tenant_id, user_id, role, legacy_user_id) values ($1, $2, $3, $4)`,
    values: [tenantId, user.id, role, legacyUserId],
  })
  const after = await findMember(query, tenantId, user.email)
  await publishChange(query, tenantId, author, { ...about(after), action: 'added', after })
  return after
}

const about = ({ id }: Member) => ({ resource: 'members', recordId: id })

/** `isProven` is for the operator: a tenant must not learn whether an address was proven, perhaps elsewhere. */
export const listMembers = (query: Query, tenantId: string) =>
  query<Member & { isProven: boolean }>({
    text: `select ${memberColumns}, users.tenant_id is null as "isProven" from memberships join users on users.id = memberships.user_id
      where memberships.tenant_id = $1 order by users.email_key`,
    values: [tenantId],
  })

const memberBy = (query: Query, column: 'email_key' | 'id', tenantId: string, value: string) =>
  firstRow<Member>(query, {
    text: `select ${memberColumns} from memberships join users on users.id = memberships.user_id
      where memberships.tenant_id = $1 and users.${column} = $2`,
    values: [tenantId, value],
  })

export const findMember = async (query: Query, tenantId: string, email: string): Promise<Member> => {
  const member = await memberBy(query, 'email_key', tenantId, emailKey(email))
  if (!member) throw new Refusal(`${email} is not a member of this tenant; \`masthead user list\` shows who is`)
  return member
}

export const isMember = async (query: Query, tenantId: string, email: string): Promise<boolean> =>
  (await memberBy(query, 'email_key', tenantId, emailKey(email))) !== null

export const findMemberById = async (query: Query, tenantId: string, userId: string): Promise<Member | null> =>
  isUuid(userId) ? memberBy(query, 'id', tenantId, userId) : null

export const findAdmins = (query: Query, tenantId: string, most: number) =>
  query<{ name: string; email: string }>({
    text: `select users.name, users.email from memberships join users on users.id = memberships.user_id
      where memberships.tenant_id = $1 and memberships.role = 'admin' order by users.email_key limit $2`,
    values: [tenantId, most],
  })

/** Locks the admins until the transaction ends. */
export const isLastAdmin = async (query: Query, tenantId: string, userId: string): Promise<boolean> => {
  const admins = await query<{ id: string }>({
    text: `select user_id as id from memberships where tenant_id = $1 and role = 'admin' order by user_id for update`,
    values: [tenantId],
  })
  return admins.length <= 1 && admins.every(({ id }) => id === userId)
}

/** All memberships of a user, or only that in one tenant. */
export const findMemberships = (query: Query, userId: string, tenantId: string | null = null) =>
  query<{ id: string; slug: string; name: string; role: Role }>({
    text: `select tenants.id, tenants.slug, tenants.name, memberships.role
      from memberships join tenants on tenants.id = memberships.tenant_id
      where memberships.user_id = $1 and ($2::uuid is null or tenants.id = $2) order by tenants.name, tenants.id`,
    values: [userId, tenantId],
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
  await publishChange(query, tenantId, author, { ...about(after), action: 'legacy_user_changed', before, after })
  return after
}

/** Waits for invitations that the member is creating, so that they are found. */
const lockMembership = (query: Query, tenantId: string, userId: string) =>
  query({
    text: 'select from memberships where tenant_id = $1 and user_id = $2 for update',
    values: [tenantId, userId],
  })

export const setRole = async (query: Query, author: Author, tenantId: string, email: string, role: Role) => {
  const before = await findMember(query, tenantId, email)
  await lockMembership(query, tenantId, before.id)
  await query({
    text: 'update memberships set role = $3 where tenant_id = $1 and user_id = $2',
    values: [tenantId, before.id, role],
  })
  if (role !== 'admin') await withdrawInvitationsBy(query, author, before.id, tenantId)
  const after = await findMember(query, tenantId, email)
  await publishChange(query, tenantId, author, { ...about(after), action: 'role_changed', before, after })
  return after
}

/** Also deletes the personal access tokens of the membership, and the account when this was its last membership. */
export const removeMember = async (query: Query, author: Author, tenantId: string, email: string): Promise<Member> => {
  await lockAddress(query, email)
  const before = await findMember(query, tenantId, email)
  await lockMembership(query, tenantId, before.id)
  await withdrawInvitationsBy(query, author, before.id, tenantId)
  await query({ text: 'delete from memberships where tenant_id = $1 and user_id = $2', values: [tenantId, before.id] })
  await publishChange(query, tenantId, author, { ...about(before), action: 'removed', before })
  if ((await findMemberships(query, before.id)).length === 0) await deleteUser(query, before.id)
  return before
}
