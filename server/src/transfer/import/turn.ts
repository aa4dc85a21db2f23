import type pg from 'pg'
import { Refusal } from '../../refusal.ts'

/** Imports and undos of a tenant take turns; the lock goes with the connection. */
export const whileAlone = async <T>(client: pg.Client, work: () => Promise<T>): Promise<T> => {
  const { rows } = await client.query<{ taken: boolean }>(
    `select pg_try_advisory_lock(hashtextextended('masthead import ' || current_tenant()::text, 0)) as taken`,
  )
  if (rows[0]?.taken) return work()
  throw new Refusal('another import or undo of this tenant is under way: wait until it has ended')
}

/** Whether somebody is at it now. */
export const isTaken = async (client: pg.Client): Promise<boolean> => {
  try {
    await whileAlone(client, async () => {})
    return false
  } catch (error) {
    if (error instanceof Refusal) return true
    throw error
  }
}
