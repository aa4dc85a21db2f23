import { createHash } from 'node:crypto'
import type { Query } from '../database/connection.ts'

/** How many attempts of a kind there were in a window with this one, and the seconds until the window ends. */
export type Attempts = { attempts: number; seconds: number }

const longestWindowSeconds = 24 * 60 * 60

/**
 * SQL: one that begins in the future was left by a clock that was set back since, and would last until then. Not one that
 * begins a moment later: of attempts sent all at once the first to be counted need not be the first that began.
 */
const isOpen = `sign_in_failures.first_at > now() - $2 * interval '1 second'
  and sign_in_failures.first_at <= now() + interval '1 minute'`

export const countAttempt = async (query: Query, what: string, windowSeconds: number): Promise<Attempts> => {
  const [counted] = await query<Attempts>({
    text: `insert into sign_in_failures (key_hash, failures, first_at) values ($1, 1, now())
      on conflict (key_hash) do update set
        failures = case when ${isOpen} then sign_in_failures.failures + 1 else 1 end,
        first_at = case when ${isOpen} then sign_in_failures.first_at else now() end
      returning failures as attempts,
        ceil(extract(epoch from first_at + $2 * interval '1 second' - now()))::integer as seconds`,
    values: [keyOf(what), windowSeconds],
  })
  if (!counted) throw new Error('the attempt was not counted')
  return counted
}

export const takeBackAttempt = (query: Query, what: string) =>
  query({ text: 'update sign_in_failures set failures = failures - 1 where key_hash = $1', values: [keyOf(what)] })

export const forgetAttempts = (query: Query, what: string) =>
  query({ text: 'delete from sign_in_failures where key_hash = $1', values: [keyOf(what)] })

/** Their window ended long ago. */
export const deleteOldAttempts = async (query: Query): Promise<void> => {
  await query({
    text: `delete from sign_in_failures where first_at < now() - $1 * interval '1 second'`,
    values: [longestWindowSeconds],
  })
}

/** Of what was typed only a hash is stored. */
const keyOf = (what: string): Buffer => createHash('sha256').update(what).digest()
