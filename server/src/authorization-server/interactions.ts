import { customerApi, type Scope, scopePrefix, scopes } from '@masthead/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { InteractionResults, Provider } from 'oidc-provider'
import type { CalledFrom } from '../audit/author.ts'
import type { Database } from '../database/database.ts'
import { isUnavailable } from '../database/unavailable.ts'
import type { RateLimiter } from '../http/api/rate-limit.ts'
import { findApplication } from '../identity/applications.ts'
import { findChoosableTenants, lockSessions, storeConsent } from '../identity/consents.ts'
import { findMemberships } from '../identity/members.ts'
import { auditSignIn, signIn } from '../identity/sign-in.ts'
import { type Account, findUser } from '../identity/users.ts'
import { Problem } from '../problem.ts'
import { endSession, isSessionOpen } from './adapter.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { limitSignIns, limitVisits, refusePerson } from './limits.ts'
import { accountChoicePage, consentPage, errorPage, type Page, signInPage } from './pages.ts'
import { sendPage } from './send-page.ts'

export type Surroundings = {
  server: AuthorizationServer
  database: Database
  issuer: string
  baseUrl: string
  /** Null where nothing is limited. */
  limiter: RateLimiter | null
}
type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>
type Form = Record<string, string>

const root = '/oauth2/interaction/:uid'

/** Not loaded at the start, for which nobody should wait. */
const library = () => import('oidc-provider')

/** What all pages with forms stand behind. */
export const readForms = (app: FastifyInstance, { limiter }: Surroundings): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 16_384 },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
  if (limiter) app.addHook('onRequest', limitVisits(limiter, refusePerson))
  app.addHook('onRequest', async (request) => refuseOtherSites(request))
  app.setErrorHandler(async (error, request, reply) => sendPage(reply, await failurePage(error, request)))
}

/** The pages between an application's request and its answer: who are you, and may it? */
export const mountInteractions = (app: FastifyInstance, surroundings: Surroundings): void => {
  const { limiter } = surroundings
  app.get(root, async (request, reply) =>
    sendPage(reply, await currentPage(surroundings, await find(surroundings, request, reply))),
  )

  app.post(`${root}/sign-in`, limiter ? { onRequest: limitSignIns(limiter) } : {}, async (request, reply) => {
    const interaction = await find(surroundings, request, reply)
    const { email = '', password = '' } = formOf(request)
    const outcome = await signIn(surroundings.database.query, calledFrom(request), email.trim(), password)
    if ('users' in outcome) {
      const [user, ...others] = outcome.users
      if (others.length === 0) return finish(surroundings, request, reply, { login: loginOf(user) })
      await store(surroundings, request, reply, { openAccounts: outcome.users.map(loginOf) })
      return reply.redirect(`/oauth2/interaction/${interaction.uid}`, 303)
    }
    if (outcome.refused === 'throttled') {
      request.refusedBy = 'wrong-passwords'
      reply.header('retry-after', outcome.retryAfterSeconds)
    }
    const problem =
      outcome.refused === 'throttled'
        ? tooManyAttempts(outcome.retryAfterSeconds).problem
        : 'The e-mail address or the password is not right.'
    const page = await signInPageOf(surroundings, interaction, { email, problem })
    return sendPage(reply, { ...page, status: outcome.refused === 'throttled' ? 429 : 401 })
  })

  /** Several accounts of the address have this password: each tenant belongs to one of them. */
  app.post(`${root}/account`, async (request, reply) => {
    const interaction = await find(surroundings, request, reply)
    const { tenant = '' } = formOf(request)
    const chosen = (await openAccounts(surroundings, interaction)).find(({ id }) => id === tenant)
    if (!chosen) return sendPage(reply, await currentPage(surroundings, interaction))
    return finish(surroundings, request, reply, { login: chosen.login, tenant: chosen.id })
  })

  app.post(`${root}/consent`, async (request, reply) => {
    const interaction = await find(surroundings, request, reply)
    const { decision, tenant = '' } = formOf(request)
    if (decision !== 'allow') return finish(surroundings, request, reply, denied)
    const grantId = await grant(surroundings, request, interaction, tenant)
    if (grantId === null) return sendPage(reply, await currentPage(surroundings, interaction))
    return finish(surroundings, request, reply, { consent: { grantId } })
  })

  app.post(`${root}/cancel`, async (request, reply) => {
    await find(surroundings, request, reply)
    return finish(surroundings, request, reply, denied)
  })

  /** Signs out here, and begins again. */
  app.post(`${root}/switch-user`, async (request, reply) => {
    const { session, params } = await find(surroundings, request, reply)
    await endSession(surroundings.database.query, session?.uid ?? '')
    const again = new URLSearchParams()
    for (const [name, value] of Object.entries(params))
      for (const one of [value].flat()) again.append(name, String(one))
    return reply.redirect(`/oauth2/authorize?${again}`, 303)
  })
}

