import { consoleId } from '../identity/applications.ts'
import { Problem } from '../problem.ts'

/** Where the console sends people to sign in. */
export type SignInPlace = {
  issuer: string
  clientId: string
  /** Null for our own authorization server, which has them at fixed paths. */
  endpoints: { authorization: string; token: string } | null
}

export type FindSignInPlace = () => Promise<SignInPlace>

export const atOwnServer =
  (issuer: string): FindSignInPlace =>
  async () => ({ issuer, clientId: consoleId, endpoints: null })

const timeoutMilliseconds = 5_000

/** Reads the metadata of the issuer when somebody signs in, and caches it. */
export const atOutsideIssuer = (issuer: string, clientId: string | null): FindSignInPlace => {
  let cached: Promise<SignInPlace> | undefined
  return () => {
    if (clientId === null) throw new Problem('not_found', 'The console is off: the operator sets `CONSOLE_CLIENT_ID`.')
    cached ??= discover(issuer, clientId).catch(() => {
      cached = undefined
      throw new Problem('unavailable', 'The identity provider does not respond right now.', {
        headers: { 'retry-after': '1' },
      })
    })
    return cached
  }
}

const discover = async (issuer: string, clientId: string): Promise<SignInPlace> => {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMilliseconds) })
  const metadata: Record<string, unknown> = Object(await response.json())
  if (metadata.issuer !== issuer) throw new Error(`${address} is not the metadata of ${issuer}`)
  const urlOf = (endpoint: unknown) => new URL(String(endpoint)).href
  const endpoints = { authorization: urlOf(metadata.authorization_endpoint), token: urlOf(metadata.token_endpoint) }
  return { issuer, clientId, endpoints }
}
