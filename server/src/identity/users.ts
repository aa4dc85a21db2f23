import type { Role } from '@masthead/contract'
import { type Author, operator } from '../audit/author.ts'
import { auditUser } from '../audit/queries.ts'
import type { Query } from '../database/connection.ts'
import { isUuid, newId } from '../records/identifiers.ts'
import { Refusal } from '../refusal.ts'
import { noteChange } from './changes.ts'
import { signOutOfConsole } from './consents.ts'
import { hashPassword } from './passwords.ts'

/** A user as a member of one tenant. */
export type Member = {
  id: string
  email: string
  name: string
  role: Role
  legacyUserId: string | null
  createdAt: Date
}

/** Two spellings with one key are one address. */
export const emailKey = (email: string): string => email.normalize('NFC').toLowerCase()

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
  password: string
  /** Somebody who is known by this address has a password of their own. */
  mustBeNew?: boolean
}

/** Makes the user and the membership; a user who is already known from another tenant keeps name and password. */
export const createMember = async (query: Query, author: Author, member: NewMember): Promise<Member> => {
  if (!/^[^\s@]+@[^\s@]+$/.test(member.email)) throw new Refusal(`"${member.email}" is not an e-mail address`)
  if (member.name.trim() === '') throw new Refusal('a user needs a name')
  if (member.subject) await refuseTaken(query, member.subject, member.email)
  const [user] = await query<{ id: string }>({
    text: `insert into users (id, email, email_key, name, password_hash, subject) values ($1, $2, $3, $4, $5, $6)
      on conflict (email_key) do ${member.mustBeNew ? 'nothing' : 'update set email_key = excluded.email_key'} returning id`,
    values: [
      ...[newId(), member.email, emailKey(member.email), member.name, await hashPassword(member.password)],
      member.subject ?? null,
    ],
  })
  if (!user) throw new Refusal('somebody has just taken this address: open the link again')
  const added = await query({
    text: `insert into memberships (tenant_id, user_id, role, legacy_user_id) values ($1, $2, $3, $4)
      on conflict do nothing returning user_id`,
    values: [member.tenantId, user.id, member.role, member.legacyUserId ?? null],
  })
  if (added.length === 0) throw new Refusal(`${member.email} is already a member of this tenant`)
  const made = await findMember(query, member.tenantId, member.email)
  await noteChange(query, member.tenantId, author, { ...about(made), action: 'added', after: JSON.stringify(made) })
  return made
}

const about = ({ id }: Member) => ({ resource: 'members', recordId: id })

export const listMembers = (query: Query, tenantId: string): Promise<Member[]> =>
  query<Member>({
    text: `select ${memberColumns} from memberships join users on users.id = memberships.user_id
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

/** Ends the membership and, with it, every personal access token of it. */
export const removeMember = async (query: Query, author: Author, tenantId: string, email: string): Promise<Member> => {
  const member = await findMember(query, tenantId, email)
  await withdrawInvitationsBy(query, tenantId, member.id)
  await query({
    text: 'delete from memberships where tenant_id = $1 and user_id = $2',
    values: [tenantId, member.id],
  })
  await noteChange(query, tenantId, author, { ...about(member), action: 'removed', before: JSON.stringify(member) })
  return member
}

export type User = { id: string; email: string; name: string; passwordHash: string }

const userColumns = 'id, email, name, password_hash as "passwordHash"'

export const findUser = async (query: Query, id: string): Promise<User | null> => {
  if (!isUuid(id)) return null
  const [user] = await query<User>({ text: `select ${userColumns} from users where id = $1`, values: [id] })
  return user ?? null
}

export const findUserByEmail = async (query: Query, email: string): Promise<User | null> => {
  if (email.includes('\0')) return null
  const [user] = await query<User>({
    text: `select ${userColumns} from users where email_key = $1`,
    values: [emailKey(email)],
  })
  return user ?? null
}

/** Whoever knew the old password is signed out. */
export const setPassword = async (query: Query, email: string, password: string): Promise<void> => {
  const [changed] = await query<{ id: string }>({
    text: 'update users set password_hash = $2 where email_key = $1 returning id',
    values: [emailKey(email), await hashPassword(password)],
  })
  if (!changed) throw new Refusal(`there is no user ${email}`)
  await signOutOfConsole(query, operator, changed.id, null)
  await auditUser(query, changed.id, operator, { action: 'password_changed', resource: 'users' })
}

/** The name of a user at the outside issuer, which the operator alone may say. */
export const setSubject = async (query: Query, email: string, subject: string): Promise<void> => {
  await refuseTaken(query, subject, email)
  const [changed] = await query<{ id: string; former: string | null }>({
    text: `with former as (select id, subject from users where email_key = $1 for update)
      update users set subject = $2 from former where users.id = former.id returning users.id, former.subject as former`,
    values: [emailKey(email), subject],
  })
  if (!changed) throw new Refusal(`there is no user ${email}`)
  const values = { before: JSON.stringify({ subject: changed.former }), after: JSON.stringify({ subject }) }
  await auditUser(query, changed.id, operator, { action: 'subject_changed', resource: 'users', ...values })
  await query({ text: 'select stamp_identity()' })
}

const refuseTaken = async (query: Query, subject: string, email: string): Promise<void> => {
  const taken = await query({
    text: 'select id from users where subject = $1 and email_key <> $2',
    values: [subject, emailKey(email)],
  })
  if (taken.length > 0) throw new Refusal(`another user has the subject "${subject}"`)
}
