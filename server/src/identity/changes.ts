import type { Author } from '../audit/author.ts'
import { auditIn, type Happening } from '../audit/queries.ts'
import type { Query } from '../database/connection.ts'

/** Notes a change of who may do what, and has every process forget whom it remembers within a second. */
export const noteChange = async (
  query: Query,
  tenantId: string,
  author: Author,
  happening: Happening,
): Promise<void> => {
  await auditIn(query, tenantId, author, [happening])
  await query({ text: 'select stamp_identity()' })
}
