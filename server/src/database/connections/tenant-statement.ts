import pg from 'pg'
import { type Sent, sendInOneMessage } from '../pg-internals/one-message.ts'
import { usesInternals } from '../pg-internals/switch.ts'
import type { ListVersions } from '../versions.ts'
import { answered } from './connection.ts'
import { beginAsOf, beginAsTenant, type Session } from './session.ts'
import { prepared, type Query, type Row, type Statement } from './statement.ts'

/** Begins a transaction, in which the tenant is set until it ends. It is sent at once with what follows. */
export const begin = (client: pg.ClientBase, session: Session, tenantId: string | null): Promise<unknown> => {
  const { beginning, isSharded } = session
  const tenant = pg.escapeLiteral(tenantId ?? '')
  const pooled = beginning === undefined ? 'begin' : `begin; ${beginning.replace('$1', tenant)}`
  const set = `set local masthead.tenant = ${tenant}`
  if (tenantId === null) return client.query(pooled)
  // Citus passes the whole of what was sent on to the servers of shards.
  if (isSharded) return Promise.all([client.query(pooled), client.query(set)])
  return client.query(beginning === undefined ? `begin; ${set}` : pooled)
}

/** The replica lacks something that the primary has. */
export class Behind extends Error {}

/** The select that sets the tenant. A connection without a pooler is prepared for it. */
const beginningFor = ({ beginning }: Session, tenantId: string, asOf: ListVersions | null): Sent => {
  if (asOf) return { ...beginAsOf, values: [tenantId, asOf.versions, asOf.source], isPrepared: true }
  const values = [tenantId]
  if (beginning === undefined) return { ...beginAsTenant, values, isPrepared: true }
  return { name: '', text: beginning, values, isPrepared: false }
}

export const readAsTenant = <R>(
  client: pg.ClientBase,
  session: Session,
  tenantId: string,
  statement: Statement,
  asOf: ListVersions | null = null,
): Promise<R[]> => {
  if (!session.isSharded) return sendAlone(client, session, tenantId, statement, asOf)
  // All are sent at once. The commit ends a failed transaction, too; what fails tells by the statement.
  begin(client, session, tenantId).catch(() => {})
  const rows = sendAlone<R>(client, session, tenantId, statement)
  client.query('commit').catch(() => {})
  return rows
}

/** In a transaction of its own that begins by setting the tenant, if there is one, with what goes over the connection at that moment. */
export const sendAlone = <R>(
  client: pg.ClientBase,
  session: Session,
  tenantId: string | null,
  statement: Statement,
  asOf: ListVersions | null = null,
): Promise<R[]> => {
  const { name, text, values } = prepared(statement, session)
  const sent = { name, text, values, isPrepared: session.beginning === undefined && name !== '' }
  // Where the tables are sharded, statements around it begin and end the transaction.
  const beginning = session.isSharded || tenantId === null ? null : beginningFor(session, tenantId, asOf)
  const send = usesInternals() ? sendInOneMessage : sendByFour
  const rows = send(client, beginning, sent).then(({ rows, hasBegunWithRow }) => {
    if (asOf && hasBegunWithRow) throw new Behind('the replica lacks a write')
    // The caller names the row type of the statement it wrote.
    return rows as R[]
  })
  return answered(client, rows, session.responseMilliseconds)
}

/** The same by a `begin`, the beginning, the statement and a `commit`, as `pg` documents it. */
const sendByFour: typeof sendInOneMessage = async (client, beginning, sent) => {
  const ask = ({ name, text, values, isPrepared }: Sent) =>
    client.query<Row>({ text, values, ...(isPrepared && { name }) })
  if (!beginning) return { rows: withBytes((await ask(sent)).rows), hasBegunWithRow: false }
  const [, begun, { rows }] = await Promise.all([
    client.query('begin'),
    ask(beginning),
    ask(sent),
    client.query('commit'),
  ])
  return { rows: withBytes(rows), hasBegunWithRow: begun.rows.length > 0 }
}

/** Columns named `body` and `items` as they are stored. */
const withBytes = (rows: Row[]): Row[] =>
  rows.map((row) => {
    const bytes = (['body', 'items'] as const).filter((name) => typeof row[name] === 'string')
    return { ...row, ...Object.fromEntries(bytes.map((name) => [name, Buffer.from(String(row[name]))])) }
  })

/** A statement by itself that needs no tenant. */
export const queryAlone =
  (client: pg.ClientBase, session: Session): Query =>
  <R>(statement: Statement): Promise<R[]> => {
    // Behind a pooler, what it begins with makes the session ready.
    if (session.beginning !== undefined) return readAsTenant(client, session, '', statement)
    return sendAlone(client, session, null, statement)
  }
