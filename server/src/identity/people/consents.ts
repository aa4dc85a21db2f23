import type { Role, Scope } from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { auditEach } from '../../audit/queries.ts'
import { firstRow } from '../../database/connections/first-row.ts'
import type { Query } from '../../database/connections/statement.ts'
import { auditChange, stampIdentity } from '../audit-change.ts'
import type { Principal } from '../principal.ts'
import { consoleId } from './applications.ts'

type Consent = {
  grantId: string
  applicationId: string
  tenantId: string
  userId: string
  scopes: Scope[]
  sessionUid?: string
}

/** The console needs no consent of the user: its audit event is `opened`. */
export const storeConsent = async (query: Query, author: Author, consent: Consent, action = 'given') => {
  const { grantId, applicationId, tenantId, userId, scopes, sessionUid = null } = consent
  await query({
    text: `insert into consents (grant_id, application_id, tenant_id, user_id, scopes, session_uid)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [grantId, applicationId, tenantId, userId, scopes, sessionUid],
  })
  const after = { applicationId, userId, scopes }
  await auditChange(query, tenantId, author, { action, resource: 'consents', recordId: grantId, after })
}

export const withdrawConsents = (query: Query, author: Author, grantIds: readonly string[]): Promise<void> =>
  withdrawWhere(query, author, 'grant_id = any ($1::text[])', [grantIds])

export const withdrawConsentsOf = (query: Query, author: Author, userId: string): Promise<void> =>
  withdrawWhere(query, author, 'user_id = $1', [userId])

/** For a session that the user ended at the authorization server. */
export const withdrawConsentsOfSession = (query: Query, author: Author, sessionUid: string): Promise<void> =>
  withdrawWhere(query, author, 'session_uid = $1 and application_id = $2', [sessionUid, consoleId])

/** Every token issued under these consents ends. One statement keeps the locks short. */
const withdrawWhere = async (query: Query, author: Author, condition: string, values: unknown[]) => {
  const ended = await query<{ tenantId: string; recordId: string }>({
    text: `update consents set withdrawn_at = now() where ${condition} and withdrawn_at is null
      returning tenant_id as "tenantId", grant_id as "recordId"`,
    values,
  })
  await auditEach(query, author, { resource: 'consents', action: 'withdrawn' }, ended)
  if (ended.length > 0) await stampIdentity(query)
}

/**
 * Ends the session of the browser that holds this grant, with the console's grants in all tenants; all sessions of the
 * user when `grantId` is null. Returns the number of sessions.
 */
export const signOutOfConsole = async (query: Query, author: Author, userId: string, grantId: string | null) => {
  // This comes first, so that a console that is being opened either is found below or sees the new date.
  if (grantId === null)
    await query({ text: 'update users set sessions_since = clock_timestamp() where id = $1', values: [userId] })
  const open = await query<{ grant_id: string; session_uid: string | null }>({
    text: `select grant_id, session_uid from consents where user_id = $1 and application_id = $2 and withdrawn_at is null
      and ($3::text is null or grant_id = $3
        or session_uid = (select session_uid from consents as given where given.grant_id = $3))`,
    values: [userId, consoleId, grantId],
  })
  const grantIds = open.map(({ grant_id }) => grant_id)
  await withdrawConsents(query, author, grantIds)
  const ended = await query({
    text: `delete from authorization_state where account_id = $1 and model = 'Session'
      and ($2::boolean or uid = any ($3::text[])) returning uid`,
    values: [userId, grantId === null, open.map(({ session_uid }) => session_uid)],
  })
  return ended.length
}

/** The grant under which this browser last used the console in the tenant: tabs may work in several tenants. */
export const findConsoleGrant = async (query: Query, userId: string, tenantId: string, sessionUid: string) => {
  const given = await firstRow<{ grantId: string }>(query, {
    text: `select grant_id as "grantId" from consents where tenant_id = $1 and user_id = $2 and session_uid = $3
      and application_id = $4 and withdrawn_at is null order by created_at desc limit 1`,
    values: [tenantId, userId, sessionUid, consoleId],
  })
  return given?.grantId
}

/** The user cannot sign out everywhere until the transaction ends. Returns the date from which sessions count. */
export const lockSessions = async (query: Query, userId: string): Promise<Date | null> => {
  const user = await firstRow<{ sessions_since: Date | null }>(query, {
    text: 'select sessions_since from users where id = $1 for share',
    values: [userId],
  })
  return user?.sessions_since ?? null
}

/**
 * The role of the caller at the end of a call: until the transaction ends nobody can remove the caller, change the role or
 * end the session. Null when that has happened already.
 */
export const lockCallerMembership = async (query: Query, { tenantId, userId, grantId }: Principal) => {
  const membership = await firstRow<{ role: Role }>(query, {
    text: `select membership.role from memberships membership join users on users.id = membership.user_id
      where membership.tenant_id = $1 and membership.user_id = $2 for share`,
    values: [tenantId, userId],
  })
  return membership && (grantId === null || (await findDelegation(query, grantId))) ? membership : null
}

type GivenConsent = { id: string; application: string; clientId: string; scopes: Scope[]; createdAt: Date }

export const findConsents = (query: Query, tenantId: string, userId: string) =>
  query<GivenConsent>({
    text: `select consents.grant_id as id, applications.name as application, applications.id as "clientId",
        consents.scopes, consents.created_at as "createdAt"
      from consents join applications on applications.id = consents.application_id
      where consents.tenant_id = $1 and consents.user_id = $2 and consents.withdrawn_at is null
        and applications.id <> $3
      order by consents.created_at desc, consents.grant_id`,
    values: [tenantId, userId, consoleId],
  })

/** True when the user consented to the application in any tenant. */
export const hasConsented = async (query: Query, userId: string, applicationId: string): Promise<boolean> =>
  (await firstRow(query, {
    text: `select 1 from consents
        where application_id = $1 and user_id = $2 and withdrawn_at is null limit 1`,
    values: [applicationId, userId],
  })) !== null

export const auditIssuedToken = (query: Query, author: Author, grantId: string, tenantId: string): Promise<void> =>
  auditChange(query, tenantId, author, { action: 'token_issued', resource: 'consents', recordId: grantId })

type Delegation = Pick<Principal, 'tenantId' | 'assignee' | 'legacyUserId'> & {
  applicationId: string
  userId: string
  role: Role
}

/** Null when the consent was withdrawn, the membership ended or the application was disabled. */
export const findDelegation = (query: Query, grantId: string) =>
  firstRow<Delegation>(query, {
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
