import pg from 'pg'
import { prepared, type Statement } from './connection.ts'

/** Sets the tenant until the transaction ends, in which nothing can be written, and answers no row. */
const beginRead = {
  name: 'masthead-read',
  text: `select where set_config('masthead.tenant', $1, true) is null or set_config('transaction_read_only', 'on', true) is null`,
}

export const prepareReads = (client: pg.ClientBase): Promise<unknown> => client.query({ ...beginRead, values: [''] })

/** What `pg` has and does not declare. */
type Wire = pg.Connection & {
  bind: (bound: { portal: string; statement: string; values: unknown[] }) => void
  execute: (executed: { portal: string }) => void
}
const Query = pg.Query as unknown as new (
  config: pg.QueryConfig,
  values: undefined,
  callback: (error: Error | null, result: pg.QueryResult[]) => void,
) => pg.Submittable & { prepare(wire: Wire): void }

/**
 * A statement in a transaction of its own that begins by setting the tenant. What is sent before one Sync is one
 * transaction to PostgreSQL, so it takes neither a `begin` nor a `commit`, and nobody's statement can fall between. The
 * connection must be prepared for it.
 */
class TenantRead extends Query {
  readonly #tenantId: string

  constructor(tenantId: string, statement: pg.QueryConfig, callback: ConstructorParameters<typeof Query>[2]) {
    super(statement, undefined, callback)
    this.#tenantId = tenantId
  }

  override prepare(wire: Wire): void {
    wire.bind({ portal: '', statement: beginRead.name, values: [this.#tenantId] })
    wire.execute({ portal: '' })
    super.prepare(wire)
  }
}

export const readAsTenant = <R>(client: pg.ClientBase, tenantId: string, statement: Statement): Promise<R[]> =>
  new Promise((resolve, reject) => {
    client.query(
      new TenantRead(tenantId, prepared(statement), (error, results) => {
        if (error) reject(error)
        // The caller names the row type of the statement it wrote.
        else resolve((results.at(-1)?.rows ?? []) as R[])
      }),
    )
  })
