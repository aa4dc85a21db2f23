import {
  AuthorizationError,
  ConnectionError,
  isProblem,
  Masthead,
  OAuthClient,
  type OAuthSession,
  type Scope,
} from '@masthead/client'
import { Management, type ManagementScope, type Me } from '@masthead/client/management'
import { customerApi, managementApi } from '@masthead/contract'
import { createContext, use } from 'react'
import { callHooks } from './connection.ts'
import { forgetDrafts } from './forms/draft-storage.ts'
import { inTenant, isOfPortal, signedInPath, tenantIn } from './paths.ts'

/** Who uses the console, and what calls the service for them. Tokens are in these objects and nowhere else. */
type SignedIn = { masthead: Masthead; management: Management; me: Me }
type Session = {
  /** Null when nobody is signed in. */
  signedIn: SignedIn | null
  /** Why nobody is, when it is not for want of trying. */
  trouble?: unknown
  /** The tenant in the address, where the person who is signed in is no member of it. */
  refused?: string
}

type Wanted = { prompt?: 'login'; tenant?: string; returnTo?: string }
/** What must survive the way to the authorization server and back. */
type Pending = {
  state: string
  codeVerifier: string
  returnTo: string
  /** By its slug; null for the one that was used last. */
  tenant: string | null
  /** The tenant of the address, when it is known already that the person is no member of it. */
  refused?: string | undefined
  isSilent: boolean
}

const pendingKey = 'masthead.authorization'
/** Whether somebody is signed in, as far as this browser knows: others read the portal without being asked. */
const hintKey = 'masthead.signed-in'

/** To be called once, before anything is drawn: it asks the authorization server who is there. */
export const openSession = async (): Promise<Session> => {
  try {
    if (location.pathname === signedInPath) return await comeBack()
    // The portal is for everybody, and asks nobody to sign in.
    if (isOfPortal(location.pathname) && localStorage.getItem(hintKey) === null) return { signedIn: null }
    return await askWhoIsThere(tenantIn(location.pathname))
  } catch (trouble) {
    return { signedIn: null, trouble }
  }
}

/** Where the service itself answers, the page stays and reads where it would be sent; otherwise it is left. */
const askWhoIsThere = async (tenant: string | null, refused?: string): Promise<Session> => {
  const { oauth, asked, answer } = await askSilently(tenant)
  const pending: Pending = { ...asked, tenant, refused, isSilent: true, returnTo: hereOrStart() }
  if (answer !== null) return enterBy(oauth, answer, pending)
  leaveToSignIn(asked.url, pending)
  return new Promise(() => {})
}

/** `answer` is the address to which the authorization server would send the page; null where only leaving the page would tell. */
const askSilently = async (tenant: string | null) => {
  const oauth = await newClient()
  const asked = await oauth.createAuthorizationRequest({ prompt: 'none', tenant: tenant ?? undefined })
  if (new URL(asked.url).origin !== location.origin) return { oauth, asked, answer: null }
  const { url } = await reach(asked.url)
  return { oauth, asked, answer: new URL(url).pathname === signedInPath ? url : null }
}

const comeBack = async (): Promise<Session> => {
  const address = location.href
  const pending: Pending | null = JSON.parse(sessionStorage.getItem(pendingKey) ?? 'null')
  sessionStorage.removeItem(pendingKey)
  history.replaceState(null, '', pending?.returnTo ?? '/')
  // Opened by hand, or in another tab: there is nothing to come back to.
  if (!pending) return openSession()
  return enterBy(await newClient(), address, pending)
}

/** The address is that to which the authorization server sends people back. */
const enterBy = async (oauth: OAuthClient, address: string, pending: Pending): Promise<Session> => {
  const { isSilent, tenant, refused } = pending
  try {
    return settle(await enter(await oauth.exchange(address, pending)), refused)
  } catch (error) {
    const code = error instanceof AuthorizationError ? error.code : null
    if (code === 'login_required' && isSilent) {
      localStorage.removeItem(hintKey)
      return { signedIn: null }
    }
    // They cancelled, or are no member: then they are signed in, and can be told where they are one.
    if (code === 'access_denied' && tenant !== null) return askWhoIsThere(null, tenant)
    if (code === 'access_denied' && !isSilent) return { signedIn: null }
    throw error
  }
}

/** Sees to it that the address names the tenant. */
const settle = (signedIn: SignedIn, refused: string | undefined): Session => {
  localStorage.setItem(hintKey, '')
  const { pathname, search, hash } = location
  if (isOfPortal(pathname)) return { signedIn }
  const { slug } = signedIn.me.tenant
  const named = refused ?? tenantIn(pathname)
  if (named !== null && named !== slug) return { signedIn, refused: named }
  if (named === null) history.replaceState(null, '', inTenant(slug, pathname) + search + hash)
  return { signedIn }
}