const denied: InteractionResults = { error: 'access_denied', error_description: 'the user denied the request' }

export const tooManyAttempts = (retryAfterSeconds: number) => ({
  problem: `Too many attempts. Try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`,
  retryAfterSeconds,
})

/** A page of another site must not press our buttons; cookies are SameSite=Lax and the path is secret as well. */
const refuseOtherSites = async ({ method, headers }: FastifyRequest): Promise<void> => {
  const site = headers['sec-fetch-site']
  if (method !== 'POST' || site === undefined || site === 'same-origin') return
  const { errors } = await library()
  throw new errors.AccessDenied('another site sent this form')
}

export const calledFrom = ({ address, id }: FastifyRequest): CalledFrom => ({ address, requestId: id })

export const formOf = (request: FastifyRequest): Form => (request.body ?? {}) as Form // parsed above, for every route here

const find = async ({ server }: Surroundings, request: FastifyRequest, reply: FastifyReply): Promise<Interaction> => {
  const { provider } = await server.loaded()
  return provider.interactionDetails(request.raw, reply.raw)
}

type Login = { accountId: string; ts: number }

/** As of when the password was read: one that is changed before the sign-in is over ends it. */
const loginOf = ({ id, loginTs }: Account): Login => ({ accountId: id, ts: loginTs })

/** Stores what came of a page, and answers where the browser goes when that was the last one. */
const store = async (
  { server }: Surroundings,
  request: FastifyRequest,
  reply: FastifyReply,
  result: InteractionResults,
): Promise<string> => {
  const { provider } = await server.loaded()
  return provider.interactionResult(request.raw, reply.raw, result, {
    // After consent the provider must still know of a sign-in that was asked for, or it asks again.
    mergeWithLastSubmission: 'consent' in result,
  })
}

const finish = async (
  surroundings: Surroundings,
  request: FastifyRequest,
  reply: FastifyReply,
  result: InteractionResults,
) => reply.redirect(await store(surroundings, request, reply, result), 303)

/** The tenants of the accounts that the password opened, when it opened several. */
const openAccounts = async ({ database }: Surroundings, { result }: Interaction) => {
  const logins = (result?.openAccounts ?? []) as Login[] // stored above, by nobody else
  const memberships = await Promise.all(
    logins.map(async (login) =>
      (await findMemberships(database.read, login.accountId)).map((membership) => ({ ...membership, login })),
    ),
  )
  return memberships.flat()
}

const currentPage = async (surroundings: Surroundings, interaction: Interaction): Promise<Page> => {
  if (interaction.prompt.name === 'login') {
    const tenants = await openAccounts(surroundings, interaction)
    return tenants.length > 0
      ? accountChoicePage({
          action: `/oauth2/interaction/${interaction.uid}/account`,
          cancel: `/oauth2/interaction/${interaction.uid}/cancel`,
          callbackOrigin: callbackOf(interaction),
          tenants,
        })
      : signInPageOf(surroundings, interaction, {})
  }
  const { database } = surroundings
  const application = await applicationOf(surroundings, interaction)
  const user = await findUser(database.read, interaction.session?.accountId ?? '')
  if (!user) return signInPageOf(surroundings, interaction, {})
  const callback = new URL(callbackOf(interaction))
  return consentPage({
    action: `/oauth2/interaction/${interaction.uid}/consent`,
    switchUser: `/oauth2/interaction/${interaction.uid}/switch-user`,
    application: application.name,
    redirectHost: callback.host || callback.protocol,
    callbackOrigin: callback.href,
    user: `${user.name} <${user.email}>`,
    scopes: askedScopes(interaction),
    tenants: await findChoosableTenants(database.read, user.id, application.tenantId),
  })
}

