import { createHash } from 'node:crypto'
import type { Query } from '../database/connection.ts'

/** How many attempts of a kind there were in a window with this one, and the seconds until the window ends. */
export type Attempts = { attempts: number; seconds: number }

/**
 * SQL: one that begins in the future was left by a clock that was set back since, and would last until then. Not one that
 * begins a moment later: of attempts sent all at once the first to be counted need not be the first that began.
 */
const isOpen = `sign_in_failures.first_at > now() - $2 * interval '1 second'
  and sign_in_failures.first_at <= now() + interval '1 minute'`

export const countAttempt = async (query: Query, what: string, windowSeconds: number): Promise<Attempts> => {
  const [counted] = await countAttempts(query, [what], windowSeconds)
  if (!counted) throw new Error('the attempt was not counted')
  return counted
}

/** Of each, in the same order, by one statement however many they are. */
export const countAttempts = async (
  query: Query,
  whats: readonly string[],
  windowSeconds: number,
): Promise<Attempts[]> => {
  const keys = whats.map(keyOf)
  const counted = await query<Attempts & { key: Buffer }>({
    text: `insert into sign_in_failures (key_hash, failures, first_at, window_seconds)
      select key, 1, now(), $2 from unnest($1::bytea[]) as key
      on conflict (key_hash) do update set
        failures = case when ${isOpen} then sign_in_failures.failures + 1 else 1 end,
        first_at = case when ${isOpen} then sign_in_failures.first_at else now() end
      returning key_hash as key, failures as attempts,
        ceil(extract(epoch from first_at + $2 * interval '1 second' - now()))::integer as seconds`,
    // In one order, so that two that count the same keys cannot deadlock.
    values: [keys.toSorted(Buffer.compare), windowSeconds],
  })
  return keys.flatMap((key) => counted.find((one) => one.key.equals(key)) ?? [])
}

export const attemptsSoFar = async (query: Query, what: string, windowSeconds: number): Promise<number> => {
  const [row] = await query<{ attempts: number }>({
    text: `select failures as attempts from sign_in_failures where key_hash = $1 and ${isOpen}`,
    values: [keyOf(what), windowSeconds],
  })
  return row?.attempts ?? 0
}

export const takeBackAttempts = (query: Query, whats: readonly string[]) =>
  query({
    text: 'update sign_in_failures set failures = failures - 1 where key_hash = any ($1::bytea[])',
    values: [whats.map(keyOf)],
  })

export const forgetAttempts = (query: Query, whats: readonly string[]) =>
  query({ text: 'delete from sign_in_failures where key_hash = any ($1::bytea[])', values: [whats.map(keyOf)] })

const deletedAtOnce = 20_000

/** Their window is over. Answers whether there may be more of them. */
export const deleteOldAttempts = async (query: Query): Promise<boolean> => {
  const [deleted] = await query<{ count: number }>({
    text: `with deleted as (
        delete from sign_in_failures where ctid in (
          select ctid from sign_in_failures where first_at < now() - window_seconds * interval '1 second'
          limit $1 for update skip locked)
        returning 1
      )
      select count(*)::integer as count from deleted`,
    values: [deletedAtOnce],
  })
  return deleted?.count === deletedAtOnce
}

/** Of what was typed only a hash is stored. */
const keyOf = (what: string): Buffer => createHash('sha256').update(what).digest()