const enter = async (session: OAuthSession): Promise<SignedIn> => {
  const baseUrl = location.origin
  const masthead = new Masthead({ baseUrl, token: session, hooks: callHooks })
  const management = new Management({ baseUrl, token: session.management, hooks: callHooks })
  return { masthead, management, me: await management.me.get() }
}

/** Whether a call failed because nobody is signed in any more: they signed out elsewhere, or it is long ago. */
export const isSessionOver = (error: unknown): boolean =>
  isProblem(error, 'invalid_token') || (error instanceof AuthorizationError && error.code === 'invalid_grant')

let isLeaving = false
/** Whether the page is being left to sign in, after which it is opened again as it is, or because somebody signed out. */
export const isLeavingSession = (): boolean => isLeaving

/** Leaves the page. Whoever is signed in at the authorization server is back at once, without being asked. */
export const signIn = async (wanted: Wanted = {}): Promise<void> => {
  const { prompt, tenant = tenantIn(location.pathname), returnTo = hereOrStart() } = wanted
  const oauth = await newClient()
  const asked = await oauth.createAuthorizationRequest({ prompt, tenant: tenant ?? undefined })
  leaveToSignIn(asked.url, { ...asked, tenant, returnTo, isSilent: false })
}

const leaveToSignIn = (url: string, pending: Pending): void => {
  const { state, codeVerifier, returnTo, tenant, refused, isSilent } = pending
  sessionStorage.setItem(pendingKey, JSON.stringify({ state, codeVerifier, returnTo, tenant, refused, isSilent }))
  isLeaving = true
  // Who goes back later must not be sent off again.
  location.replace(url)
}

/** Leaves the page, and with it the tokens. */
export const signOut = async ({ management, me }: SignedIn, everywhere: boolean): Promise<void> => {
  try {
    await management.me.signOut({ everywhere })
  } catch (error) {
    if (!isSessionOver(error)) throw error
    // Only the access of this page has ended: somebody may be signed in all the same, and would be again on the next page.
    const present = await findPresent()
    if (everywhere && present?.me.userId !== me.userId) throw error
    await present?.management.me.signOut({ everywhere })
  }
  leaveFor('/?signed-out')
}

/** The user that this browser is signed in as now; null where there is none, or where only an outside issuer could tell. */
const findPresent = async (): Promise<SignedIn | null> => {
  const { oauth, asked, answer } = await askSilently(null)
  if (answer === null) return null
  try {
    return await enter(await oauth.exchange(answer, asked))
  } catch (error) {
    if (error instanceof AuthorizationError) return null
    throw error
  }
}

/** Leaves the page for one that shows it to nobody any more. */
export const leaveFor = (address: string): void => {
  forgetDrafts()
  isLeaving = true
  localStorage.removeItem(hintKey)
  // A browser may keep the page as it is for who goes back to it.
  document.body.replaceChildren()
  addEventListener('pageshow', () => location.reload())
  location.assign(address)
}

const hereOrStart = (): string => {
  const { pathname, search, hash } = location
  return pathname === signedInPath ? '/' : pathname + search + hash
}

/** As the service tells it. */
type SignInPlace = {
  baseUrl: string
  issuer: string
  clientId: string
  endpoints: { authorization: string; token: string } | null
}

const reach = (url: string): Promise<Response> =>
  fetch(url).catch((cause: unknown) => {
    throw new ConnectionError(`GET ${url}`, cause)
  })

const newClient = async (): Promise<OAuthClient> => {
  const response = await reach('/console.json')
  if (!response.ok) throw new Error(`The service does not say how to sign in: it answered with ${response.status}.`)
  const { baseUrl, issuer, clientId, endpoints }: SignInPlace = await response.json()
  // Tokens are for this address, and people are sent back to it.
  if (location.origin !== new URL(baseUrl).origin) await moveTo(baseUrl)
  return new OAuthClient({
    baseUrl,
    authUrl: issuer,
    clientId,
    redirectUri: baseUrl + signedInPath,
    endpoints: endpoints ?? undefined,
    // The contract lists them as plain texts.
    scopes: customerApi.scopes as Scope[],
    managementScopes: managementApi.scopes as ManagementScope[],
  })
}

const moveTo = (baseUrl: string): Promise<never> => {
  location.replace(baseUrl + hereOrStart())
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
