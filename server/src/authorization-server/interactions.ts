import { customerApi, type Scope, scopePrefix } from '@masthead/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { InteractionResults, Provider } from 'oidc-provider'
import type { CalledFrom } from '../audit/author.ts'
import { isUnavailable } from '../database/connections/unavailable.ts'
import type { Database } from '../database/database.ts'
import type { RateLimiter } from '../http/api/callers/rate-limit.ts'
import { findApplication } from '../identity/people/applications.ts'
import { lockSessions, storeConsent } from '../identity/people/consents.ts'
import { findMemberships } from '../identity/people/members.ts'
import { allScopes } from '../identity/people/roles.ts'
import { auditSignIn, inMinutes, signIn } from '../identity/people/sign-in.ts'
import { tenantNamed } from '../identity/people/tenants.ts'
import { type Account, findUser } from '../identity/people/users.ts'
import { Problem } from '../problem.ts'
import { endSession, isSessionOpen } from './adapter.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { limitSignIns, limitVisits, refusePerson } from './limits.ts'
import { accountChoicePage, consentPage, errorPage, type Page, signInPage } from './pages.ts'
import { sendPage } from './send-page.ts'

export type Dependencies = {
  server: AuthorizationServer
  database: Database
  issuer: string
  baseUrl: string
  limiter: RateLimiter | null
}
type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>
type Form = Record<string, string>

const root = '/oauth2/interaction/:uid'
const pathOf = ({ uid }: Interaction): string => `/oauth2/interaction/${uid}`

/** Loaded at the first use, so that a start does not wait for it. */
const library = () => import('oidc-provider')

/** The parser, limits and error handler that all pages with forms share. */
export const readForms = (app: FastifyInstance, { limiter }: Dependencies): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 16_384 },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
  app.addHook('onRequest', limitVisits(limiter, refusePerson))
  app.addHook('onRequest', async (request) => refuseOtherSites(request))
  app.setErrorHandler(async (error, request, reply) => sendPage(reply, await failurePage(error, request)))
}

/** The pages between an application's authorization request and its response: sign-in and consent. */
export const mountInteractions = (app: FastifyInstance, dependencies: Dependencies): void => {
  const { database, limiter } = dependencies
  const find = async ({ request, raw }: FastifyReply): Promise<Interaction> => {
    const { provider } = await dependencies.server.loaded()
    return provider.interactionDetails(request.raw, raw)
  }
  /** Returns where the browser goes when this was the last page. */
  const store = async ({ request, raw }: FastifyReply, result: InteractionResults): Promise<string> => {
    const { provider } = await dependencies.server.loaded()
    // After consent the provider must still know of a sign-in that was asked for, or it asks again.
    return provider.interactionResult(request.raw, raw, result, { mergeWithLastSubmission: 'consent' in result })
  }
  const finish = async (reply: FastifyReply, result: InteractionResults) =>
    reply.redirect(await store(reply, result), 303)

  app.get(root, async (_request, reply) => sendPage(reply, await currentPage(dependencies, await find(reply))))

  app.post(`${root}/sign-in`, { onRequest: limitSignIns(limiter) }, async (request, reply) => {
    const interaction = await find(reply)
    const { email = '', password = '' } = formOf(request)
    const outcome = await signIn(database.query, calledFrom(request), email.trim(), password)
    if ('users' in outcome) {
      const [user, ...others] = outcome.users
      if (others.length === 0) return finish(reply, { login: loginOf(user) })
      const logins = outcome.users.map(loginOf)
      const { tenant } = interaction.params
      const named = tenant === undefined ? null : tenantNamed(await membershipsOf(database, logins), String(tenant))
      if (named) return finish(reply, { login: named.login, tenant: named.id })
      await store(reply, { openAccounts: logins })
      return reply.redirect(pathOf(interaction), 303)
    }
    const isThrottled = outcome.refused === 'throttled'
    const problem = isThrottled
      ? refuseAttempt(reply, outcome.retryAfterSeconds)
      : 'The e-mail address or the password is not right.'
    const page = await signInPageOf(dependencies, interaction, { email, problem })
    return sendPage(reply, { ...page, status: isThrottled ? 429 : 401 })
  })

  /** The password opens several accounts of the address: each tenant belongs to one of them. */
  app.post(`${root}/account`, async (request, reply) => {
    const interaction = await find(reply)
    const { tenant = '' } = formOf(request)
    const chosen = (await openAccounts(dependencies, interaction)).find(({ id }) => id === tenant)
    if (!chosen) return sendPage(reply, await currentPage(dependencies, interaction))
    return finish(reply, { login: chosen.login, tenant: chosen.id })
  })

  app.post(`${root}/consent`, async (request, reply) => {
    const interaction = await find(reply)
    if (formOf(request).decision !== 'allow') return finish(reply, denied)
    const grantId = await createGrant(dependencies, request, interaction)
    if (grantId === null) return sendPage(reply, await currentPage(dependencies, interaction))
    return finish(reply, { consent: { grantId } })
  })

  app.post(`${root}/cancel`, async (_request, reply) => {
    await find(reply)
    return finish(reply, denied)
  })

  /** Signs the user out and starts the authorization request again. */
  app.post(`${root}/switch-user`, async (_request, reply) => {
    const { session, params } = await find(reply)
    await endSession(database.query, session?.uid ?? '')
    const again = new URLSearchParams()
    for (const [name, value] of Object.entries(params))
      for (const one of [value].flat()) again.append(name, String(one))
    return reply.redirect(`/oauth2/authorize?${again}`, 303)
  })
}

