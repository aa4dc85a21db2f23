import type { IncomingMessage } from 'node:http'
import { type Api, customerApi, managementApi } from '@masthead/contract'
import { type Configuration, errors, type KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { Database } from '../database/database.ts'
import { codeOf } from '../error-message.ts'
import { consoleId } from '../identity/people/applications.ts'
import { auditIssuedToken, findDelegation, withdrawConsentsOfSession } from '../identity/people/consents.ts'
import { findUser } from '../identity/people/users.ts'
import { deriveKey } from '../identity/tokens/sealing.ts'
import type { SigningKey } from '../identity/tokens/signing-keys.ts'
import { stateAdapter } from './adapter.ts'
import { grantToConsole } from './console.ts'
import { errorPage, type Page, signedOutPage, signOutPage } from './pages.ts'
import { revokeAccessTokens } from './revocation.ts'
import { sessionCookie, sessionSeconds } from './session-cookie.ts'
import { addRetryAfter, withProviderErrors } from './temporarily-unavailable.ts'
import { openidScopes, tellScopes } from './told-scopes.ts'
import { showUntrustedErrors } from './untrusted-redirects.ts'
import { visitorOf } from './visitors.ts'

export type ProviderOptions = {
  database: Database
  issuer: string
  /** The prefix of the resources that tokens are for. */
  baseUrl: string
  secret: string
  keys: SigningKey[]
  onError: (error: Error) => void
}

const minute = 60
const day = 86_400
const accessTokenSeconds = 10 * minute

/** An OpenID provider for the code flow with PKCE, and nothing else. Its keys are fixed: a rotation builds another. */
export const buildProvider = (given: ProviderOptions): Provider => {
  const options = { ...given, database: withProviderErrors(given.database) }
  const provider = new Provider(options.issuer, configuration(options))
  // endpoints.ts sets the forwarded headers from the configured issuer.
  provider.proxy = true
  provider.use(addRetryAfter(renderError))
  showUntrustedErrors(provider, options.database, renderError)
  provider.use(revokeAccessTokens(options))
  provider.use(signOutNobody)
  provider.use(tellScopes)
  provider.silent = true
  provider.on('server_error', (_ctx, error) => options.onError(error))
  provider.on('end_session.success', (ctx) => {
    const uid = ctx.oidc.session?.uid
    if (uid === undefined) return
    options.database
      .transaction((query) => withdrawConsentsOfSession(query, visitorOf(ctx.req), uid))
      .catch((error) => options.onError(error))
  })
  const koa: NodeJS.EventEmitter = provider
  koa.on('error', (error: Error, context?: { req: IncomingMessage }) => {
    const hasLeft = context?.req.socket.destroyed && ['ECONNRESET', 'EPIPE'].includes(codeOf(error))
    if (!hasLeft) options.onError(error)
  })
  return provider
}

const configuration = ({ database, issuer, baseUrl, secret, keys }: ProviderOptions): Configuration => ({
  adapter: (model) => stateAdapter(database, model, baseUrl),
  jwks: { keys: keys.map(({ privateKey }) => privateKey as { kty: string }) }, // our keys are RSA keys, made by signing-keys.ts
  cookies: {
    keys: [deriveKey(secret, 'cookies').toString('base64url')],
    names: { interaction: 'masthead_interaction', resume: 'masthead_resume', session: 'masthead_session' },
    long: sessionCookie(issuer),
    short: sessionCookie(issuer),
  },
  routes: {
    authorization: '/oauth2/authorize',
    token: '/oauth2/token',
    revocation: '/oauth2/revoke',
    jwks: '/oauth2/jwks',
    userinfo: '/oauth2/userinfo',
    end_session: '/oauth2/logout',
  },
  // The scopes of the API belong to its resource server below.
  scopes: openidScopes,
  claims: { openid: ['sub'] },
  responseTypes: ['code'],
  clientAuthMethods: ['none'],
  enabledJWA: { idTokenSigningAlgValues: ['RS256'] },
  clientDefaults: {
    token_endpoint_auth_method: 'none',
    response_types: ['code'],
    grant_types: ['authorization_code'],
    id_token_signed_response_alg: 'RS256',
  },
  extraClientMetadata: { properties: ['api_scopes', 'is_of_tenant'] },
  // The tenant in which the user wants to work in the console, by its slug or identifier.
  extraParams: ['tenant'],
  allowOmittingSingleRegisteredRedirectUri: false,
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    userinfo: { enabled: true },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => show(ctx, signOutPage({ form, formId: 'op.logoutForm' })),
      postLogoutSuccessSource: (ctx) => show(ctx, signedOutPage()),
    },
    resourceIndicators: {
      enabled: true,
      // The token request need not repeat the `resource`.
      useGrantedResource: async () => true,
      defaultResource: async (ctx) =>
        [...ctx.oidc.requestParamScopes].some(isOfApi) ? baseUrl + customerApi.basePath : [],
      getResourceServerInfo: async (ctx, resource, client) => {
        const api = apisOf(client.clientId).find(({ basePath }) => resource === baseUrl + basePath)
        if (!api) throw new errors.InvalidTarget(`the only resource is ${baseUrl}${customerApi.basePath}`)
        const registered = String(client.api_scopes).split(' ')
        requireRegistered(ctx, registered)
        return {
          scope: registered.filter((scope) => scope.startsWith(api.scopePrefix)).join(' '),
          audience: resource,
          accessTokenTTL: accessTokenSeconds,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }
      },
    },
  },
  // Consent chooses the tenant, so the user is asked each time.
  loadExistingGrant: async (ctx) => {
    if (ctx.oidc.client?.clientId === consoleId) return grantToConsole(ctx, database, baseUrl)
    const grantId = ctx.oidc.result?.consent?.grantId
    return grantId ? ctx.oidc.provider.Grant.find(grantId) : undefined
  },
  // Otherwise a second consent, for another tenant, would end the tokens of the first.
  expiresWithSession: async () => false,
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  rotateRefreshToken: true,
  extraTokenClaims: async (ctx, token) => {
    if (token.kind !== 'AccessToken' || !token.grantId) return undefined
    const delegation = await findDelegation(database.read, token.grantId)
    if (!delegation) throw new errors.InvalidGrant('the consent, the membership or the application has ended')
    await auditIssuedToken(database.query, visitorOf(ctx.req), token.grantId, delegation.tenantId)
    return { tenant: delegation.tenantId, grant: token.grantId }
  },
  findAccount: async (_ctx, id, token) => {
    // Userinfo ends with the consent, too.
    const grantId = token && 'grantId' in token ? token.grantId : undefined
    if (grantId && !(await findDelegation(database.read, grantId))) return undefined
    const user = await findUser(database.read, id)
    return user ? { accountId: user.id, claims: async () => ({ sub: user.id }) } : undefined
  },
  interactions: { url: (_ctx, interaction) => `/oauth2/interaction/${interaction.uid}` },
  renderError,
  ttl: {
    AccessToken: accessTokenSeconds,
    AuthorizationCode: 60,
    IdToken: 60 * minute,
    RefreshToken: 30 * day,
    // After a year of rotations the user is asked again.
    Grant: 366 * day,
    Interaction: 15 * minute,
    Session: sessionSeconds,
  },
})

