import type { Author, CalledFrom } from '../audit/author.ts'
import { auditIn, installation } from '../audit/queries.ts'
import { networkOf } from '../caller-address.ts'
import type { Query } from '../database/connection.ts'
import { type Attempts, countAttempt, countAttempts, forgetAttempts, takeBackAttempts } from './attempts.ts'
import { arePassword } from './passwords.ts'
import { type Account, emailKey, findAccounts } from './users.ts'

export type SignIn =
  /** The accounts of the address that have this password: one, as a rule. */
  { users: [Account, ...Account[]] } | { refused: 'wrong' } | { refused: 'throttled'; retryAfterSeconds: number }

const windowSeconds = 15 * 60
/**
 * Failures are counted for an account as tried from one network, and for a network over all accounts. Nobody can use
 * up another network's attempts, so an outsider cannot lock a user out.
 */
const limits = { accountFromNetwork: 5, network: 50 }

/** The same answer, after the same work, for a wrong password and for an address with no, one or several accounts. */
export const signIn = async (query: Query, from: CalledFrom, email: string, password: string): Promise<SignIn> => {
  const network = networkOf(from.address)
  const accounts = await findAccounts(query, email)
  // Each account by itself: whoever has one of several must not guess the password of another by signing in.
  const tried = (accounts.length === 0 ? [emailKey(email)] : accounts.map(({ id }) => id)).map(
    (account) => `account ${account} from ${network}`,
  )
  // Counted before the password is looked at, so that guesses sent all at once are counted too.
  const onAccounts = await countAttempts(query, tried, windowSeconds)
  const isClosed = ({ attempts }: Attempts) => attempts > limits.accountFromNetwork
  const closed = onAccounts.filter(isClosed)
  if (closed.length === onAccounts.length) {
    // One entry a window: whoever is refused must not fill the log.
    if (onAccounts.some(({ attempts }) => attempts === limits.accountFromNetwork + 1))
      await noteRefusal(query, from, accounts, 'throttled')
    return throttled(onAccounts)
  }
  const everyAccount = `address ${network}`
  const onNetwork = await countAttempt(query, everyAccount, windowSeconds)
  if (onNetwork.attempts > limits.network) {
    await takeBackAttempts(query, tried)
    if (onNetwork.attempts === limits.network + 1) await noteRefusal(query, from, [], 'throttled')
    return throttled([onNetwork])
  }
  const hashes = accounts.map(({ passwordHash }) => passwordHash)
  const matches = await arePassword(password, hashes)
  const isMatch = (place: number) =>
    matches[place] === true && onAccounts[place] !== undefined && !isClosed(onAccounts[place])
  const [first, ...others] = accounts.filter((_account, place) => isMatch(place))
  if (!first) {
    await noteRefusal(query, from, accounts, 'failed')
    return closed.length > 0 ? throttled(closed) : { refused: 'wrong' }
  }
  await forgetAttempts(
    query,
    tried.filter((_what, place) => isMatch(place)),
  )
  await takeBackAttempts(query, [everyAccount])
  return { users: [first, ...others] }
}

const notedOneByOne = 8

/**
 * In the log of the installation: which tenant was meant is not known, and no tenant may learn that its member has an
 * account elsewhere. Of somebody unknown nothing is stored that was typed: it may be a password.
 *
 * The log keeps entries for ever, and failures are made by anybody. So in a window those of one account, from whatever
 * networks, are noted one by one while they are few, and then each time they have doubled; all unknown accounts are one.
 */
const noteRefusal = async (query: Query, from: CalledFrom, [account]: Account[], action: string): Promise<void> => {
  const recordId = account?.id ?? 'unknown'
  const { attempts } = await countAttempt(query, `noted ${recordId}`, windowSeconds)
  if (attempts > notedOneByOne && !Number.isInteger(Math.log2(attempts))) {
    // A commit as an entry would be: the time that it takes must not tell a known address from an unknown one.
    await countAttempt(query, 'not noted', windowSeconds)
    return
  }
  const after = attempts > notedOneByOne ? JSON.stringify({ failures: attempts }) : null
  await auditIn(query, installation, { kind: 'visitor', ...from }, [{ action, resource: 'sign_ins', recordId, after }])
}

/** In the log of the tenant in which the user begins to work. */
export const noteSignIn = (query: Query, from: Author, tenantId: string, userId: string): Promise<void> =>
  auditIn(query, tenantId, from, [{ action: 'succeeded', resource: 'sign_ins', recordId: userId }])

const throttled = (counted: readonly Attempts[]): SignIn => ({
  refused: 'throttled',
  retryAfterSeconds: Math.max(1, Math.min(...counted.map(({ seconds }) => seconds))),
})
