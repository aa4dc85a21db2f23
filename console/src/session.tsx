import { AuthorizationError, Masthead, OAuthClient, type OAuthSession, type Scope } from '@masthead/client'
import { Management, type ManagementScope, type Me } from '@masthead/client/management'
import { customerApi, managementApi } from '@masthead/contract'
import { createContext, use } from 'react'
import { signedInPath } from './paths.ts'

/** Who uses the console, and what calls the service for them. Tokens are in these objects and nowhere else. */
export type SignedIn = { masthead: Masthead; management: Management; me: Me }
/** Null when nobody is signed in; then `trouble` tells why, when it is not for want of trying. */
export type Session = { signedIn: SignedIn | null; trouble?: unknown }

type Wanted = { prompt?: 'none'; tenant?: string; returnTo?: string }
/** What must survive the way to the authorization server and back. */
type Pending = { state: string; codeVerifier: string; returnTo: string; isSilent: boolean }

const pendingKey = 'masthead.authorization'

/** To be called once, before anything is drawn: it may leave the page to ask the authorization server who is there. */
export const openSession = async (): Promise<Session> => {
  try {
    if (location.pathname === signedInPath) return await comeBack()
    // The portal is for everybody, and asks nobody to sign in.
    if (location.pathname.startsWith('/docs')) return { signedIn: null }
    await signIn({ prompt: 'none' })
    return await new Promise(() => {})
  } catch (trouble) {
    return { signedIn: null, trouble }
  }
}

const comeBack = async (): Promise<Session> => {
  const address = location.href
  const pending: Pending | null = JSON.parse(sessionStorage.getItem(pendingKey) ?? 'null')
  sessionStorage.removeItem(pendingKey)
  history.replaceState(null, '', pending?.returnTo ?? '/')
  // Opened by hand, or in another tab: there is nothing to come back to.
  if (!pending) return openSession()
  try {
    const oauth = await newClient()
    return { signedIn: await enter(await oauth.exchange(address, pending)) }
  } catch (error) {
    const code = error instanceof AuthorizationError ? error.code : null
    const isNobodyThere = pending.isSilent && code === 'login_required'
    const isCancelled = !pending.isSilent && code === 'access_denied'
    if (isNobodyThere || isCancelled) return { signedIn: null }
    throw error
  }
}

const enter = async (session: OAuthSession): Promise<SignedIn> => {
  const baseUrl = location.origin
  const masthead = new Masthead({ baseUrl, token: session })
  const management = new Management({ baseUrl, token: session.management })
  return { masthead, management, me: await management.me.get() }
}

/** Leaves the page. Whoever is signed in at the authorization server is back at once, without being asked. */
export const signIn = async ({ prompt, tenant, returnTo = hereOrStart() }: Wanted = {}): Promise<void> => {
  const oauth = await newClient()
  const { url, state, codeVerifier } = await oauth.createAuthorizationRequest({ prompt, tenant })
  const pending: Pending = { state, codeVerifier, returnTo, isSilent: prompt === 'none' }
  sessionStorage.setItem(pendingKey, JSON.stringify(pending))
  // Who goes back later must not be sent off again.
  location.replace(url)
}

/** Leaves the page, and with it the tokens. */
export const signOut = async (management: Management, everywhere: boolean): Promise<void> => {
  await management.me.signOut({ everywhere })
  leaveFor('/?signed-out')
}

/** Leaves the page for one that shows it to nobody any more. */
export const leaveFor = (address: string): void => {
  // A browser may keep the page as it is for who goes back to it.
  document.body.replaceChildren()
  addEventListener('pageshow', () => location.reload())
  location.assign(address)
}

const hereOrStart = (): string => (location.pathname === signedInPath ? '/' : location.pathname + location.search)

/** As the service tells it. */
type SignInPlace = {
  baseUrl: string
  issuer: string
  clientId: string
  endpoints: { authorization: string; token: string } | null
}

const newClient = async (): Promise<OAuthClient> => {
  const response = await fetch('/console.json')
  if (!response.ok) throw new Error(`The service does not say how to sign in: it answered with ${response.status}.`)
  const { baseUrl, issuer, clientId, endpoints }: SignInPlace = await response.json()
  // Tokens are for this address, and people are sent back to it.
  if (location.origin !== new URL(baseUrl).origin) await moveTo(baseUrl)
  return new OAuthClient({
    ...{ baseUrl, authUrl: issuer, clientId, redirectUri: baseUrl + signedInPath },
    endpoints: endpoints ?? undefined,
    // The contract lists them as plain texts.
    scopes: customerApi.scopes as Scope[],
    managementScopes: managementApi.scopes as ManagementScope[],
  })
}

const moveTo = (baseUrl: string): Promise<never> => {
  location.replace(baseUrl + location.pathname + location.search)
  return new Promise(() => {})
}

const SessionContext = createContext<Session>({ signedIn: null })
export const SessionProvider = SessionContext.Provider

export const useSession = (): Session => use(SessionContext)

/** For pages that are only shown to who is signed in. */
export const useSignedIn = (): SignedIn => {
  const { signedIn } = useSession()
  if (!signedIn) throw new Error('this page needs somebody who is signed in')
  return signedIn
}
export const useMasthead = (): Masthead => useSignedIn().masthead
export const useManagement = (): Management => useSignedIn().management
export const useMe = (): Me => useSignedIn().me
