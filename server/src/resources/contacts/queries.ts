import { isAudited } from '../../audit/queries.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { requireReference } from '../../records/identifiers.ts'
import type { StoredRecord } from '../../records/stored-record.ts'
import { type Writer, write } from '../../records/writes/write.ts'

export const insertContact = (
  tenant: TenantDatabase,
  { author, actingUser: userId }: Writer,
  contact: StoredRecord & { accountId: string },
): Promise<string> =>
  write(tenant, 'contacts', {
    locks: [],
    decide: async (query) => {
      const accountId = await requireReference(query, 'accounts', contact.accountId, 'accountId')
      const created = { before: null, after: { ...contact, accountId }, author, delivery: { userId } }
      return { changes: { contacts: [created] }, result: (bodies) => bodies.get(contact.id) ?? '' }
    },
  })

/** Also a contact that an undo has removed since is known, as long as something of it can be read. */
export const isKnownContact = (tenant: TenantDatabase, id: string): Promise<boolean> =>
  tenant.transaction(async (query) => {
    const rows = await query({ text: 'select 1 from contacts where tenant_id = $1 and id = $2', values: [id] })
    return rows.length > 0 || isAudited(query, 'contacts', id)
  })
