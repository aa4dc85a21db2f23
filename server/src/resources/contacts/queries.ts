import { isAudited } from '../../audit/queries.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { HandlerResult } from '../../operation-call.ts'
import { getRecord, requireReference } from '../../records/identifiers.ts'
import type { Fields, StoredRecord } from '../../records/stored-record.ts'
import { type Writer, write } from '../../records/write.ts'
import type { Contact } from './rules.ts'

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

/** Decides on the contact as it is while nobody else can change it; writes only what differs. */
export const updateContact = (
  tenant: TenantDatabase,
  { author, actingUser: userId }: Writer,
  named: { contactId: string; accountId?: string },
  decide: (contact: { body: string; record: Contact }, accountId: string) => Fields,
): Promise<HandlerResult> =>
  write(tenant, 'contacts', {
    locks: ['contacts'],
    decide: async (query) => {
      const [{ body, record: before }, canonical] = await Promise.all([
        getRecord(query, 'contacts', named.contactId),
        named.accountId === undefined ? null : requireReference(query, 'accounts', named.accountId, 'accountId'),
      ])
      const record = before as StoredRecord & Contact // all that a response shows of a contact is stored
      const changes = differing(record, decide({ body, record }, canonical ?? record.accountId))
      if (Object.keys(changes).length === 0) return { changes: {}, result: () => ({ body }) }
      const after = { ...record, ...changes, updatedAt: new Date().toISOString() }
      const updated = { before, after, author, delivery: { userId } }
      return { changes: { contacts: [updated] }, result: (bodies) => ({ body: bodies.get(record.id) ?? '' }) }
    },
  })

/** Also a contact that an undo has removed since is known, as long as something of it can be read. */
export const isKnownContact = (tenant: TenantDatabase, id: string): Promise<boolean> =>
  tenant.transaction(async (query) => {
    const rows = await query({ text: 'select 1 from contacts where tenant_id = $1 and id = $2', values: [id] })
    return rows.length > 0 || isAudited(query, 'contacts', id)
  })

const differing = (record: Fields, decided: Fields): Fields =>
  Object.fromEntries(Object.entries(decided).filter(([field, value]) => record[field] !== value))
