import { createHash } from 'node:crypto'
import type { CalledFrom } from '../audit/author.ts'
import { auditIn, auditUser, installation } from '../audit/queries.ts'
import { networkOf } from '../caller-address.ts'
import type { Query } from '../database/connection.ts'
import { hashPassword, isPassword } from './passwords.ts'
import { emailKey, findUserByEmail, type User } from './users.ts'

export type SignIn = { user: User } | { refused: 'wrong' } | { refused: 'throttled'; retryAfterSeconds: number }

const windowSeconds = 15 * 60
/**
 * Failures are counted for an account as tried from one address, and for an address over all accounts. Nobody can use
 * up another address's tries, so an outsider cannot lock a user out.
 */
const limits = { accountFromAddress: 5, address: 50 }

/** The same answer, after the same work, for an unknown user and a wrong password. */
export const signIn = async (query: Query, from: CalledFrom, email: string, password: string): Promise<SignIn> => {
  const network = networkOf(from.address)
  const account = hash(`account ${emailKey(email)} from ${network}`)
  const everyAccount = hash(`address ${network}`)
  // Counted before the password is looked at, so that guesses sent all at once are counted too.
  const onAccount = await countTry(query, account)
  if (onAccount.tries > limits.accountFromAddress) {
    // One entry a window: whoever is refused must not fill the log.
    if (onAccount.tries === limits.accountFromAddress + 1) {
      await note(query, from, await findUserByEmail(query, email), 'throttled')
    }
    return throttled(onAccount)
  }
  const onAddress = await countTry(query, everyAccount)
  if (onAddress.tries > limits.address) {
    await takeBack(query, account)
    if (onAddress.tries === limits.address + 1) await note(query, from, null, 'throttled')
    return throttled(onAddress)
  }
  const user = await findUserByEmail(query, email)
  const matches = await isPassword(password, user?.passwordHash ?? (await nobodysHash()))
  if (!user || !matches) {
    await note(query, from, user, 'failed')
    return { refused: 'wrong' }
  }
  await query({ text: 'delete from sign_in_failures where key_hash = $1', values: [account] })
  await takeBack(query, everyAccount)
  await note(query, from, user, 'succeeded')
  return { user }
}

/** In the tenants of the user. Of somebody unknown nothing is kept that was typed: it may be a password. */
const note = (query: Query, from: CalledFrom, user: User | null, action: string): Promise<void> => {
  const author = { kind: 'visitor', ...from } as const
  const happening = { action, resource: 'sign_ins' }
  if (user) return auditUser(query, user.id, author, happening)
  return auditIn(query, installation, author, [{ ...happening, recordId: 'unknown' }])
}

let nobody: Promise<string> | undefined
const nobodysHash = (): Promise<string> => {
  nobody ??= hashPassword('nobody has this password')
  return nobody
}

type Tries = { tries: number; seconds: number }

const throttled = ({ seconds }: Tries): SignIn => ({ refused: 'throttled', retryAfterSeconds: Math.max(seconds, 1) })

/**
 * SQL: one that begins in the future was left by a clock that was set back since, and would last until then. Not one that
 * begins a moment later: of tries sent all at once the first to be counted need not be the first that began.
 */
const isOpen = `sign_in_failures.first_at > now() - $2 * interval '1 second'
  and sign_in_failures.first_at <= now() + interval '1 minute'`

/** How many there were in the window with this one, and the seconds until the window ends. */
const countTry = async (query: Query, key: Buffer): Promise<Tries> => {
  const [counted] = await query<Tries>({
    text: `insert into sign_in_failures (key_hash, failures, first_at) values ($1, 1, now())
      on conflict (key_hash) do update set
        failures = case when ${isOpen} then sign_in_failures.failures + 1 else 1 end,
        first_at = case when ${isOpen} then sign_in_failures.first_at else now() end
      returning failures as tries, ceil(extract(epoch from first_at + $2 * interval '1 second' - now()))::integer as seconds`,
    values: [key, windowSeconds],
  })
  if (!counted) throw new Error('the try was not counted')
  return counted
}

const takeBack = (query: Query, key: Buffer) =>
  query({ text: 'update sign_in_failures set failures = failures - 1 where key_hash = $1', values: [key] })

/** Their window ended long ago. */
export const deleteOldFailures = async (query: Query): Promise<void> => {
  await query({ text: `delete from sign_in_failures where first_at < now() - interval '1 day'` })
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
