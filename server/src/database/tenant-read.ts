import pg from 'pg'
import utils from 'pg/lib/utils.js'
import { gather, prepared, type Row, type Statement } from './connection.ts'

/** Sets the tenant until the transaction ends, in which nothing can be written, and answers no row. */
const beginRead = {
  name: 'masthead-read',
  text: `select where set_config('masthead.tenant', $1, true) is null or set_config('transaction_read_only', 'on', true) is null`,
}

/** Once for each connection, before the first read. */
export const prepareReads = (client: pg.ClientBase): Promise<unknown> => client.query({ ...beginRead, values: [''] })

/** JSON that is sent as it is. */
const asBytes = new Set(['body', 'items'])

type Column = { name: string; parse: (value: Buffer) => unknown }
/** By the names of statements. The columns of a prepared statement stay what they are. */
const columnsOf = new Map<string, Column[]>()

/** What `pg` has and does not declare. */
type Wire = pg.Connection & {
  submittedNamedStatements: Record<string, string>
  parse: (statement: { name: string; text: string }) => void
  bind: (bound: { statement: string; values: unknown[]; valueMapper?: (value: unknown) => unknown }) => void
  describe: (what: { type: 'P'; name: string }) => void
  execute: (executed: object) => void
  sync: () => void
}
type Named = { name: string; text: string; values: unknown[] }
const Query = pg.Query as unknown as new (
  config: Named,
) => pg.Submittable &
  Named & {
    hasBeenParsed(wire: Wire): boolean
  }

/**
 * A statement in a transaction of its own that begins by setting the tenant. What is sent before one Sync is one
 * transaction to PostgreSQL, so it takes neither a `begin` nor a `commit`, and nobody's statement can fall between. Its
 * connection reads rows as bytes and is prepared for reads.
 */
class TenantRead extends Query {
  readonly #tenantId: string
  readonly #answer: (error: Error | null, rows: Row[]) => void
  #columns: Column[]
  readonly #rows: Row[] = []

  constructor(tenantId: string, statement: Named, answer: (error: Error | null, rows: Row[]) => void) {
    super(statement)
    this.#tenantId = tenantId
    this.#answer = answer
    this.#columns = columnsOf.get(statement.name) ?? []
  }

  prepare(wire: Wire): void {
    wire.bind({ statement: beginRead.name, values: [this.#tenantId] })
    wire.execute({})
    if (!this.hasBeenParsed(wire)) {
      wire.parse(this)
      wire.submittedNamedStatements[this.name] = this.text
    }
    try {
      wire.bind({ statement: this.name, values: this.values, valueMapper: utils.prepareValue })
      if (this.#columns.length === 0) wire.describe({ type: 'P', name: '' })
      wire.execute({})
    } catch (error) {
      this.handleError(error instanceof Error ? error : new Error(String(error)))
    }
    wire.sync()
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => {
      const parse: (text: string) => unknown = pg.types.getTypeParser(dataTypeID, 'text')
      // The bytes are good only until the next message comes.
      return { name, parse: asBytes.has(name) ? Buffer.from : (value) => parse(value.toString()) }
    })
    columnsOf.set(this.name, this.#columns)
  }

  handleDataRow({ fields }: { fields: (Buffer | null)[] }): void {
    const row: Row = {}
    for (const [index, { name, parse }] of this.#columns.entries()) {
      const value = fields[index]
      row[name] = value ? parse(value) : null
    }
    this.#rows.push(row)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#answer(null, this.#rows)
  }

  handleError(error: Error): void {
    this.#answer(error, [])
  }
}

export const readAsTenant = <R>(client: pg.ClientBase, tenantId: string, statement: Statement): Promise<R[]> =>
  new Promise((resolve, reject) => {
    gather(client)
    client.query(
      new TenantRead(tenantId, prepared(statement), (error, rows) => {
        if (error) reject(error)
        // The caller names the row type of the statement it wrote.
        else resolve(rows as R[])
      }),
    )
  })
