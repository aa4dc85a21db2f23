import type { Visit } from '../http/pages/visit.ts'
import type { Account } from '../identity/people/users.ts'
import { endSession } from './adapter.ts'
import type { Dependencies } from './interactions.ts'
import { sessionCookie, sessionSeconds } from './session-cookie.ts'

/** Signs a visitor in without an authorization request: one who has just given the password on a page of ours. */
export const openSession = async (
  dependencies: Dependencies,
  { request, response }: Visit,
  account: Account,
): Promise<void> => {
  const { server, database, issuer } = dependencies
  const { provider } = await server.loaded()
  // The provider decides by this header whether a cookie may be secure.
  request.headers['x-forwarded-proto'] = new URL(issuer).protocol.slice(0, -1)
  const context = provider.createContext(request, response)
  const former = await provider.Session.get(context)
  const session = new provider.Session()
  session.loginAccount({ accountId: account.id, loginTs: account.loginTs })
  const id = await session.save(sessionSeconds)
  context.cookies.set(provider.cookieName('session'), id, {
    ...sessionCookie(issuer),
    expires: new Date(Date.now() + sessionSeconds * 1_000),
  })
  await endSession(database.query, former.uid)
}
