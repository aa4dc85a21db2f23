import { customerApi, managementApi } from '@masthead/contract'
import { errors, type Grant, type KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '../database/database.ts'
import { consoleId } from '../identity/people/applications.ts'
import { findConsoleGrant, findDelegation, lockSessions, storeConsent } from '../identity/people/consents.ts'
import { findMemberships } from '../identity/people/members.ts'
import { auditSignIn } from '../identity/people/sign-in.ts'
import { tenantNamed } from '../identity/people/tenants.ts'
import { hasEnded } from './adapter.ts'
import { visitorOf } from './visitors.ts'

/**
 * The console needs no consent: the user works in the tenant that the request names by its slug or identifier, else in the one
 * that this session used last, else in the first. Returns undefined for a user without a tenant; the consent page then says so.
 */
export const grantToConsole = async (ctx: KoaContextWithOIDC, database: Database, baseUrl: string) => {
  const { session, params, provider, result } = ctx.oidc
  const userId = session?.accountId
  if (!session || userId === undefined) return undefined
  // Another user is about to sign in, who may be a member.
  if (ctx.oidc.promptPending('login')) return undefined
  const formerId = session.grantIdFor(consoleId)
  const former = formerId === undefined ? null : await findDelegation(database.read, formerId)
  const current = former?.userId === userId ? former.tenantId : undefined
  // A user who had to choose among several accounts has named the tenant there.
  const named = result?.tenant ?? params?.tenant
  const tenants = await findMemberships(database.read, userId)
  const tenant =
    named === undefined ? (tenants.find(({ id }) => id === current) ?? tenants[0]) : tenantNamed(tenants, String(named))
  if (!tenant && named !== undefined) throw new errors.AccessDenied('you are not a member of this organisation')
  if (!tenant) return undefined
  const openId = await findConsoleGrant(database.read, userId, tenant.id, session.uid)
  const open = openId === undefined ? undefined : await provider.Grant.find(openId)
  return open ?? createGrant(ctx, database, baseUrl, userId, tenant.id)
}

const createGrant = async (
  { req, oidc: { provider, session } }: KoaContextWithOIDC,
  database: Database,
  baseUrl: string,
  userId: string,
  tenantId: string,
): Promise<Grant | undefined> => {
  const grant = new provider.Grant({ accountId: userId, clientId: consoleId })
  grant.addOIDCScope('openid offline_access')
  for (const { basePath, scopePrefix, scopes } of [customerApi, managementApi])
    grant.addResourceScope(baseUrl + basePath, scopes.map((scope) => scopePrefix + scope).join(' '))
  const grantId = await grant.save()
  const consent = { grantId, applicationId: consoleId, tenantId, userId, scopes: [], sessionUid: session?.uid ?? '' }
  const visitor = visitorOf(req)
  const author = visitor.kind === 'visitor' ? { ...visitor, user: userId } : visitor
  return database.transaction(async (query) => {
    // The user may have signed out meanwhile in another browser.
    if (hasEnded(session?.loginTs, await lockSessions(query, userId))) return undefined
    await auditSignIn(query, author, tenantId, userId)
    await storeConsent(query, author, consent, 'opened')
    return grant
  })
}