const apis = [customerApi, managementApi]

const apisOf = (clientId: string): readonly Api[] => (clientId === consoleId ? apis : [customerApi])

/** The provider would drop the scope silently; the application should learn that it asks for too much. */
const requireRegistered = (ctx: KoaContextWithOIDC, registered: string[]): void => {
  if (ctx.oidc.route !== 'authorization') return
  for (const scope of ctx.oidc.requestParamScopes) {
    if (!isOfApi(scope) || registered.includes(scope)) continue
    throw new errors.InvalidScope(`requested scope ${objection(scope)}`, scope)
  }
}

/** True for a scope without its prefix, too. OpenID Connect asks to ignore other unknown scopes. */
const isOfApi = (scope: string): boolean =>
  apis.some(({ scopePrefix }) => scope.startsWith(scopePrefix)) || customerApi.scopes.includes(scope)

const objection = (scope: string): string => {
  const api = apis.find(({ scopePrefix }) => scope.startsWith(scopePrefix))
  if (!api) return `is written ${customerApi.scopePrefix}${scope}`
  return api.scopes.includes(scope.slice(api.scopePrefix.length))
    ? 'is not registered for this application'
    : 'is unknown'
}

const show = (ctx: KoaContextWithOIDC, page: Page): void => {
  ctx.status = page.status
  ctx.type = 'html'
  ctx.set('content-security-policy', page.contentSecurityPolicy)
  ctx.set('cache-control', 'no-store')
  ctx.body = page.html
}

/** Without a user there is nothing to confirm, but the provider would store a session for the confirmation. */
const signOutNobody = async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
  await next()
  if (ctx.oidc?.route !== 'end_session' || ctx.status !== 200 || ctx.oidc.session?.accountId !== undefined) return
  ctx.remove('set-cookie')
  show(ctx, signedOutPage())
}

const renderError: NonNullable<Configuration['renderError']> = (ctx, { error, error_description }) => {
  const { status } = ctx
  const technical = error_description ? `${error_description} (${error})` : error
  const isCancelled = error === 'access_denied'
  const title = isCancelled ? 'Cancelled' : 'This did not work'
  const detail = isCancelled ? 'Nothing was shared. You can close this page.' : status < 500 ? mistaken : failed
  show(ctx, errorPage({ status, title, detail, technical }))
}
const mistaken =
  'Masthead cannot answer the request with which you were sent here, and has shared nothing. Go back to the application and start again.'
const failed = 'Something went wrong on our side. Nothing was shared. Try again later.'
