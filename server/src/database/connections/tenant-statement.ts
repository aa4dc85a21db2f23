import pg from 'pg'
import utils from 'pg/lib/utils.js'
import { serialize } from 'pg-protocol'
import type { ListVersions } from '../versions.ts'
import { copyOf, copyWithRoom } from './byte-rows.ts'
import { answered, gather } from './connection.ts'
import { beginAsOf, beginAsTenant, type Session } from './session.ts'
import { type Prepared, prepared, type Query, type Row, type Statement } from './statement.ts'

/** Columns with JSON that is sent as it is, or with something around it. */
const asBytes: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { body: copyOf, items: copyWithRoom }

/** Bytes on connections that read rows so, else text. */
type Value = Buffer | string
type Column = { name: string; parse: (value: Value) => unknown }
/** By the names of statements. The columns of a prepared statement stay what they are. */
const columnsOf = new Map<string, Column[]>()

/** What `pg` has and does not declare. */
type Wire = pg.Connection & { submittedNamedStatements: Record<string, string> }
type OpenQuery = { hasBeenParsed(wire: Wire): boolean }

/** A query to `pg`, which takes no other on a connection that is shared; what it prepares for one is not needed here. */
const SubmittedQuery = class {} as unknown as new () => OpenQuery // by the next line it is one
Object.setPrototypeOf(SubmittedQuery.prototype, pg.Query.prototype)

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

const executeAndSync = Buffer.concat([serialize.execute(), serialize.sync()])
const sentBefore = ({ beginning, isSharded }: Session, tenantId: string | null, asOf: ListVersions | null): Buffer => {
  if (isSharded || tenantId === null) return Buffer.of()
  if (asOf) {
    const values = [tenantId, asOf.versions, asOf.source]
    return Buffer.concat([serialize.bind({ statement: beginAsOf.name, values }), serialize.execute()])
  }
  return Buffer.concat(
    beginning === undefined
      ? [serialize.bind({ statement: beginAsTenant.name, values: [tenantId] }), serialize.execute()]
      : [serialize.parse({ text: beginning }), serialize.bind({ values: [tenantId] }), serialize.execute()],
  )
}

/** The replica lacks something that the primary has. */
export class Behind extends Error {}

/**
 * A statement in a transaction of its own that begins by setting the tenant, if there is one. What is sent before one Sync is one
 * transaction to PostgreSQL, so it takes neither a `begin` nor a `commit`, and nobody's statement can fall between. It has
 * its answer when that transaction is committed. A connection without a pooler is prepared for what it begins with. Where the
 * tables are sharded, statements around it begin and end the transaction.
 */
class TenantStatement extends SubmittedQuery {
  readonly name: string
  readonly text: string
  readonly #values: unknown[]
  readonly #beginning: Buffer
  readonly #isNamed: boolean
  readonly #answer: (error: Error | null, rows: Row[]) => void
  #columns: Column[]
  readonly #rows: Row[] = []
  #hasBegun: boolean
  #isBehind = false

  constructor(
    session: Session,
    tenantId: string | null,
    asOf: ListVersions | null,
    { name, text, values }: Prepared,
    answer: (error: Error | null, rows: Row[]) => void,
  ) {
    super()
    this.name = name
    this.text = text
    this.#values = values
    this.#beginning = sentBefore(session, tenantId, asOf)
    this.#hasBegun = this.#beginning.length === 0
    this.#isNamed = session.beginning === undefined && name !== ''
    this.#answer = answer
    this.#columns = columnsOf.get(name) ?? []
  }

  /** It is written in one piece, because several writes cost more than a copy. */
  submit(connection: pg.Connection): void {
    const wire = connection as Wire // it is one, whatever its declaration leaves out
    const { name, text } = this
    // A value that cannot be sent fails here, before anything is.
    const statement = this.#isNamed ? name : ''
    const bind = serialize.bind({ statement, values: this.#values, valueMapper: utils.prepareValue })
    const parts = [this.#beginning]
    if (!this.#isNamed) parts.push(serialize.parse({ text }))
    else if (!this.hasBeenParsed(wire)) {
      parts.push(serialize.parse({ name, text }))
      wire.submittedNamedStatements[name] = text
    }
    parts.push(bind)
    if (this.#columns.length === 0) parts.push(serialize.describe({ type: 'P' }))
    parts.push(executeAndSync)
    wire.stream.write(Buffer.concat(parts))
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => {
      const parse: (text: string) => unknown = pg.types.getTypeParser(dataTypeID, 'text')
      const copy = asBytes[name]
      if (!copy) return { name, parse: (value) => parse(value.toString()) }
      return { name, parse: (value) => (typeof value === 'string' ? value : copy(value)) }
    })
    if (this.name !== '') columnsOf.set(this.name, this.#columns)
  }

  handleDataRow({ fields }: { fields: (Value | null)[] }): void {
    // What it begins with answers a row only there.
    if (!this.#hasBegun) {
      this.#isBehind = true
      return
    }
    const row: Row = {}
    let index = 0
    for (const { name, parse } of this.#columns) {
      const value = fields[index++]
      row[name] = value == null ? null : parse(value)
    }
    this.#rows.push(row)
  }

  handleCommandComplete(): void {
    this.#hasBegun = true
  }

  handleReadyForQuery(): void {
    this.#answer(this.#isBehind ? new Behind('the replica lacks a write') : null, this.#rows)
  }

  handleError(error: Error): void {
    this.#answer(error, [])
  }
}

export const readAsTenant = <R>(
  client: pg.ClientBase,
  session: Session,
  tenantId: string,
  statement: Statement,
  asOf: ListVersions | null = null,
): Promise<R[]> => {
  gather(client)
  if (!session.isSharded) return sendAlone(client, session, tenantId, statement, asOf)
  // All are sent at once. The commit ends a failed transaction, too; what fails tells by the statement.
  begin(client, session, tenantId).catch(() => {})
  const rows = sendAlone<R>(client, session, tenantId, statement)
  client.query('commit').catch(() => {})
  return rows
}

/** In a transaction of its own, with what goes over the connection at that moment. */
export const sendAlone = <R>(
  client: pg.ClientBase,
  session: Session,
  tenantId: string | null,
  statement: Statement,
  asOf: ListVersions | null = null,
): Promise<R[]> => {
  const rows = new Promise<R[]>((resolve, reject) => {
    client.query(
      new TenantStatement(session, tenantId, asOf, prepared(statement, session), (error, rows) => {
        if (error) reject(error)
        // The caller names the row type of the statement it wrote.
        else resolve(rows as R[])
      }),
    )
  })
  return answered(client, rows, session.responseMilliseconds)
}

/** A statement by itself that needs no tenant. */
export const queryAlone =
  (client: pg.ClientBase, session: Session): Query =>
  <R>(statement: Statement): Promise<R[]> => {
    // Behind a pooler, what it begins with makes the session ready.
    if (session.beginning !== undefined) return readAsTenant(client, session, '', statement)
    gather(client)
    return sendAlone(client, session, null, statement)
  }