const denied: InteractionResults = { error: 'access_denied', error_description: 'the user denied the request' }

/** Returns the problem to show on the page. */
export const refuseAttempt = (reply: FastifyReply, retryAfterSeconds: number): string => {
  reply.request.refusedBy = 'wrong-passwords'
  reply.header('retry-after', retryAfterSeconds)
  return `Too many attempts. Try again ${inMinutes(retryAfterSeconds)}.`
}

/** Another site must not submit our forms; SameSite=Lax cookies and the secret path protect them as well. */
const refuseOtherSites = async ({ method, headers }: FastifyRequest): Promise<void> => {
  const site = headers['sec-fetch-site']
  if (method !== 'POST' || site === undefined || site === 'same-origin') return
  const { errors } = await library()
  throw new errors.AccessDenied('another site sent this form')
}

export const calledFrom = ({ address, id }: FastifyRequest): CalledFrom => ({ address, requestId: id })

export const formOf = (request: FastifyRequest): Form => (request.body ?? {}) as Form // parsed above, for every route here

type Login = { accountId: string; ts: number }

/** The time at which the password was read: a password change before the sign-in is complete ends the session. */
const loginOf = ({ id, loginTs }: Account): Login => ({ accountId: id, ts: loginTs })

const openAccounts = ({ database }: Dependencies, { result }: Interaction) =>
  membershipsOf(database, (result?.openAccounts ?? []) as Login[]) // stored above, by nobody else

/** Where each of these accounts may work. */
const membershipsOf = async (database: Database, logins: readonly Login[]) => {
  const memberships = await Promise.all(
    logins.map(async (login) =>
      (await findMemberships(database.read, login.accountId)).map((membership) => ({ ...membership, login })),
    ),
  )
  return memberships.flat()
}

const currentPage = async (dependencies: Dependencies, interaction: Interaction): Promise<Page> => {
  const { read } = dependencies.database
  const path = pathOf(interaction)
  if (interaction.prompt.name === 'login') {
    const tenants = await openAccounts(dependencies, interaction)
    if (tenants.length === 0) return signInPageOf(dependencies, interaction)
    const callbackOrigin = callbackOf(interaction)
    return accountChoicePage({ action: `${path}/account`, cancel: `${path}/cancel`, callbackOrigin, tenants })
  }
  const application = await applicationOf(dependencies, interaction)
  const user = await findUser(read, interaction.session?.accountId ?? '')
  if (!user) return signInPageOf(dependencies, interaction)
  const callback = new URL(callbackOf(interaction))
  return consentPage({
    action: `${path}/consent`,
    switchUser: `${path}/switch-user`,
    application: application.name,
    redirectHost: callback.host || callback.protocol,
    callbackOrigin: callback.href,
    user: `${user.name} <${user.email}>`,
    scopes: requestedScopes(interaction),
    tenants: await findMemberships(read, user.id, application.tenantId),
  })
}

