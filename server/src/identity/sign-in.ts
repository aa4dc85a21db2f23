import type { Author, CalledFrom } from '../audit/author.ts'
import { auditIn, installation } from '../audit/queries.ts'
import { networkOf } from '../caller-address.ts'
import type { Query } from '../database/connection.ts'
import { type Attempts, countAttempt, forgetAttempts, takeBackAttempt } from './attempts.ts'
import { arePassword } from './passwords.ts'
import { emailKey, findAccounts, type User } from './users.ts'

export type SignIn =
  /** The accounts of the address that have this password: one, as a rule. */
  { users: [User, ...User[]] } | { refused: 'wrong' } | { refused: 'throttled'; retryAfterSeconds: number }

const windowSeconds = 15 * 60
/**
 * Failures are counted for an address as tried from one network, and for a network over all addresses. Nobody can use
 * up another network's attempts, so an outsider cannot lock a user out.
 */
const limits = { accountFromNetwork: 5, network: 50 }

/** The same answer, after the same work, for a wrong password and for an address with no, one or several accounts. */
export const signIn = async (query: Query, from: CalledFrom, email: string, password: string): Promise<SignIn> => {
  const network = networkOf(from.address)
  const account = `account ${emailKey(email)} from ${network}`
  const everyAccount = `address ${network}`
  // Counted before the password is looked at, so that guesses sent all at once are counted too.
  const onAccount = await countAttempt(query, account, windowSeconds)
  if (onAccount.attempts > limits.accountFromNetwork) {
    // One entry a window: whoever is refused must not fill the log.
    if (onAccount.attempts === limits.accountFromNetwork + 1) {
      await noteRefusal(query, from, await findAccounts(query, email), 'throttled')
    }
    return throttled(onAccount)
  }
  const onNetwork = await countAttempt(query, everyAccount, windowSeconds)
  if (onNetwork.attempts > limits.network) {
    await takeBackAttempt(query, account)
    if (onNetwork.attempts === limits.network + 1) await noteRefusal(query, from, [], 'throttled')
    return throttled(onNetwork)
  }
  const accounts = await findAccounts(query, email)
  const matches = await arePassword(
    password,
    accounts.map(({ passwordHash }) => passwordHash),
  )
  const [first, ...others] = accounts.filter((_account, place) => matches[place])
  if (!first) {
    await noteRefusal(query, from, accounts, 'failed')
    return { refused: 'wrong' }
  }
  await forgetAttempts(query, account)
  await takeBackAttempt(query, everyAccount)
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
const noteRefusal = async (query: Query, from: CalledFrom, [account]: User[], action: string): Promise<void> => {
  const recordId = account?.id ?? 'unknown'
  const { attempts } = await countAttempt(query, `noted ${recordId}`, windowSeconds)
  if (attempts > notedOneByOne && !Number.isInteger(Math.log2(attempts))) return
  const after = attempts > notedOneByOne ? JSON.stringify({ failures: attempts }) : null
  await auditIn(query, installation, { kind: 'visitor', ...from }, [{ action, resource: 'sign_ins', recordId, after }])
}

/** In the log of the tenant in which the user begins to work. */
export const noteSignIn = (query: Query, from: Author, tenantId: string, userId: string): Promise<void> =>
  auditIn(query, tenantId, from, [{ action: 'succeeded', resource: 'sign_ins', recordId: userId }])

const throttled = ({ seconds }: Attempts): SignIn => ({ refused: 'throttled', retryAfterSeconds: Math.max(seconds, 1) })
