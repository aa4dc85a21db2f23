import { randomBytes } from 'node:crypto'
import type { Role } from '@masthead/contract'
import type { Author } from '../audit/author.ts'
import { auditIn } from '../audit/queries.ts'
import type { Query } from '../database/connection.ts'
import { isUuid, newId } from '../records/identifiers.ts'
import { hashToken } from './token-format.ts'
import { emailKey } from './users.ts'

export type Invitation = {
  id: string
  email: string
  role: Role
  invitedBy: string | null
  createdAt: Date
  expiresAt: Date
}
export type OpenInvitation = Invitation & { tenantId: string; tenantName: string }

const lifetime = `interval '7 days'`

const columns = `invitations.id, invitations.email, invitations.role,
  (select email from users where users.id = invitations.invited_by) as "invitedBy",
  invitations.created_at as "createdAt", invitations.expires_at as "expiresAt"`

export type NewInvitation = { tenantId: string; email: string; role: Role; invitedBy: string }

/** One to an address at a time: another replaces it. Only its hash is stored. */
export const createInvitation = async (
  query: Query,
  author: Author,
  { tenantId, email, role, invitedBy }: NewInvitation,
): Promise<Invitation & { secret: string }> => {
  const secret = randomBytes(32).toString('base64url')
  const [invitation] = await query<Invitation>({
    text: `insert into invitations (id, tenant_id, email, email_key, role, invited_by, secret_hash, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, now() + ${lifetime})
      on conflict (tenant_id, email_key) do update set id = excluded.id, email = excluded.email, role = excluded.role,
        invited_by = excluded.invited_by, secret_hash = excluded.secret_hash, created_at = now(),
        expires_at = excluded.expires_at
      returning ${columns}`,
    values: [newId(), tenantId, email, emailKey(email), role, invitedBy, hashToken(secret)],
  })
  if (!invitation) throw new Error('the invitation was not stored')
  await note(query, tenantId, author, invitation, 'created')
  return { ...invitation, secret }
}

const note = (query: Query, tenantId: string, author: Author, { id, email, role }: Invitation, action: string) =>
  auditIn(query, tenantId, author, [
    { action, resource: 'invitations', recordId: id, after: JSON.stringify({ email, role }) },
  ])

/** Those that can still be accepted, the newest first. */
export const listInvitations = (query: Query, tenantId: string): Promise<Invitation[]> =>
  query<Invitation>({
    text: `select ${columns} from invitations where tenant_id = $1 and expires_at > now()
      order by created_at desc, id desc`,
    values: [tenantId],
  })

export const withdrawInvitation = async (
  query: Query,
  author: Author,
  tenantId: string,
  id: string,
): Promise<Invitation | null> => {
  if (!isUuid(id)) return null
  const [invitation] = await query<Invitation>({
    text: `delete from invitations where tenant_id = $1 and id = $2 returning ${columns}`,
    values: [tenantId, id],
  })
  if (invitation) await note(query, tenantId, author, invitation, 'withdrawn')
  return invitation ?? null
}

export const findInvitation = async (query: Query, secret: string): Promise<OpenInvitation | null> => {
  const [invitation] = await query<OpenInvitation>({
    text: `select ${columns}, tenants.id as "tenantId", tenants.name as "tenantName"
      from invitations join tenants on tenants.id = invitations.tenant_id
      where secret_hash = $1 and expires_at > now()`,
    values: [hashToken(secret)],
  })
  return invitation ?? null
}

/** At most one caller takes it. */
export const takeInvitation = async (query: Query, secret: string): Promise<boolean> =>
  (
    await query({
      text: 'delete from invitations where secret_hash = $1 and expires_at > now() returning id',
      values: [hashToken(secret)],
    })
  ).length > 0
