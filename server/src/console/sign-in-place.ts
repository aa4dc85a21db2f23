import { consoleId } from '../identity/people/applications.ts'
import { fetchMetadata } from '../identity/tokens/issuer-metadata.ts'
import { lazily } from '../lazily.ts'
import { Problem, unavailable } from '../problem.ts'

/** Where the console sends people to sign in. */
type SignInPlace = {
  issuer: string
  clientId: string
  /** Null for our own authorization server, which has them at fixed paths. */
  endpoints: { authorization: string; token: string } | null
}

export type FindSignInPlace = () => Promise<SignInPlace>

export const atOwnServer =
  (issuer: string): FindSignInPlace =>
  async () => ({ issuer, clientId: consoleId, endpoints: null })

/** Reads the metadata of the issuer when somebody signs in, and caches it. */
export const atOutsideIssuer = (issuer: string, clientId: string | null): FindSignInPlace => {
  const endpoints = lazily(() => discoverEndpoints(issuer))
  return async () => {
    if (clientId === null) throw new Problem('not_found', 'The console is off: the operator sets `CONSOLE_CLIENT_ID`.')
    return { issuer, clientId, endpoints: await endpoints() }
  }
}

const discoverEndpoints = async (issuer: string) => {
  try {
    const { authorization_endpoint, token_endpoint } = await fetchMetadata(issuer)
    return { authorization: urlOf(authorization_endpoint), token: urlOf(token_endpoint) }
  } catch {
    throw unavailable('The identity provider does not respond right now.')
  }
}

const urlOf = (endpoint: unknown): string => new URL(String(endpoint)).href
