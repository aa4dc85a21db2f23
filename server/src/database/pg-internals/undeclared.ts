import type pg from 'pg'

/** What a client of `pg` has and does not declare. */
type Undeclared = { connection: pg.Connection; processID: number | null }

const undeclared = (client: pg.ClientBase): Undeclared => client as unknown as Undeclared // as its code has it

/** Through nothing else can a connection be given up at once. */
export const connectionOf = (client: pg.ClientBase): pg.Connection => undeclared(client).connection

/** PostgreSQL tells a client the process of its session. A pooler tells a number of its own. */
export const processToldTo = (client: pg.ClientBase): number | null => undeclared(client).processID
