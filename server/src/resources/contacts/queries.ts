import type { TenantDatabase } from '../../database/database.ts'
import { type Answer, found } from '../../operation-call.ts'
import { invalidProperty } from '../../problem.ts'
import { findBody, findReference } from '../../records/identifiers.ts'
import { type Fields, insertRecords, lockHead, updateRecord } from '../../records/write.ts'
import type { Contact } from './rules.ts'

export const insertContact = (tenant: TenantDatabase, contact: Fields & { accountId: string }): Promise<string> =>
  tenant.transaction(async (query) => {
    const accountId = knownAccount(await findReference(query, 'accounts', contact.accountId), contact.accountId)
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
    const [, stored, accountId] = await Promise.all([
      lockHead(query, 'contacts'),
      findBody(query, 'contacts', contactId),
      account === null ? null : findReference(query, 'accounts', account),
    ])
    const { body } = found(stored, 'contact', contactId)
    const record: Contact = JSON.parse(body)
    const target = account === null ? record.accountId : knownAccount(accountId, account)
    const changes = differing(record, decide({ body, record }, target))
    if (Object.keys(changes).length === 0) return { body }
    const updatedAt = new Date().toISOString()
    return { body: await updateRecord(query, 'contacts', record.id, record, { ...changes, updatedAt }) }
  })

const differing = (record: Contact, decided: Fields): Fields =>
  Object.fromEntries(Object.entries(decided).filter(([field, value]) => record[field as keyof Contact] !== value)) // `decided` holds fields of a contact

const knownAccount = (accountId: string | null, given: string): string => {
  if (accountId !== null) return accountId
  throw invalidProperty('accountId', 'not_found', `There is no account "${given.slice(0, 100)}" in this tenant.`)
}
