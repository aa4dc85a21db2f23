import { consoleId } from '../identity/applications.ts'
import { Problem } from '../problem.ts'

/** Where the console sends people to sign in. */
export type SignInPlace = {
  issuer: string
  clientId: string
  /** Of an issuer outside; our own has them at fixed paths. */
  endpoints: { authorization: string; token: string } | null
}

export type FindSignInPlace = () => Promise<SignInPlace>

export const atOwnServer =
  (issuer: string): FindSignInPlace =>
  async () => ({ issuer, clientId: consoleId, endpoints: null })

const timeoutMilliseconds = 5_000

/** Asked for when somebody signs in, and remembered once it was told. */
export const atOutsideIssuer = (issuer: string, clientId: string | null): FindSignInPlace => {
  let known: Promise<SignInPlace> | undefined
  return () => {
    if (clientId === null) throw new Problem('not_found', 'The console is off: the operator sets `CONSOLE_CLIENT_ID`.')
    known ??= discover(issuer, clientId).catch(() => {
      known = undefined
      throw new Problem('unavailable', 'The place to sign in cannot be asked right now.', {
        headers: { 'retry-after': '1' },
      })
    })
    return known
  }
}

const discover = async (issuer: string, clientId: string): Promise<SignInPlace> => {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMilliseconds) })
  const told: Record<string, unknown> = Object(await response.json())
  if (told.issuer !== issuer) throw new Error(`${address} is not the metadata of ${issuer}`)
  const [authorization, token] = [told.authorization_endpoint, told.token_endpoint].map(
    (url) => new URL(String(url)).href,
  )
  if (!authorization || !token) throw new Error(`${address} lacks an endpoint`)
  return { issuer, clientId, endpoints: { authorization, token } }
}