type Attempt = { email?: string; problem?: string }

const signInPageOf = async (dependencies: Dependencies, interaction: Interaction, attempt: Attempt = {}) =>
  signInPage({
    ...attempt,
    action: `${pathOf(interaction)}/sign-in`,
    cancel: `${pathOf(interaction)}/cancel`,
    application: (await applicationOf(dependencies, interaction)).name,
    callbackOrigin: callbackOf(interaction),
  })

const applicationOf = async ({ database }: Dependencies, { params }: Interaction) => {
  const application = await findApplication(database.read, String(params.client_id))
  if (application && !application.disabledAt) return application
  const { errors } = await library()
  throw new errors.InvalidClient('the application is not registered, or disabled')
}

/** The provider has checked that the redirect URI is registered. */
const callbackOf = ({ params }: Interaction): string => String(params.redirect_uri)

const requestedScopes = ({ params }: Interaction): Scope[] => {
  const requested = String(params.scope ?? '').split(' ')
  return allScopes.filter((scope) => requested.includes(scopePrefix + scope))
}

/** Null when there was no consent page, or the user cannot choose this tenant for this application. */
const createGrant = async (dependencies: Dependencies, request: FastifyRequest, interaction: Interaction) => {
  const { server, database, baseUrl } = dependencies
  const { tenant: tenantId = '' } = formOf(request)
  const { clientId, tenantId: onlyTenantId } = await applicationOf(dependencies, interaction)
  const userId = interaction.session?.accountId
  if (interaction.prompt.name !== 'consent' || userId === undefined) return null
  const tenants = await findMemberships(database.read, userId, onlyTenantId)
  if (!tenants.some(({ id }) => id === tenantId)) return null
  const scopes = requestedScopes(interaction)
  const { provider } = await server.loaded()
  const grant = new provider.Grant({ accountId: userId, clientId })
  grant.addOIDCScope('openid offline_access')
  if (scopes.length > 0)
    grant.addResourceScope(baseUrl + customerApi.basePath, scopes.map((scope) => scopePrefix + scope).join(' '))
  const grantId = await grant.save()
  // The consent is stored before anything is issued: without it no token of the grant is accepted.
  const consent = { grantId, applicationId: clientId, tenantId, userId, scopes }
  const author = { kind: 'visitor', ...calledFrom(request), user: userId } as const
  return database.transaction(async (query) => {
    // A password change may have ended the session meanwhile.
    await lockSessions(query, userId)
    if (!(await isSessionOpen(query, interaction.session?.uid ?? ''))) return null
    if (interaction.lastSubmission?.login) await auditSignIn(query, author, tenantId, userId)
    await storeConsent(query, author, consent)
    return grantId
  })
}

const failurePage = async (error: unknown, { id: requestId, log }: FastifyRequest): Promise<Page> => {
  const { errors } = await library()
  const title = 'This did not work'
  if (error instanceof Problem) return errorPage({ status: error.status, title, detail: error.message })
  if (isUnavailable(error) || error instanceof errors.TemporarilyUnavailable)
    return errorPage({ status: 503, title: 'Not available right now', detail: 'Try again in a moment.', requestId })
  if (error instanceof errors.OIDCProviderError) {
    const detail =
      error instanceof errors.SessionNotFound
        ? 'This page has expired, or cookies are switched off. Go back to the application and start again.'
        : (error.error_description ?? error.message)
    return errorPage({ status: error.statusCode, title, detail })
  }
  if (isRefusedByFramework(error))
    return errorPage({ status: error.statusCode, title, detail: 'This form cannot be read.' })
  log.error({ reqId: requestId, err: error }, 'an interaction failed')
  return errorPage({ status: 500, title: 'Something went wrong', detail: 'Try again later.', requestId })
}

/** For example, a body that is too large or of another content type. */
const isRefusedByFramework = (error: unknown): error is { statusCode: number } =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500
