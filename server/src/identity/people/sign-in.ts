import type { Author, CalledFrom } from '../../audit/author.ts'
import { installation } from '../../audit/queries.ts'
import { networkOf } from '../../caller-address.ts'
import type { Query } from '../../database/connections/statement.ts'
import { auditChange } from '../audit-change.ts'
import { type Attempts, countAttempt, countAttempts, refundAttempts, resetAttempts } from './attempts.ts'
import { matchPasswords } from './passwords.ts'
import { type Account, emailKey, findAccounts } from './users.ts'

type SignIn =
  /** The accounts of the address that have this password; rarely more than one. */
  { users: [Account, ...Account[]] } | { refused: 'wrong' } | { refused: 'throttled'; retryAfterSeconds: number }

const windowSeconds = 15 * 60
/**
 * Failures are counted per account and network, and per network over all accounts. The attempts of one network do not
 * count against another, so an outsider cannot lock a user out.
 */
const limits = { accountFromNetwork: 5, network: 50 }

/** How long to wait, as people say it. */
export const inMinutes = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60)
  return minutes === 1 ? 'in a minute' : `in ${minutes} minutes`
}

/** A wrong password takes the same work and has the same result for an address with no, one or several accounts. */
export const signIn = async (query: Query, from: CalledFrom, email: string, password: string): Promise<SignIn> => {
  const network = networkOf(from.address)
  const accounts = await findAccounts(query, email)
  // Accounts are counted separately: the owner of one must not guess the password of another between own sign-ins.
  const keys = accounts.length === 0 ? [emailKey(email)] : accounts.map(({ id }) => id)
  const tried = keys.map((key) => `account ${key} from ${network}`)
  // Counting comes before the password check, so that concurrent guesses are counted too.
  const onAccounts = await countAttempts(query, tried, windowSeconds)
  const isClosed = ({ attempts }: Attempts) => attempts > limits.accountFromNetwork
  const closed = onAccounts.filter(isClosed)
  if (closed.length === onAccounts.length) {
    // One audit event per window, so that refused attempts do not fill the log.
    if (onAccounts.some(({ attempts }) => attempts === limits.accountFromNetwork + 1))
      await auditRefusal(query, from, accounts, 'throttled')
    return throttled(onAccounts)
  }
  const everyAccount = `address ${network}`
  const onNetwork = await countAttempt(query, everyAccount, windowSeconds)
  if (onNetwork.attempts > limits.network) {
    await refundAttempts(query, tried)
    if (onNetwork.attempts === limits.network + 1) await auditRefusal(query, from, [], 'throttled')
    return throttled([onNetwork])
  }
  const hashes = accounts.map(({ passwordHash }) => passwordHash)
  const matches = await matchPasswords(password, hashes)
  const isOpen = onAccounts.map((attempts, index) => matches[index] === true && !isClosed(attempts))
  const [first, ...others] = accounts.filter((_account, index) => isOpen[index])
  if (!first) {
    await auditRefusal(query, from, accounts, 'failed')
    return closed.length > 0 ? throttled(closed) : { refused: 'wrong' }
  }
  const opened = tried.filter((_name, index) => isOpen[index])
  await resetAttempts(query, opened)
  await refundAttempts(query, [everyAccount])
  return { users: [first, ...others] }
}

const auditedOneByOne = 8

/**
 * Refusals go to the log of the installation: the tenant is unknown, and no tenant may learn that its member has an account
 * elsewhere. An unknown address is not stored, because somebody may have typed a password there.
 *
 * The log is kept forever and anybody can fail to sign in. So per account and window the first few failures have an audit
 * event each, and then every doubling of their number has one. All unknown accounts count as one.
 */
const auditRefusal = async (query: Query, from: CalledFrom, [account]: Account[], action: string): Promise<void> => {
  const recordId = account?.id ?? 'unknown'
  const { attempts } = await countAttempt(query, `noted ${recordId}`, windowSeconds)
  if (attempts > auditedOneByOne && !Number.isInteger(Math.log2(attempts))) {
    // This commit takes as long as an audit event, so that the time does not tell a known address from an unknown one.
    await countAttempt(query, 'not noted', windowSeconds)
    return
  }
  const after = attempts > auditedOneByOne ? { failures: attempts } : null
  const event = { action, resource: 'sign_ins', recordId, after }
  await auditChange(query, installation, { kind: 'visitor', ...from }, event)
}

/** The event goes to the log of the tenant in which the user begins to work. */
export const auditSignIn = (query: Query, from: Author, tenantId: string, userId: string): Promise<void> =>
  auditChange(query, tenantId, from, { action: 'succeeded', resource: 'sign_ins', recordId: userId })

const throttled = (counted: readonly Attempts[]): SignIn => ({
  refused: 'throttled',
  retryAfterSeconds: Math.max(1, Math.min(...counted.map(({ seconds }) => seconds))),
})
