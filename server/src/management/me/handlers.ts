import type { ManagementResources } from '@masthead/contract'
import type { Query } from '../../database/connections/statement.ts'
import { signOutOfConsole } from '../../identity/people/consents.ts'
import { findCredentials } from '../../identity/people/credentials.ts'
import { findAdmins, findMemberships } from '../../identity/people/members.ts'
import { inMinutes, signIn } from '../../identity/people/sign-in.ts'
import { findUser, hashPasswordOf, lockAddress, setPassword } from '../../identity/people/users.ts'
import type { Handlers } from '../../operation-call.ts'
import { invalidProperty, Problem } from '../../problem.ts'
import { existing, json, notFound, signedInElsewhere, userOf } from '../responses.ts'

export const handlers: Handlers<ManagementResources['me']> = {
  GetMe: async ({ tenant: { read }, principal }) => {
    const query = read.withoutTenant
    const [user, tenants, admins] = await Promise.all([
      findUser(query, userOf(principal)),
      findMemberships(query, userOf(principal)),
      findAdmins(query, principal.tenantId, 10),
    ])
    const tenant = tenants.find(({ id }) => id === principal.tenantId)
    if (!user || !tenant) throw notFound('user')
    const { id: userId, email, name } = user
    return json({ userId, email, name, legacyUserId: principal.legacyUserId, tenant, tenants, admins })
  },

  SignOut: ({ tenant, principal, writer, body: { everywhere } }) =>
    tenant.transaction(async ({ withoutTenant: query }) => {
      const grantId = everywhere ? null : principal.grantId
      return json({ sessions: await signOutOfConsole(query, writer.author, userOf(principal), grantId) })
    }),

  GetCredentials: async ({ tenant, principal }) =>
    json(await findCredentials(tenant.read.withoutTenant, userOf(principal))),

  ChangePassword: async ({ tenant, principal, writer, issuer, body: { currentPassword, newPassword, keepTokens } }) => {
    if (issuer === null) throw signedInElsewhere()
    const user = existing('user', await findUser(tenant.read.withoutTenant, userOf(principal)))
    if (newPassword === currentPassword)
      throw invalidProperty('newPassword', 'unchanged', 'This is the password that you have.')
    const { address, requestId } = writer.author
    // Each statement commits by itself, so that a wrong password stays counted.
    const committed: Query = (statement) => tenant.transaction((query) => query.withoutTenant(statement))
    const outcome = await signIn(committed, { address, requestId }, user.email, currentPassword)
    if ('refused' in outcome && outcome.refused === 'throttled') throw tooManyPasswords(outcome.retryAfterSeconds)
    if (!('users' in outcome) || outcome.users.every(({ id }) => id !== user.id))
      throw invalidProperty('currentPassword', 'wrong', 'This is not your current password.')
    const passwordHash = await hashPasswordOf(tenant.read.withoutTenant, user.email, newPassword)
    return tenant.transaction(async ({ withoutTenant: query }) => {
      await lockAddress(query, user.email)
      if ((await findUser(query, user.id))?.passwordHash !== user.passwordHash)
        throw new Problem('conflict', 'The password was changed meanwhile. Sign in again.')
      await setPassword(query, writer.author, user, passwordHash, keepTokens)
      return json(await findCredentials(query, user.id))
    })
  },
}

const tooManyPasswords = (seconds: number): Problem =>
  new Problem('too_many_requests', `Too many wrong passwords: try again ${inMinutes(seconds)}.`, {
    headers: { 'retry-after': String(seconds) },
  })
