import type { KeyForm } from '@masthead/contract'
import type { Query } from '../database/connections/statement.ts'
import { beforeFirstId } from './identifiers.ts'
import { keyOf } from './normalising.ts'

/** The texts that got a key by migration 0020, as they were then. */
const keyed: Readonly<Record<string, readonly { column: string; form: KeyForm }[]>> = {
  publications: [{ column: 'name', form: 'name' }],
  accounts: [
    { column: 'company', form: 'name' },
    { column: 'city', form: 'name' },
  ],
  contacts: [
    { column: 'name', form: 'name' },
    { column: 'first_name', form: 'name' },
    { column: 'last_name', form: 'name' },
    { column: 'email', form: 'lowerCase' },
  ],
}

const batchRows = 2_000

/** Gives the records of before what filters and sorting compare: the program normalises names, not the database. */
export const fillKeys = async (query: Query): Promise<void> => {
  for (const { id: tenantId } of await query<{ id: string }>({ text: 'select id from tenants' })) {
    await query({ text: 'select set_tenant($1)', values: [tenantId] })
    for (const table of Object.keys(keyed))
      for (let after: string | null = beforeFirstId; after !== null; )
        after = await fillBatch(query, tenantId, table, after)
  }
}

/** Returns the last id that it came to, or null where none was left. */
const fillBatch = async (query: Query, tenantId: string, table: string, after: string): Promise<string | null> => {
  const fields = keyed[table] ?? []
  const columns = fields.map(({ column }) => column)
  const rows = await query<Record<string, string | null> & { id: string }>({
    text: `select id, ${columns.join(', ')} from ${table} where tenant_id = $1 and id > $2 order by id limit ${batchRows}`,
    values: [tenantId, after],
  })
  const last = rows.at(-1)
  if (!last) return null
  const keys = fields.map(({ column, form }) =>
    rows.map((row) => (typeof row[column] === 'string' ? keyOf[form](row[column]) : null)),
  )
  await query({
    text: `update ${table} set ${columns.map((column) => `${column}_key = given.${column}`).join(', ')}
      from unnest($2::uuid[], ${columns.map((_, index) => `$${index + 3}::text[]`).join(', ')}) as given (id, ${columns.join(', ')})
      where ${table}.tenant_id = $1 and ${table}.id = given.id`,
    values: [tenantId, rows.map(({ id }) => id), ...keys],
  })
  return last.id
}
