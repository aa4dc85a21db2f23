import { createHash } from 'node:crypto'
import type { Query } from '../database/connection.ts'
import { hashPassword, isPassword } from './passwords.ts'
import { findUserByEmail, type User } from './users.ts'

export type SignIn = { user: User } | { refused: 'wrong' } | { refused: 'throttled'; retryAfterSeconds: number }

const windowSeconds = 15 * 60
/**
 * Failures are counted for an account as tried from one address, and for an address over all accounts. Nobody can use
 * up another address's tries, so an outsider cannot lock a user out.
 */
const limits = { accountFromAddress: 5, address: 50 }

/** The same answer, after the same work, for an unknown user and a wrong password. */
export const signIn = async (query: Query, email: string, password: string, address: string): Promise<SignIn> => {
  const keys = [
    { key: hash(`account ${email.normalize('NFC').toLowerCase()} from ${address}`), most: limits.accountFromAddress },
    { key: hash(`address ${address}`), most: limits.address },
  ]
  const retryAfterSeconds = await secondsToWait(query, keys)
  if (retryAfterSeconds > 0) return { refused: 'throttled', retryAfterSeconds }
  const user = await findUserByEmail(query, email)
  const matches = await isPassword(password, user?.passwordHash ?? (await nobodysHash()))
  if (user && matches) {
    await query({ text: 'delete from sign_in_failures where key_hash = $1', values: [keys[0]?.key] })
    return { user }
  }
  for (const { key } of keys) await noteFailure(query, key)
  return { refused: 'wrong' }
}

let nobody: Promise<string> | undefined
const nobodysHash = (): Promise<string> => {
  nobody ??= hashPassword('nobody has this password')
  return nobody
}

const secondsToWait = async (query: Query, keys: { key: Buffer; most: number }[]): Promise<number> => {
  const waits = await Promise.all(
    keys.map(async ({ key, most }) => {
      const [row] = await query<{ seconds: number }>({
        text: `select ceil(extract(epoch from first_at + $3 * interval '1 second' - now()))::integer as seconds
          from sign_in_failures where key_hash = $1 and failures >= $2 and first_at > now() - $3 * interval '1 second'`,
        values: [key, most, windowSeconds],
      })
      return row?.seconds ?? 0
    }),
  )
  return Math.max(...waits)
}

const noteFailure = async (query: Query, key: Buffer): Promise<void> => {
  await query({
    text: `insert into sign_in_failures (key_hash, failures, first_at) values ($1, 1, now())
      on conflict (key_hash) do update set
        failures = case when sign_in_failures.first_at > now() - $2 * interval '1 second' then sign_in_failures.failures + 1 else 1 end,
        first_at = case when sign_in_failures.first_at > now() - $2 * interval '1 second' then sign_in_failures.first_at else now() end`,
    values: [key, windowSeconds],
  })
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
