import { customerApi } from '@masthead/contract'
import type { KoaContextWithOIDC } from 'oidc-provider'
import { consoleId } from '../identity/people/applications.ts'

/** Those of OpenID Connect, which belong to no API. */
export const openidScopes = ['openid', 'offline_access']

const supported = [...openidScopes, ...customerApi.scopes.map((scope) => customerApi.scopePrefix + scope)]

/**
 * Libraries compare the scopes that they asked for with those that they are told: some refuse tokens of others, and repeat at a refresh
 * what they asked for at first. The provider tells of the access token alone, and drops `offline_access` where nothing is said of consent.
 */
export const tellScopes = async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
  askForConsent(ctx)
  await next()
  if (ctx.oidc?.route === 'discovery') Object(ctx.body).scopes_supported = supported
  if (ctx.oidc?.route === 'token' && ctx.status === 200) Object(ctx.body).scope = grantedScope(ctx)
}

/** Says what is done anyway: every application but the console asks the person each time. */
const askForConsent = (ctx: KoaContextWithOIDC): void => {
  const { scope, prompt = '', client_id } = ctx.query
  if (ctx.path !== '/oauth2/authorize' || typeof scope !== 'string' || typeof prompt !== 'string') return
  if (!scope.split(' ').includes('offline_access') || client_id === consoleId || /none|consent/.test(prompt)) return
  ctx.query = { ...ctx.query, prompt: `${prompt} consent`.trim() }
}

const grantedScope = (ctx: KoaContextWithOIDC): string | undefined => {
  const { AuthorizationCode, RefreshToken } = ctx.oidc.entities
  const { scope = '' } = Object(ctx.body) as { scope?: string } // the response of the provider
  const wanted = ctx.oidc.params?.scope === undefined ? null : ctx.oidc.requestParamScopes
  const granted = (AuthorizationCode ?? RefreshToken)?.scopes ?? new Set<string>()
  const ofPerson = openidScopes.filter((one) => granted.has(one) && (wanted === null || wanted.has(one)))
  return [...new Set([...ofPerson, ...scope.split(' ')])].filter(Boolean).join(' ') || undefined
}
