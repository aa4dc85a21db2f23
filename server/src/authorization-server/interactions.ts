import { customerApi, type Scope, scopePrefix } from '@masthead/contract'
import type { InteractionResults, Provider } from 'oidc-provider'
import type { CalledFrom } from '../audit/author.ts'
import { isUnavailable } from '../database/connections/unavailable.ts'
import type { Database } from '../database/database.ts'
import type { RateLimiter } from '../http/api/callers/rate-limit.ts'
import type { PageResponse } from '../http/pages/page-response.ts'
import type { PageRoute } from '../http/pages/pages.ts'
import { type Guard, guarded, type PageHandler, type Visit } from '../http/pages/visit.ts'
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
import { takeForm } from './forms.ts'
import { limitSignIns, limitVisits, refusePerson } from './limits.ts'
import { pageResponse } from './page-response.ts'
import { accountChoicePage, consentPage, errorPage, type Page, signInPage } from './pages.ts'

export type Dependencies = {
  server: AuthorizationServer
  database: Database
  issuer: string
  baseUrl: string
  limiter: RateLimiter | null
}
type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

const root = '/oauth2/interaction/{uid}'
const pathOf = ({ uid }: Interaction): string => `/oauth2/interaction/${uid}`

/** Loaded at the first use, so that a start does not wait for it. */
const library = () => import('oidc-provider')

/** What all pages with forms share: their limits, and how they show errors. */
export const formPages = ({ limiter }: Dependencies) => {
  const guards = [limitVisits(limiter, refusePerson), refuseOtherSites]
  const failure = async (error: unknown, visit: Visit) => {
    if (error instanceof Problem) Object.assign(visit.headers, error.headers)
    return pageResponse(await failurePage(error, visit))
  }
  return {
    shown: (path: string, GET: PageHandler): PageRoute => ({ path, guards, GET, failure }),
    sent: (path: string, handler: PageHandler, more: readonly Guard[] = []): PageRoute => ({
      path,
      guards,
      POST: guarded([...more, takeForm], handler),
      failure,
    }),
  }
}

/** The pages between an application's authorization request and its response: sign-in and consent. */
export const interactionPages = (dependencies: Dependencies): PageRoute[] => {
  const { database, limiter } = dependencies
  const { shown, sent } = formPages(dependencies)
  const find = async ({ request, response }: Visit): Promise<Interaction> => {
    const { provider } = await dependencies.server.loaded()
    return provider.interactionDetails(request, response)
  }
  /** Returns where the browser goes when this was the last page. */
  const store = async ({ request, response }: Visit, result: InteractionResults): Promise<string> => {
    const { provider } = await dependencies.server.loaded()
    // After consent the provider must still know of a sign-in that was asked for, or it asks again.
    return provider.interactionResult(request, response, result, { mergeWithLastSubmission: 'consent' in result })
  }
  const finish = async (visit: Visit, result: InteractionResults) => redirect(await store(visit, result))
  const current = async (interaction: Interaction) => pageResponse(await currentPage(dependencies, interaction))

  const signInWith: PageHandler = async (visit) => {
    const interaction = await find(visit)
    const { email = '', password = '' } = visit.form
    const outcome = await signIn(database.query, calledFrom(visit), email.trim(), password)
    if ('users' in outcome) {
      const [user, ...others] = outcome.users
      if (others.length === 0) return finish(visit, { login: loginOf(user) })
      const logins = outcome.users.map(loginOf)
      const { tenant } = interaction.params
      const named = tenant === undefined ? null : tenantNamed(await membershipsOf(database, logins), String(tenant))
      if (named) return finish(visit, { login: named.login, tenant: named.id })
      await store(visit, { openAccounts: logins })
      return redirect(pathOf(interaction))
    }
    const isThrottled = outcome.refused === 'throttled'
    const problem = isThrottled
      ? refuseAttempt(visit, outcome.retryAfterSeconds)
      : 'The e-mail address or the password is not right.'
    const page = await signInPageOf(dependencies, interaction, { email, problem })
    return pageResponse({ ...page, status: isThrottled ? 429 : 401 })
  }

  /** The password opens several accounts of the address: each tenant belongs to one of them. */
  const chooseAccount: PageHandler = async (visit) => {
    const interaction = await find(visit)
    const { tenant = '' } = visit.form
    const chosen = (await openAccounts(dependencies, interaction)).find(({ id }) => id === tenant)
    if (!chosen) return current(interaction)
    return finish(visit, { login: chosen.login, tenant: chosen.id })
  }

  const decide: PageHandler = async (visit) => {
    const interaction = await find(visit)
    if (visit.form.decision !== 'allow') return finish(visit, denied)
    const grantId = await createGrant(dependencies, visit, interaction)
    if (grantId === null) return current(interaction)
    return finish(visit, { consent: { grantId } })
  }

  const cancel: PageHandler = async (visit) => {
    await find(visit)
    return finish(visit, denied)
  }

  /** Signs the user out and starts the authorization request again. */
  const switchUser: PageHandler = async (visit) => {
    const { session, params } = await find(visit)
    await endSession(database.query, session?.uid ?? '')
    const again = new URLSearchParams()
    for (const [name, value] of Object.entries(params))
      for (const one of [value].flat()) again.append(name, String(one))
    return redirect(`/oauth2/authorize?${again}`)
  }

  return [
    shown(root, async (visit) => current(await find(visit))),
    sent(`${root}/sign-in`, signInWith, [limitSignIns(limiter)]),
    sent(`${root}/account`, chooseAccount),
    sent(`${root}/consent`, decide),
    sent(`${root}/cancel`, cancel),
    sent(`${root}/switch-user`, switchUser),
  ]
}

export const redirect = (location: string): PageResponse => ({ status: 303, headers: { location } })

const denied: InteractionResults = { error: 'access_denied', error_description: 'the user denied the request' }

/** Returns the problem to show on the page. */
export const refuseAttempt = (visit: Visit, retryAfterSeconds: number): string => {
  visit.refusedBy = 'wrong-passwords'
  visit.headers['retry-after'] = String(retryAfterSeconds)
  return `Too many attempts. Try again ${inMinutes(retryAfterSeconds)}.`
}

/** Another site must not submit our forms; SameSite=Lax cookies and the secret path protect them as well. */
const refuseOtherSites: Guard = async ({ method, request }) => {
  const site = request.headers['sec-fetch-site']
  if (method !== 'POST' || site === undefined || site === 'same-origin') return null
  const { errors } = await library()
  throw new errors.AccessDenied('another site sent this form')
}

export const calledFrom = ({ address, requestId }: Visit): CalledFrom => ({ address, requestId })

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
const createGrant = async (dependencies: Dependencies, visit: Visit, interaction: Interaction) => {
  const { server, database, baseUrl } = dependencies
  const { tenant: tenantId = '' } = visit.form
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
  const author = { kind: 'visitor', ...calledFrom(visit), user: userId } as const
  return database.transaction(async (query) => {
    // A password change may have ended the session meanwhile.
    await lockSessions(query, userId)
    if (!(await isSessionOpen(query, interaction.session?.uid ?? ''))) return null
    if (interaction.lastSubmission?.login) await auditSignIn(query, author, tenantId, userId)
    await storeConsent(query, author, consent)
    return grantId
  })
}

const failurePage = async (error: unknown, { requestId, log }: Visit): Promise<Page> => {
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
  log.error({ reqId: requestId, err: error }, 'an interaction failed')
  return errorPage({ status: 500, title: 'Something went wrong', detail: 'Try again later.', requestId })
}
