import { createHash } from 'node:crypto'
import { firstRow } from '../../database/connections/first-row.ts'
import type { Query } from '../../database/connections/statement.ts'
import { deleteBatch } from '../batch-deletion.ts'

/** The attempts in the window including this one, and the seconds until the window ends. */
export type Attempts = { attempts: number; seconds: number }

/**
 * A window that begins in the future was left by a clock that has been set back since, and would last too long. The minute
 * of tolerance allows for concurrent attempts, which need not be counted in the order in which they began.
 */
const isOpen = `sign_in_failures.first_at > now() - $2 * interval '1 second'
  and sign_in_failures.first_at <= now() + interval '1 minute'`

export const countAttempt = async (query: Query, name: string, windowSeconds: number): Promise<Attempts> => {
  const [counted] = await countAttempts(query, [name], windowSeconds)
  if (!counted) throw new Error('the attempt was not counted')
  return counted
}

/** Counts all names with one statement, and returns their counts in the same order. */
export const countAttempts = async (query: Query, names: readonly string[], windowSeconds: number) => {
  const keys = names.map(hashOf)
  const counted = await query<Attempts & { key: Buffer }>({
    text: `insert into sign_in_failures (key_hash, failures, first_at, window_seconds)
      select key, 1, now(), $2 from unnest($1::bytea[]) as key
      on conflict (key_hash) do update set
        failures = case when ${isOpen} then sign_in_failures.failures + 1 else 1 end,
        first_at = case when ${isOpen} then sign_in_failures.first_at else now() end
      returning key_hash as key, failures as attempts,
        ceil(extract(epoch from first_at + $2 * interval '1 second' - now()))::integer as seconds`,
    // Sorted keys keep two concurrent statements from a deadlock.
    values: [keys.toSorted(Buffer.compare), windowSeconds],
  })
  return keys.flatMap((key) => counted.find((one) => one.key.equals(key)) ?? [])
}

export const countedAttempts = async (query: Query, name: string, windowSeconds: number): Promise<number> => {
  const row = await firstRow<{ attempts: number }>(query, {
    text: `select failures as attempts from sign_in_failures where key_hash = $1 and ${isOpen}`,
    values: [hashOf(name), windowSeconds],
  })
  return row?.attempts ?? 0
}

export const refundAttempts = (query: Query, names: readonly string[]) =>
  query({
    text: 'update sign_in_failures set failures = failures - 1 where key_hash = any ($1::bytea[])',
    values: [names.map(hashOf)],
  })

export const resetAttempts = (query: Query, names: readonly string[]) =>
  query({ text: 'delete from sign_in_failures where key_hash = any ($1::bytea[])', values: [names.map(hashOf)] })

export const deleteOldAttempts = (query: Query): Promise<boolean> =>
  deleteBatch(query, 'sign_in_failures', `first_at < now() - window_seconds * interval '1 second'`)

/** Names hold what a visitor typed, so only their hashes are stored. */
const hashOf = (name: string): Buffer => createHash('sha256').update(name).digest()