const signInPageOf = async (
  surroundings: Surroundings,
  interaction: Interaction,
  given: { email?: string; problem?: string },
): Promise<Page> =>
  signInPage({
    ...given,
    action: `/oauth2/interaction/${interaction.uid}/sign-in`,
    cancel: `/oauth2/interaction/${interaction.uid}/cancel`,
    application: (await applicationOf(surroundings, interaction)).name,
    callbackOrigin: callbackOf(interaction),
  })

const applicationOf = async ({ database }: Surroundings, { params }: Interaction) => {
  const application = await findApplication(database.read, String(params.client_id))
  if (application && !application.disabledAt) return application
  const { errors } = await library()
  throw new errors.InvalidClient('the application is not registered, or disabled')
}

/** Checked by the provider against the registered ones before the interaction began. */
const callbackOf = ({ params }: Interaction): string => String(params.redirect_uri)

const askedScopes = ({ params }: Interaction): Scope[] => {
  const asked = String(params.scope ?? '').split(' ')
  const known = Object.keys(scopes) as Scope[] // the keys of `scopes` are the scopes
  return known.filter((scope) => asked.includes(scopePrefix + scope))
}

/** Null when nobody was asked, or the tenant is not one that this user can choose for this application. */
const grant = async (
  surroundings: Surroundings,
  request: FastifyRequest,
  interaction: Interaction,
  tenantId: string,
): Promise<string | null> => {
  const { server, database, baseUrl } = surroundings
  const application = await applicationOf(surroundings, interaction)
  const userId = interaction.session?.accountId
  if (interaction.prompt.name !== 'consent' || userId === undefined) return null
  const tenants = await findChoosableTenants(database.read, userId, application.tenantId)
  if (!tenants.some(({ id }) => id === tenantId)) return null
  const allowed = askedScopes(interaction)
  const { provider } = await server.loaded()
  const given = new provider.Grant({ accountId: userId, clientId: application.clientId })
  given.addOIDCScope('openid offline_access')
  if (allowed.length > 0)
    given.addResourceScope(baseUrl + customerApi.basePath, allowed.map((scope) => scopePrefix + scope).join(' '))
  const grantId = await given.save()
  // Before anything is issued under the grant: without its consent no token of it is accepted, or even made.
  const consent = { grantId, applicationId: application.clientId, tenantId, userId, scopes: allowed }
  const author = { kind: 'visitor', ...calledFrom(request), user: userId } as const
  return database.transaction(async (query) => {
    // The session may have been ended meanwhile, with a new password.
    await lockSessions(query, userId)
    if (!(await isSessionOpen(query, interaction.session?.uid ?? ''))) return null
    if (interaction.lastSubmission?.login) await auditSignIn(query, author, tenantId, userId)
    await storeConsent(query, author, consent)
    return grantId
  })
}

const failurePage = async (error: unknown, request: FastifyRequest): Promise<Page> => {
  const { errors } = await library()
  if (error instanceof Problem)
    return errorPage({ status: error.status, title: 'This did not work', detail: error.message })
  if (isUnavailable(error) || error instanceof errors.TemporarilyUnavailable) {
    return errorPage({
      status: 503,
      title: 'Not available right now',
      detail: 'Try again in a moment.',
      requestId: request.id,
    })
  }
  if (error instanceof errors.OIDCProviderError) {
    const detail =
      error instanceof errors.SessionNotFound
        ? 'This page has expired, or cookies are switched off. Go back to the application and start again.'
        : (error.error_description ?? error.message)
    return errorPage({ status: error.statusCode, title: 'This did not work', detail })
  }
  if (isRefusedByFramework(error)) {
    return errorPage({ status: error.statusCode, title: 'This did not work', detail: 'This form cannot be read.' })
  }
  request.log.error({ reqId: request.id, err: error }, 'an interaction failed')
  return errorPage({ status: 500, title: 'Something went wrong', detail: 'Try again later.', requestId: request.id })
}

/** A body that is too large or of another content type is the sender's mistake. */
const isRefusedByFramework = (error: unknown): error is { statusCode: number } =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500
