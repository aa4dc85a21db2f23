import type { Role, Scope } from '@masthead/contract'
import type { Author } from '../audit/author.ts'
import { auditEnded, auditIn } from '../audit/queries.ts'
import type { Query } from '../database/connection.ts'
import { consoleId } from './applications.ts'

export type Consent = {
  grantId: string
  applicationId: string
  tenantId: string
  userId: string
  scopes: Scope[]
  /** Of the console: the session of the browser. */
  sessionUid?: string
}

export const storeConsent = (query: Query, author: Author, consent: Consent): Promise<void> =>
  store(query, author, consent, 'given')

/** Nobody is asked for it. */
export const openConsole = (query: Query, author: Author, consent: Consent): Promise<void> =>
  store(query, author, consent, 'opened')

const store = async (query: Query, author: Author, consent: Consent, action: string): Promise<void> => {
  const { grantId, applicationId, tenantId, userId, scopes, sessionUid = null } = consent
  await query({
    text: `insert into consents (grant_id, application_id, tenant_id, user_id, scopes, session_uid)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [grantId, applicationId, tenantId, userId, scopes, sessionUid],
  })
  const after = JSON.stringify({ applicationId, userId, scopes })
  await auditIn(query, tenantId, author, [{ action, resource: 'consents', recordId: grantId, after }])
}

/** Ends everything that was given under the consent. */
export const withdrawConsent = (query: Query, author: Author, grantId: string): Promise<void> =>
  withdrawConsents(query, author, [grantId])

/** By one statement, however many there are: others wait for what it locks. */
export const withdrawConsents = async (query: Query, author: Author, grantIds: readonly string[]): Promise<void> => {
  const ended = await query({
    text: `with ended as (
        update consents set withdrawn_at = now() where grant_id = any ($1::text[]) and withdrawn_at is null
        returning tenant_id, grant_id as record_id
      )
      ${auditEnded}`,
    values: [grantIds, JSON.stringify(author), 'consents', 'withdrawn'],
  })
  if (ended.length > 0) await query({ text: 'select stamp_identity()' })
}

/**
 * Ends what a user's console has in one browser, in whatever tenants it worked, and the session there; with null, in all
 * browsers. Answers how many sessions there were.
 */
export const signOutOfConsole = async (
  query: Query,
  author: Author,
  userId: string,
  grantId: string | null,
): Promise<number> => {
  // First, so that a console that is just being opened is either seen below, or sees this.
  if (grantId === null)
    await query({ text: 'update users set sessions_since = clock_timestamp() where id = $1', values: [userId] })
  const standing = await query<{ grant_id: string; session_uid: string | null }>({
    text: `select grant_id, session_uid from consents where user_id = $1 and application_id = $2 and withdrawn_at is null
      and ($3::text is null or grant_id = $3
        or session_uid = (select session_uid from consents as given where given.grant_id = $3))`,
    values: [userId, consoleId, grantId],
  })
  await withdrawConsents(
    query,
    author,
    standing.map(({ grant_id }) => grant_id),
  )
  const ended = await query({
    text: `delete from authorization_state where account_id = $1 and model = 'Session'
      and ($2::boolean or uid = any ($3::text[])) returning uid`,
    values: [userId, grantId === null, standing.map(({ session_uid }) => session_uid)],
  })
  return ended.length
}

/** Ends what the console got by a session that was ended by itself. */
export const withdrawOfSession = async (query: Query, author: Author, sessionUid: string): Promise<void> => {
  const standing = await query<{ grant_id: string }>({
    text: `select grant_id from consents
      where application_id = $1 and session_uid = $2 and withdrawn_at is null`,
    values: [consoleId, sessionUid],
  })
  await withdrawConsents(
    query,
    author,
    standing.map(({ grant_id }) => grant_id),
  )
}

/** Until the transaction ends, the user cannot sign out everywhere. */
export const holdSessions = async (query: Query, userId: string): Promise<Date | null> => {
  const [user] = await query<{ sessions_since: Date | null }>({
    text: 'select sessions_since from users where id = $1 for share',
    values: [userId],
  })
  return user?.sessions_since ?? null
}

/**
 * What somebody who calls with a grant may do at the end of the call: until the transaction ends nobody removes them,
 * changes their role or ends their sessions. Null when that has happened.
 */
export const holdMembership = async (
  query: Query,
  { tenantId, userId, grantId }: { tenantId: string; userId: string | null; grantId: string | null },
): Promise<{ role: Role } | null> => {
  const [held] = await query<{ role: Role }>({
    text: `select membership.role from memberships membership join users on users.id = membership.user_id
      where membership.tenant_id = $1 and membership.user_id = $2 for share`,
    values: [tenantId, userId],
  })
  return held && (grantId === null || (await findDelegation(query, grantId))) ? held : null
}

export type GivenConsent = { id: string; application: string; clientId: string; scopes: Scope[]; createdAt: Date }

/** What a user allowed the applications of others in a tenant, the newest first. */
export const findConsents = (query: Query, tenantId: string, userId: string): Promise<GivenConsent[]> =>
  query<GivenConsent>({
    text: `select consents.grant_id as id, applications.name as application, applications.id as "clientId",
        consents.scopes, consents.created_at as "createdAt"
      from consents join applications on applications.id = consents.application_id
      where consents.tenant_id = $1 and consents.user_id = $2 and consents.withdrawn_at is null
        and applications.id <> $3
      order by consents.created_at desc, consents.grant_id`,
    values: [tenantId, userId, consoleId],
  })

/** Whether a user lets an application act, in whatever tenant. */
export const hasConsented = async (query: Query, userId: string, applicationId: string): Promise<boolean> =>
  (
    await query({
      text: `select 1 from consents
        where application_id = $1 and user_id = $2 and withdrawn_at is null limit 1`,
      values: [applicationId, userId],
    })
  ).length > 0

/** An application got a token by a consent. */
export const noteIssue = (query: Query, author: Author, grantId: string, { tenantId }: Delegation): Promise<void> =>
  auditIn(query, tenantId, author, [{ action: 'token_issued', resource: 'consents', recordId: grantId }])

/** What stands behind a delegated token right now. */
export type Delegation = {
  applicationId: string
  tenantId: string
  userId: string
  role: Role
  assignee: string
  legacyUserId: string | null
}

/** Null when the consent was withdrawn, the membership ended or the application was disabled. */
export const findDelegation = async (query: Query, grantId: string): Promise<Delegation | null> => {
  const [delegation] = await query<Delegation>({
    text: `
      select consent.application_id as "applicationId", consent.tenant_id as "tenantId", consent.user_id as "userId",
        membership.role, membership.legacy_user_id as "legacyUserId",
        coalesce(membership.legacy_user_id, tenant.default_assignee, '') as assignee
      from consents consent
      join applications application on application.id = consent.application_id and application.disabled_at is null
      join memberships membership on membership.tenant_id = consent.tenant_id and membership.user_id = consent.user_id
      join tenants tenant on tenant.id = consent.tenant_id
      where consent.grant_id = $1 and consent.withdrawn_at is null`,
    values: [grantId],
  })
  return delegation ?? null
}

export type ChoosableTenant = { id: string; name: string; role: Role }

/** The tenants in which a user can let an application act. */
export const findChoosableTenants = (
  query: Query,
  userId: string,
  onlyTenantId: string | null,
): Promise<ChoosableTenant[]> =>
  query<ChoosableTenant>({
    text: `select tenant.id, tenant.name, membership.role
      from memberships membership join tenants tenant on tenant.id = membership.tenant_id
      where membership.user_id = $1 and ($2::uuid is null or tenant.id = $2) order by tenant.name, tenant.id`,
    values: [userId, onlyTenantId],
  })
