import type { Author } from '../audit/author.ts'
import { auditIn } from '../audit/queries.ts'
import type { Query } from '../database/connections/statement.ts'

type Change = { action: string; resource: string; recordId: string; before?: object | null; after?: object | null }

const jsonOf = (values: object | null | undefined): string | null => (values ? JSON.stringify(values) : null)

export const auditChange = (query: Query, tenantId: string, author: Author, change: Change): Promise<void> =>
  auditIn(query, tenantId, author, [{ ...change, before: jsonOf(change.before), after: jsonOf(change.after) }])

/** For a change of permissions: every process looks principals up again at their next request. */
export const publishChange = async (query: Query, tenantId: string, author: Author, change: Change): Promise<void> => {
  await auditChange(query, tenantId, author, change)
  await stampIdentity(query)
}

export const stampIdentity = async (query: Query): Promise<void> => {
  await query({ text: 'select stamp_identity()' })
}
