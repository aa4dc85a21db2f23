import { randomBytes } from 'node:crypto'
import type { Role } from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { firstRow } from '../../database/connections/first-row.ts'
import type { Query } from '../../database/connections/statement.ts'
import { Problem } from '../../problem.ts'
import { isUuid, newId } from '../../records/identifiers.ts'
import { auditChange } from '../audit-change.ts'
import { hashToken } from '../token-format.ts'
import { countAttempt, countedAttempts } from './attempts.ts'
import { emailKey } from './users.ts'

type Invitation = {
  id: string
  email: string
  role: Role
  invitedBy: string | null
  createdAt: Date
  expiresAt: Date
}
export type OpenInvitation = Invitation & {
  tenantId: string
  tenantSlug: string
  tenantName: string
  /** The link was mailed to the address and shown to nobody else. */
  isMailed: boolean
}

const lifetime = `interval '7 days'`

const columns = `invitations.id, invitations.email, invitations.role,
  (select email from users where users.id = invitations.invited_by) as "invitedBy",
  invitations.created_at as "createdAt", invitations.expires_at as "expiresAt"`

type NewInvitation = Pick<OpenInvitation, 'tenantId' | 'email' | 'role' | 'isMailed'> & {
  /** Null for the operator. */
  invitedBy: string | null
  secret: string
}

/** The link holds the secret; only its hash is stored. */
export const newInvitationSecret = (): string => randomBytes(32).toString('base64url')

/** A new invitation replaces the one that the address has. */
export const createInvitation = async (query: Query, author: Author, given: NewInvitation): Promise<Invitation> => {
  const { tenantId, email, role, invitedBy, secret, isMailed } = given
  const invitation = await firstRow<Invitation>(query, {
    text: `insert into invitations (id, tenant_id, email, email_key, role, invited_by, secret_hash, is_mailed, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, now() + ${lifetime})
      on conflict (tenant_id, email_key) do update set id = excluded.id, email = excluded.email, role = excluded.role,
        invited_by = excluded.invited_by, secret_hash = excluded.secret_hash, is_mailed = excluded.is_mailed,
        created_at = now(), expires_at = excluded.expires_at
      returning ${columns}`,
    values: [newId(), tenantId, email, emailKey(email), role, invitedBy, hashToken(secret), isMailed],
  })
  if (!invitation) throw new Error('the invitation was not stored')
  await auditChange(query, tenantId, author, eventOf('created', invitation))
  return invitation
}

const eventOf = (action: string, { id, email, role }: Invitation) => ({
  action,
  resource: 'invitations',
  recordId: id,
  after: { email, role },
})

const daySeconds = 24 * 60 * 60
/** The mail server is the operator's: nobody may flood addresses through it. */
const mailsADay = { tenant: 200, address: 5 }

const mailsOf = (tenantId: string): string => `mails of ${tenantId}`
const mailsTo = (tenantId: string, email: string): string => `mails of ${tenantId} to ${emailKey(email)}`

/** Enforces the daily limits, and lets the transaction wait for a slow mail server. */
export const allowMail = async (query: Query, tenantId: string, email: string): Promise<void> => {
  if ((await countedAttempts(query, mailsOf(tenantId), daySeconds)) >= mailsADay.tenant)
    throw new Problem('conflict', `Daily limit of ${mailsADay.tenant} mailed invitations reached. Try again tomorrow.`)
  if ((await countedAttempts(query, mailsTo(tenantId, email), daySeconds)) >= mailsADay.address)
    throw new Problem('conflict', `You have mailed ${email} ${mailsADay.address} times today. Try again tomorrow.`)
  await query({ text: `set local idle_in_transaction_session_timeout = '60s'` })
}

/** Called after the mail was sent, because the counters stay locked until the transaction ends. */
export const countMail = async (query: Query, tenantId: string, email: string): Promise<void> => {
  await countAttempt(query, mailsOf(tenantId), daySeconds)
  await countAttempt(query, mailsTo(tenantId, email), daySeconds)
}

export const listInvitations = (query: Query, tenantId: string) =>
  query<Invitation>({
    text: `select ${columns} from invitations where tenant_id = $1 and expires_at > now()
      order by created_at desc, id desc`,
    values: [tenantId],
  })

export const withdrawInvitation = async (query: Query, author: Author, tenantId: string, id: string) => {
  if (!isUuid(id)) return null
  const invitation = await firstRow<Invitation>(query, {
    text: `delete from invitations where tenant_id = $1 and id = $2 returning ${columns}`,
    values: [tenantId, id],
  })
  if (invitation) await auditChange(query, tenantId, author, eventOf('withdrawn', invitation))
  return invitation
}

export const findInvitation = (query: Query, secret: string) =>
  firstRow<OpenInvitation>(query, {
    text: `select ${columns}, tenants.id as "tenantId", tenants.slug as "tenantSlug",
        tenants.name as "tenantName", invitations.is_mailed as "isMailed"
      from invitations join tenants on tenants.id = invitations.tenant_id
      where secret_hash = $1 and expires_at > now()`,
    values: [hashToken(secret)],
  })

/** Returns true for one caller at most. */
export const consumeInvitation = async (query: Query, secret: string): Promise<boolean> =>
  (await firstRow(query, {
    text: 'delete from invitations where secret_hash = $1 and expires_at > now() returning id',
    values: [hashToken(secret)],
  })) !== null
