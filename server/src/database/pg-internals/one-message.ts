import pg from 'pg'
import utils from 'pg/lib/utils.js'
import { serialize } from 'pg-protocol'
import { copyOf, copyWithRoom } from './byte-rows.ts'

/** A statement, whose columns are known by its name from the second time on. It is prepared by that name where `isPrepared`. */
export type Sent = { name: string; text: string; values: unknown[]; isPrepared: boolean }

type Row = Record<string, unknown>

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

const executeAndSync = Buffer.concat([serialize.execute(), serialize.sync()])

/** What a connection was prepared for has its text there already. */
const beginningOf = ({ name, text, values, isPrepared }: Sent): Buffer =>
  Buffer.concat(
    isPrepared
      ? [serialize.bind({ statement: name, values }), serialize.execute()]
      : [serialize.parse({ text }), serialize.bind({ values }), serialize.execute()],
  )

/** `hasBegunWithRow`: what it begins with answered a row. */
type Answer = (error: Error | null, rows: Row[], hasBegunWithRow: boolean) => void

class OneMessage extends SubmittedQuery {
  readonly name: string
  readonly text: string
  readonly #sent: Sent
  readonly #beginning: Buffer | null
  readonly #answer: Answer
  #columns: Column[]
  readonly #rows: Row[] = []
  #hasBegun: boolean
  #hasBegunWithRow = false

  constructor(beginning: Sent | null, sent: Sent, answer: Answer) {
    super()
    this.name = sent.name
    this.text = sent.text
    this.#sent = sent
    this.#beginning = beginning && beginningOf(beginning)
    this.#hasBegun = beginning === null
    this.#answer = answer
    this.#columns = columnsOf.get(sent.name) ?? []
  }

  /** It is written in one piece, because several writes cost more than a copy. */
  submit(connection: pg.Connection): void {
    const wire = connection as Wire // it is one, whatever its declaration leaves out
    const { name, text, values, isPrepared } = this.#sent
    // A value that cannot be sent fails here, before anything is.
    const bind = serialize.bind({ statement: isPrepared ? name : '', values, valueMapper: utils.prepareValue })
    const parts = this.#beginning ? [this.#beginning] : []
    if (!isPrepared) parts.push(serialize.parse({ text }))
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
    if (!this.#hasBegun) {
      this.#hasBegunWithRow = true
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
    this.#answer(null, this.#rows, this.#hasBegunWithRow)
  }

  handleError(error: Error): void {
    this.#answer(error, [], false)
  }
}

/**
 * Sends a statement, and what its transaction begins with, in one message. What is sent before one Sync is one transaction to PostgreSQL, so it
 * takes neither a `begin` nor a `commit`, and nobody's statement can fall between. It has its answer when that transaction is committed.
 */
export const sendInOneMessage = (
  client: pg.ClientBase,
  beginning: Sent | null,
  sent: Sent,
): Promise<{ rows: Row[]; hasBegunWithRow: boolean }> =>
  new Promise((resolve, reject) => {
    const message = new OneMessage(beginning, sent, (error, rows, hasBegunWithRow) => {
      if (error) reject(error)
      else resolve({ rows, hasBegunWithRow })
    })
    client.query(message)
  })
