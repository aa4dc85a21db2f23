import type { TenantDatabase } from '../../database/database.ts'
import type { Answer } from '../../operation-call.ts'
import { getRecord, requireReference } from '../../records/identifiers.ts'
import { type Fields, insertRecords, lockHead, updateRecord } from '../../records/write.ts'
import type { Contact } from './rules.ts'

export const insertContact = (tenant: TenantDatabase, contact: Fields & { accountId: string }): Promise<string> =>
  tenant.transaction(async (query) => {
    const accountId = await requireReference(query, 'accounts', contact.accountId, 'accountId')
    const [body = ''] = await insertRecords(query, 'contacts', [{ ...contact, accountId }])
    return body
  })

/** Decides on the contact as it is while nobody else can change it; writes only what differs. */
export const updateContact = (
  tenant: TenantDatabase,
  contactId: string,
  account: string | null,
  decide: (contact: { body: string; record: Contact }, accountId: string) => Fields,
): Promise<Answer> =>
  tenant.transaction(async (query) => {
    const [, { body }, accountId] = await Promise.all([
      lockHead(query, 'contacts'),
      getRecord(query, 'contacts', contactId),
      account === null ? null : requireReference(query, 'accounts', account, 'accountId'),
    ])
    const record: Contact = JSON.parse(body)
    const changes = differing(record, decide({ body, record }, accountId ?? record.accountId))
    if (Object.keys(changes).length === 0) return { body }
    const updatedAt = new Date().toISOString()
    return { body: await updateRecord(query, 'contacts', record, { ...changes, updatedAt }) }
  })

const differing = (record: Contact, decided: Fields): Fields =>
  Object.fromEntries(Object.entries(decided).filter(([field, value]) => record[field as keyof Contact] !== value)) // `decided` holds fields of a contact
