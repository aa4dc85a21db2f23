import pg from 'pg'
import { connectionOf } from '../pg-internals/undeclared.ts'
import type { DatabaseAddress } from './address.ts'
import { clientOptions, watch } from './connection.ts'
import { prepareSession, type Session } from './session.ts'

/** Connections that are acquired one at a time. One that breaks while idle is replaced at the next use. */
export const openPool = (address: DatabaseAddress, size: number, session: Session): pg.Pool => {
  const pool = new pg.Pool({
    ...clientOptions(address.connectionString),
    max: size,
    // A server that does not answer a farewell must not keep the process.
    allowExitOnIdle: true,
    onConnect: (client) => {
      watch(client)
      return prepareSession(client, address, session, 'writing')
    },
  })
  pool.on('error', () => {})
  return pool
}

/** From a pool, but none that was open when another broke: it may lead nowhere too, and say so only by silence. */
export const acquireFrom = (pool: pg.Pool): (() => Promise<pg.PoolClient>) => {
  const openedAt = new WeakMap<pg.ClientBase, number>()
  let brokenAt = Number.NEGATIVE_INFINITY
  pool.on('connect', (client) => {
    openedAt.set(client, performance.now())
    client.on('error', () => {
      brokenAt = performance.now()
    })
  })
  return async () => {
    for (;;) {
      const client = await pool.connect()
      if ((openedAt.get(client) ?? 0) > brokenAt) return client
      client.release(true)
      // It need not take leave: nobody may be there to hear it.
      connectionOf(client).stream.destroy()
    }
  }
}
