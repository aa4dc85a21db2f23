import { basePath, type Scope, scopePrefix } from '@masthead/contract'
import type { Request } from '../exchange.tsx'

/** What the trial asks for. */
export const trialScopes: readonly Scope[] = ['contacts:read']
export const trialName = 'Developer portal: PKCE trial'
export const redirectUri = `${location.origin}/docs/guides/pkce`
const resource = location.origin + basePath

/** RFC 8414: what the authorization server tells of itself. */
export type Endpoints = {
  issuer: string
  authorization_endpoint: string
  token_endpoint: string
  revocation_endpoint?: string
}

export const findEndpoints = async (): Promise<Endpoints> => {
  const { issuer }: { issuer: string } = await (await fetch('/console.json')).json()
  return (await fetch(`${issuer}/.well-known/openid-configuration`)).json()
}

/** What must survive the way to the authorization server and back. */
export type Pending = { clientId: string; state: string; codeVerifier: string; codeChallenge: string }

const key = 'masthead.pkce-trial'

export const makePending = async (clientId: string): Promise<Pending> => {
  if (!crypto.subtle) throw new TypeError('PKCE needs Web Crypto, which pages have only by https or on localhost.')
  const codeVerifier = randomText()
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))
  return { clientId, state: randomText(), codeVerifier, codeChallenge: base64url(new Uint8Array(digest)) }
}

const randomText = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)))
const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

export const authorizationParameters = ({ clientId, state, codeChallenge }: Pending): URLSearchParams =>
  new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: ['openid', ...trialScopes.map((scope) => scopePrefix + scope)].join(' '),
    resource,
    state,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  })

/** Leaves the page. */
export const leave = (endpoint: string, pending: Pending): void => {
  sessionStorage.setItem(key, JSON.stringify(pending))
  location.assign(`${endpoint}?${authorizationParameters(pending)}`)
}

/** With what the user came back; null where nobody was sent. To be called once: it is forgotten by that. */
export type Return = { pending: Pending; code: string | null; state: string | null; error: string | null }

export const takeReturn = (): Return | null => {
  const parameters = new URLSearchParams(location.search)
  const stored = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  if (stored === null || !parameters.has('state')) return null
  const error = parameters.get('error_description') ?? parameters.get('error')
  return { pending: JSON.parse(stored), code: parameters.get('code'), state: parameters.get('state'), error }
}

type TokenAnswer = { access_token: string; refresh_token?: string; expires_in: number; scope: string }

export const isTokenAnswer = (body: unknown): body is TokenAnswer =>
  typeof body === 'object' && body !== null && 'access_token' in body && typeof body.access_token === 'string'

export const exchangeRequest = (
  { token_endpoint }: Endpoints,
  { clientId, codeVerifier }: Pending,
  code: string,
): Request => ({
  method: 'POST',
  url: token_endpoint,
  body: new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code,
    code_verifier: codeVerifier,
    resource,
  }),
})

export const callRequest = (accessToken: string): Request => ({
  method: 'GET',
  url: `${resource}/contacts?pageSize=1`,
  headers: { authorization: `Bearer ${accessToken}` },
})

export const refreshRequest = (
  { token_endpoint }: Endpoints,
  { clientId }: Pending,
  refreshToken: string,
): Request => ({
  method: 'POST',
  url: token_endpoint,
  body: new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
    resource,
  }),
})

export const revokeRequest = (url: string, { clientId }: Pending, token: string): Request => ({
  method: 'POST',
  url,
  body: new URLSearchParams({ client_id: clientId, token }),
})

/** What is in a JWT, unverified: for looking only. */
export const decodeJwt = (token: string): string => {
  const [header = '', claims = ''] = token.split('.')
  return [header, claims].map((part) => JSON.stringify(JSON.parse(fromBase64url(part)), null, 2)).join('\n')
}

const fromBase64url = (text: string): string =>
  new TextDecoder().decode(
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0)),
  )
